"""Jobs that are stopped with a savepoint, copied, changed, and started again."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

import tidemark
from tidemark.checkpoints import contract as contracts
from tidemark.errors import JobError
from tidemark.storage import Location

from .moving import TABLES, MovingJob

RATES = [(k, 200 + k, 1) for k in range(5)]
ORDERS = [(k, 100 + k, 2) for k in range(5)]
PUSH = [(-1, 0, 3000)]
JOINED = Counter({(100 + k, 200 + k): 1 for k in range(5)})
QUERY = (
    "SELECT a.v, b.v AS rate FROM a LEFT JOIN b FOR SYSTEM_TIME AS OF a.ts ON a.k = b.k"
    " WHERE a.k >= 0"
)


@pytest.fixture
def job(spark, tmp_path) -> MovingJob:
    return MovingJob(spark, tmp_path, QUERY)


def test_a_job_that_moves_keeps_its_key_groups_and_says_how_much_it_keeps(job):
    job.options = {"pipeline.max-parallelism": "12"}
    job.step(partitions=2, b=RATES)
    job.options = {"pipeline.max-parallelism": "7"}
    job.step(partitions=4, a=ORDERS, b=[(9, 209, 1)])

    [shown] = tidemark.Checkpoint(job.checkpoint).jobs

    assert (shown.name, shown.key_groups, shown.shuffle_partitions) == ("job", 12, 2)
    assert shown.watermark == "2024-01-01T00:00:01.000Z"
    assert not shown.unfinished
    [join] = shown.operators
    assert join.id == "temporal-join-1"
    # The orders that wait, and a version of each key.
    assert join.waiting == 5
    assert join.state_rows is not None and join.state_rows >= 5 + 6


@pytest.mark.thorough
def test_a_copy_goes_on_by_itself_from_where_it_was_made(job, tmp_path):
    job.step(b=RATES)
    copy = tidemark.Checkpoint(job.checkpoint).copy(tmp_path / "copy")
    job.step(a=[(0, 1, 2)])

    job.checkpoint = copy.folder
    # The file that came after the copy was made is new to it, too.
    out = job.step(a=[order for order in ORDERS if order[0]])
    assert out == Counter()
    assert job.step(a=PUSH, b=PUSH) == JOINED - Counter({(100, 200): 1}) + Counter({(1, 200): 1})


def test_a_changed_script_goes_on_where_its_state_fits(job):
    job.step(b=RATES)
    job.step(a=ORDERS)
    job.query = (
        QUERY.replace("a.v, b.v AS rate", "a.v + 1 AS v, b.v * 2 AS twice") + " AND a.v > 101"
    )
    job.tables = TABLES.replace("FOR ts AS ts)", "FOR ts AS ts - INTERVAL '1' MINUTE)")

    out = job.step(a=PUSH, b=PUSH)

    assert out == Counter({(101 + k, 400 + 2 * k): 1 for k in (2, 3, 4)})


def test_a_script_that_needs_what_was_not_kept_is_refused_before_anything_is_read(job):
    job.step(b=RATES)
    before = contracts.read(Location.of(job.checkpoint / "job"))
    job.query = QUERY.replace("a.v,", "a.v, a.ts,")

    with pytest.raises(JobError, match="temporal-join-1 needs `ts` of its left rows"):
        job.step()

    assert contracts.read(Location.of(job.checkpoint / "job")) == before


def test_a_checkpoint_from_before_contracts_is_refused(job):
    job.step(b=RATES)
    (job.checkpoint / "job" / contracts.NAME).unlink()

    with pytest.raises(JobError, match="the number of key groups"):
        job.step()


def test_a_job_stopped_with_a_savepoint_starts_from_it_elsewhere(spark, tmp_path):
    job = MovingJob(spark, tmp_path, QUERY)
    run = job.start(b=RATES)
    run.query.processAllAvailable()
    run.stop_with_savepoint(tmp_path / "savepoint")
    assert run.state == "stopped"

    job.checkpoint = tmp_path / "elsewhere"
    job.options = {"execution.savepoint.path": str(tmp_path / "savepoint")}
    job.step(a=ORDERS)
    # It now has a checkpoint of its own, from which it resumes, not from the savepoint again.
    assert job.step(a=PUSH, b=PUSH) == JOINED
    [shown] = tidemark.Checkpoint(tmp_path / "savepoint").jobs
    assert shown.operators[0].state_rows is not None


def test_a_savepoint_without_the_job_is_refused(job, tmp_path):
    job.step(b=RATES)
    folder = job.checkpoint / "job"
    contract = contracts.read(Location.of(folder))
    assert contract is not None
    contracts.write(Location.of(folder), replace(contract, job="another"))
    folder.rename(job.checkpoint / "another")
    job.options = {"execution.state-recovery.path": str(job.checkpoint)}
    job.checkpoint = tmp_path / "elsewhere"

    with pytest.raises(JobError, match=r"has no job job\n  jobs: another"):
        job.step()


@pytest.mark.thorough
def test_a_job_whose_operators_are_all_gone_goes_on_if_it_may(job):
    job.step(b=RATES, a=ORDERS)
    job.query = "SELECT k, v FROM a UNION ALL SELECT k, v FROM b"
    with pytest.raises(JobError, match="has state for operator temporal-join-1"):
        job.step()

    job.options = {"execution.state-recovery.ignore-unclaimed-state": "true"}
    out = job.step(a=[(7, 8, 9)])

    assert out == Counter({(7, 8): 1})
    job.options = {}
    assert job.step(b=[(8, 9, 10)]) == Counter({(7, 8): 1, (8, 9): 1})
