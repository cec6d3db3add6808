"""What is removed of a log of which not even the first micro-batch was written."""

from __future__ import annotations

from pathlib import Path

from tidemark.checkpoints.spark_log import clear_torn_start
from tidemark.storage import Location


def _log(job: Path, *names: str) -> Path:
    offsets = job / "spark" / "offsets"
    offsets.mkdir(parents=True)
    for name in names:
        (offsets / name).write_text("v1\n{}\n")
    return offsets


def test_a_torn_first_entry_is_removed(tmp_path):
    offsets = _log(tmp_path, ".0.3f1c.tmp", ".0.crc")
    clear_torn_start(Location.of(tmp_path))
    assert list(offsets.iterdir()) == []


def test_a_log_with_entries_stays_as_it_is(tmp_path):
    offsets = _log(tmp_path, "0", ".0.crc", ".1.3f1c.tmp")
    clear_torn_start(Location.of(tmp_path))
    assert {file.name for file in offsets.iterdir()} == {"0", ".0.crc", ".1.3f1c.tmp"}


def test_a_job_may_not_have_come_to_its_log(tmp_path):
    clear_torn_start(Location.of(tmp_path))
    assert list(tmp_path.iterdir()) == []
