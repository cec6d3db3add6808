"""Files of a job that is started again: repeated batches replace theirs, a new beginning none."""

from __future__ import annotations

from pathlib import Path

from tests.connectors.tables import files
from tidemark.catalog.tables import Changelog
from tidemark.connectors import registry
from tidemark.connectors.base import Target
from tidemark.connectors.filesystem.delivery import Delivery, job_of, note_of
from tidemark.storage import Location

JOB = "checkpoint"


def deliver(path: Path, batch: int, rows: str, *, started: str, job: str | None = None) -> None:
    """As a job does that has started with this seed; `job` is how an earlier version knew it."""
    table = files("v STRING", path)
    target = Target(
        table=table,
        options=registry.options_of(table),
        columns=("v",),
        types=(),
        changelog=Changelog.APPEND,
        overwrite=False,
        zone="UTC",
        job=JOB,
        started=started,
    )
    folder = Location.of(path)
    staging = folder / ".staging"

    def stage() -> list[tuple[Location, str]]:
        (staging / "file").write(rows.encode())
        return [(staging / "file", "")]

    Delivery(target, folder, job or job_of(target), batch).run(staging, stage)


def written(path: Path) -> list[str]:
    return sorted(file.read_text() for file in path.glob("part-*"))


def test_a_job_that_begins_anew_keeps_the_rows_of_its_last_life(tmp_path: Path) -> None:
    deliver(tmp_path, 0, "monday", started="one")
    deliver(tmp_path, 1, "tuesday", started="one")

    # Its checkpoint has been removed.
    deliver(tmp_path, 0, "wednesday", started="two")
    deliver(tmp_path, 1, "thursday", started="two")

    assert written(tmp_path) == ["monday", "thursday", "tuesday", "wednesday"]


def test_a_batch_that_comes_again_replaces_its_rows(tmp_path: Path) -> None:
    deliver(tmp_path, 0, "monday", started="one")
    deliver(tmp_path, 1, "tuesday", started="one")
    deliver(tmp_path, 1, "tuesday and more", started="one")

    assert written(tmp_path) == ["monday", "tuesday and more"]


def test_a_batch_that_an_earlier_version_wrote_is_replaced_too(tmp_path: Path) -> None:
    for batch, rows in enumerate(("monday", "tuesday")):
        deliver(tmp_path, batch, rows, started="one", job=JOB)
    assert note_of(Location.of(tmp_path), JOB).read() is not None

    deliver(tmp_path, 1, "tuesday again", started="one")

    assert written(tmp_path) == ["monday", "tuesday again"]
