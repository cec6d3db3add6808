"""Copies of checkpoints: consistent, and complete in themselves."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tidemark.checkpoints import copying
from tidemark.checkpoints.copying import copy_checkpoint
from tidemark.checkpoints.overview import overview
from tidemark.checkpoints.retention import KEPT_BATCHES
from tidemark.errors import JobError
from tidemark.storage import Location

from .folders import checkpoint


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_a_copy_ends_with_the_last_micro_batch_that_has_ended(tmp_path: Path) -> None:
    copy_checkpoint(
        Location.of(checkpoint(tmp_path / "running", committed=3, planned=4)),
        Location.of(tmp_path / "copy"),
    )

    spark = tmp_path / "copy" / "job" / "spark"
    assert names(spark / "offsets") == names(spark / "commits") == ["0", "1", "2", "3"]
    # State is numbered from 1 on: what micro-batch 4 has written is left out.
    state = names(spark / "state" / "0" / "0")
    assert state == [f"{version}.changelog" for version in (1, 2, 3, 4)]


def test_a_copy_needs_nothing_of_the_original(tmp_path: Path) -> None:
    original = checkpoint(tmp_path / "original")
    [before] = overview(Location.of(original))
    copy_checkpoint(Location.of(original), Location.of(tmp_path / "copy"))
    shutil.rmtree(original)

    assert overview(Location.of(tmp_path / "copy")) == (before,)
    log = tmp_path / "copy" / "job" / "spark" / "sources" / "0" / "0"
    assert log.read_text() == f"v1\n{tmp_path}/copy/job/constants-0/part-0 and /data/a.json"
    assert (tmp_path / "copy" / "job" / "constants-0" / "part-0").exists()


def test_only_a_log_that_was_changed_loses_its_checksum(tmp_path: Path) -> None:
    copy_checkpoint(Location.of(checkpoint(tmp_path / "original")), Location.of(tmp_path / "copy"))

    sources = tmp_path / "copy" / "job" / "spark" / "sources"
    assert (names(sources / "0"), names(sources / "1")) == (["0"], [".0.crc", "0"])


def test_files_that_spark_is_still_writing_are_left_out(tmp_path: Path) -> None:
    original = checkpoint(tmp_path / "original")
    state = original / "job" / "spark" / "state" / "0" / "0"
    (state / ".4.changelog.0b5e.TID7.tmp").write_text("half")

    copy_checkpoint(Location.of(original), Location.of(tmp_path / "copy"))

    assert len(names(tmp_path / "copy" / "job" / "spark" / "state" / "0" / "0")) == 4


def test_existing_files_are_not_overwritten_by_a_copy(tmp_path: Path) -> None:
    original = checkpoint(tmp_path / "original")
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_text("mine")

    with pytest.raises(JobError, match="is not empty"):
        copy_checkpoint(Location.of(original), Location.of(tmp_path / "there"))
    assert names(tmp_path / "there") == ["file"]


def test_a_job_that_may_have_removed_its_state_in_the_meantime_is_not_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = checkpoint(tmp_path / "original", committed=3)

    def copied(folder: Location, target: Location, committed: int) -> None:
        for batch in range(committed + 1, committed + 1 + KEPT_BATCHES):
            (original / "job" / "spark" / "commits" / str(batch)).write_text("v1\n{}")

    monkeypatch.setattr(copying, "_copy_spark", copied)

    with pytest.raises(JobError, match="100 micro-batches ended meanwhile"):
        copy_checkpoint(Location.of(original), Location.of(tmp_path / "copy"))
    assert not (tmp_path / "copy" / "job").exists()
