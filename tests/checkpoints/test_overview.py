"""What is read of a checkpoint without starting Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidemark.checkpoints.overview import overview
from tidemark.checkpoints.spark_log import SparkLog, read_log
from tidemark.checkpoints.state_sizes import NAME, Group, StateSizes, read, write
from tidemark.errors import JobError
from tidemark.storage import Location

from .folders import checkpoint


def test_a_job_shows_its_operators_and_how_far_it_has_come(tmp_path: Path) -> None:
    [job] = overview(Location.of(checkpoint(tmp_path)))

    assert (job.name, job.key_groups, job.shuffle_partitions) == ("job", 32, 4)
    assert (job.last_batch, job.unfinished, job.watermark) == (3, False, "1970-01-01T00:00:03.500Z")
    [join] = job.operators
    assert (join.id, join.state_rows, join.state_bytes, join.waiting) == (
        "regular-join-1", 30, 3000, 2,
    )  # fmt: skip
    assert job.counted_after == 2
    assert len(job.sources) == 2


def test_a_micro_batch_that_was_begun_and_not_ended_is_seen(tmp_path: Path) -> None:
    [job] = overview(Location.of(checkpoint(tmp_path, committed=3, planned=4)))

    assert (job.last_batch, job.unfinished) == (3, True)


def test_a_job_that_has_not_come_to_its_first_micro_batch_has_no_log(tmp_path: Path) -> None:
    assert read_log(Location.of(tmp_path)) == SparkLog(None, None, None, None)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"operators": {"x": {"1": 5}}}'])
def test_sizes_that_cannot_be_read_are_none(tmp_path: Path, content: str) -> None:
    (tmp_path / NAME).write_text(content)

    assert read(Location.of(tmp_path)) == StateSizes()


def test_sizes_keep_the_last_report_of_each_group(tmp_path: Path) -> None:
    sizes = StateSizes()
    sizes.add(1, {"x-1": {"6": Group(1, 10), "12": Group(2, 20)}})
    sizes.add(2, {"x-1": {"6": Group(5, 50)}})
    write(Location.of(tmp_path), sizes)

    found = read(Location.of(tmp_path))

    assert (found.batch, found.total("x-1"), found.total("y-1")) == (2, Group(7, 70), None)


def test_a_folder_without_jobs_is_not_a_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()

    with pytest.raises(JobError, match="is not a checkpoint folder"):
        overview(Location.of(tmp_path))
    with pytest.raises(JobError, match="checkpoint folder not found"):
        overview(Location.of(tmp_path / "nowhere"))
