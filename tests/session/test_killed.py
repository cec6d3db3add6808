"""A job that is killed and restarted writes the same rows as one that runs undisturbed."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import tidemark
from tests import java
from tidemark.spark.jobs import Job

from .live_orders import LiveOrders
from .processes import Process, run_command

pytestmark = pytest.mark.slow


def start_command(orders: LiveOrders, cores: int) -> Process:
    settings = {"spark.master": f"local[{cores}]", "spark.sql.shuffle.partitions": str(cores)}
    settings |= java.on_driver()
    return run_command(orders, settings)


@pytest.fixture
def orders(tmp_path: Path) -> LiveOrders:
    return LiveOrders(tmp_path / "job")


@pytest.fixture
def partitioned(tmp_path: Path) -> LiveOrders:
    """A batch leaves several files."""
    return LiveOrders(tmp_path / "job", partitioned=True)


def test_a_process_killed_inside_a_batch_neither_loses_nor_repeats_rows(partitioned):
    """One that is killed between batches: `test_cluster.py`."""
    for _ in range(ATTEMPTS):
        command = start_command(partitioned, cores=2)
        try:
            partitioned.deliver()
            partitioned.wait_until_out(command.alive)
            _wait_until_idle(partitioned)
            partitioned.deliver()
            partitioned.wait_for_staged_files(command.alive)
        finally:
            command.kill()
        if _was_inside_a_batch(partitioned):
            break
    else:
        pytest.fail(f"none of {ATTEMPTS} kills came inside a batch")

    command = start_command(partitioned, cores=3)
    try:
        partitioned.deliver()
        partitioned.wait_until_out(command.alive)
    finally:
        command.kill()
    assert partitioned.written() == partitioned.expected()


# A kill may come too late on a busy machine: the batch has ended.
ATTEMPTS = 5


def _was_inside_a_batch(orders: LiveOrders) -> bool:
    begun, ended = orders.commits()
    return begun != ended


def _wait_until_idle(orders: LiveOrders) -> None:
    """Until no batch has begun for a while that has not ended."""
    quiet_since, before = time.monotonic(), None
    while time.monotonic() - quiet_since < 1:
        now = orders.commits()
        if now != before or now[0] != now[1]:
            quiet_since, before = time.monotonic(), now
        time.sleep(0.02)


@pytest.mark.thorough
def test_a_command_whose_java_was_killed_says_so(orders):
    command = start_command(orders, 2)
    try:
        orders.deliver()
        orders.wait_until_out(command.alive)
        command.kill_java()
        assert command.end() == 1
    finally:
        command.kill()

    *_, what, why, hint = orders.log.read_text().splitlines()
    assert what == "Spark's Java process has ended"
    assert why.startswith("  why: it was killed by SIGKILL")
    assert hint.startswith("  hint: ")


# --- on the Spark that all tests share ---------------------------------------------------------


def start(spark, orders: LiveOrders) -> Job:
    session = tidemark.connect(spark, checkpoint=orders.checkpoint)
    job = session.sql(orders.script.read_text()).job
    assert job is not None
    return job


def test_a_run_that_is_not_killed_gives_each_order_the_rate_of_its_time(spark, orders):
    job = start(spark, orders)
    for _ in range(3):
        orders.deliver()
        orders.wait_until_out(lambda: job.state == "running")
    job.stop()

    assert orders.written() == orders.expected()


def test_a_job_that_was_killed_while_its_first_offsets_were_written_starts_again(spark, orders):
    start(spark, orders).stop()
    [query] = orders.checkpoint.glob("*/spark")
    torn = query / "offsets" / ".0.6a0e2c9f.tmp"
    torn.write_text("v")

    job = start(spark, orders)
    orders.deliver()
    orders.wait_until_out(lambda: job.state == "running")
    job.stop()

    assert orders.written() == orders.expected()
    assert not torn.exists()


def test_a_batch_that_was_written_and_not_committed_is_not_there_twice(spark, partitioned):
    """What the disk holds after a kill between the rows' arrival and the batch's last note."""
    job = start(spark, partitioned)
    for _ in range(2):
        partitioned.deliver()
        partitioned.wait_until_out(lambda: job.state == "running")
    _wait_until_idle(partitioned)
    job.stop()
    _back_to_rows_without_commit(partitioned)

    job = start(spark, partitioned)
    partitioned.deliver()
    partitioned.wait_until_out(lambda: job.state == "running")
    job.stop()

    assert partitioned.written() == partitioned.expected()


def _back_to_rows_without_commit(orders: LiveOrders) -> None:
    """Take back what Spark noted after the last rows were in place."""
    [query] = orders.checkpoint.glob("*/spark")
    last = max(int(file.name.split("-")[2]) for file in orders.sink.rglob("part-*"))
    for log, first in (("commits", last), ("offsets", last + 1)):
        for note in (query / log).glob("[0-9]*"):
            if int(note.name) >= first:
                note.unlink()
                (note.parent / f".{note.name}.crc").unlink()
    begun, ended = orders.commits()
    assert (begun[-1], ended[-1]) == (last, last - 1)
