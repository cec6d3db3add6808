"""When a job may start again from the beginning."""

from __future__ import annotations

from pathlib import Path

from tidemark.checkpoints.undelivered import Undelivered
from tidemark.storage import Location


def _planned(folder: Path) -> Path:
    """The log of a first micro-batch."""
    offsets = folder / "spark" / "offsets"
    offsets.mkdir(parents=True)
    (offsets / "0").write_text("v1\n{}\n")
    return offsets / "0"


def test_a_job_that_has_delivered_nothing_starts_from_the_beginning(tmp_path):
    job = Undelivered(Location.of(tmp_path))
    assert job.from_the_beginning()
    offsets = _planned(tmp_path)
    (tmp_path / "segments" / "regular-join-1").mkdir(parents=True)

    assert job.from_the_beginning()
    assert not offsets.exists()
    assert not (tmp_path / "segments").exists()


def test_a_job_that_may_have_delivered_rows_goes_on(tmp_path):
    job = Undelivered(Location.of(tmp_path))
    job.from_the_beginning()
    offsets = _planned(tmp_path)
    job.delivered()

    assert not job.from_the_beginning()
    assert offsets.exists()


def test_a_job_whose_first_micro_batch_has_ended_goes_on(tmp_path):
    job = Undelivered(Location.of(tmp_path))
    job.from_the_beginning()
    offsets = _planned(tmp_path)
    commits = tmp_path / "spark" / "commits"
    commits.mkdir()
    (commits / "0").write_text("v1\n{}\n")

    assert not job.from_the_beginning()
    assert offsets.exists()


def test_a_job_of_an_earlier_version_goes_on(tmp_path):
    """It has left no note."""
    offsets = _planned(tmp_path)

    assert not Undelivered(Location.of(tmp_path)).from_the_beginning()
    assert offsets.exists()
