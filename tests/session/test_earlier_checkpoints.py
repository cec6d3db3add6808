"""Checkpoints that earlier versions have made, of Tidemark and of Spark: jobs resume from each."""

from __future__ import annotations

import tarfile
from collections import Counter
from pathlib import Path

import pytest

import tidemark
from tests.waiting import wait_until

from .make_checkpoint import CENTURY, FOR_A_TIME, KEYS, OF_VALUES, QUERY, made_by
from .moving import MovingJob

MADE = ((1, "4.2"), (1, "4.3"))


@pytest.mark.parametrize(("format_", "by"), MADE)
def test_a_job_resumes_from_a_checkpoint_of_each_format_and_spark(spark, tmp_path, format_, by):
    job = MovingJob(spark, tmp_path, QUERY)
    _extract(made_by(format_, by), tmp_path)
    [shown] = tidemark.Checkpoint(job.checkpoint).jobs
    assert [operator.id for operator in shown.operators] == ["temporal-join-1", "group-aggregate-1"]
    assert shown.spark == f"{by}.0"

    # The order that waited is emitted, and the sum of its key continues from the earlier one.
    out = job.step(a=[(-1, 0, 3000)], b=[(-1, 0, 3000)])

    assert +out == Counter({(k, 410 + k): 1 for k in KEYS})


@pytest.mark.parametrize("format_", [1, 3])
def test_values_are_counted_on_from_a_checkpoint_of_each_format(spark, tmp_path, format_):
    job = MovingJob(spark, tmp_path, OF_VALUES)
    _extract(made_by(format_, "4.3", "values-"), tmp_path)

    # The sums were 1, 0, 10, 10 and 20, and are 1, 4, 7, 10 and 5: both extremes are gone.
    out = job.step(a=[(1, 4, 3), (4, -15, 3), (2, -3, 3)])

    assert +out == Counter({(10, 1, 5): 1})


def test_a_job_that_has_started_with_a_clock_goes_on_with_it(spark, tmp_path):
    job = MovingJob(spark, tmp_path, FOR_A_TIME)
    job.options = {**CENTURY}
    _extract(made_by(1, "4.3", "ttl-"), tmp_path)

    run = job.start(a=[(k, k + 1, 2) for k in KEYS])
    wait_until(lambda: len(job.out()) == len(KEYS), job.out)
    run.stop()

    # What is retracted came out at the first start.
    assert job.out() == Counter({(k, 11 + k): 1 for k in KEYS})


def test_a_new_job_that_forgets_idle_keys_is_idle_while_no_rows_arrive(spark, tmp_path):
    job = MovingJob(spark, tmp_path, FOR_A_TIME)
    job.options = {**CENTURY}

    run = job.start(a=[(1, 2, 1)])
    wait_until(lambda: job.out() == Counter({(1, 2): 1}), job.out)
    wait_until(lambda: run.query.lastProgress, lambda: run.query.status)
    sources = [source["description"] for source in run.query.lastProgress["sources"]]
    run.stop()

    # A clock would always have news.
    assert len(sources) == 1
    assert sources[0].startswith("FileStreamSource")
    # The next start knows the group.
    assert job.step(a=[(1, 3, 2)]) == Counter({(1, 5): 1})


def _extract(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as opened:
        opened.extraction_filter = getattr(tarfile, "data_filter", None)  # newer Pythons warn
        opened.extractall(folder)
