"""A checkpoint that was copied or moved names its own files, not those of the place it came from."""

from __future__ import annotations

import re
from pathlib import Path

from servers.s3 import Endpoint
from tidemark.checkpoints.relocating import relocate
from tidemark.storage import Location

SCHEMA = "spark/state/0/_stateSchema/default/0_a7af"


def checkpoint_made_in(old: Path, job: Path) -> Path:
    """A job's folder as Spark left it in `old`; what it notes of its state."""
    noted = job / "spark/state/0/_metadata/v2/0"
    noted.parent.mkdir(parents=True)
    noted.write_text(f'v2\n{{"stateSchemaFilePaths":["file:{old}/{SCHEMA}"]}}')
    noted.with_name(".0.crc").write_bytes(b"of what it was")
    seen = job / "spark/sources/0/0"
    seen.parent.mkdir(parents=True)
    seen.write_text(
        f'v1\n{{"path":"file://{old}/constants-0/a.parquet"}}\n{{"path":"file:///in/b"}}'
    )
    return noted


def test_schema_of_state_and_files_of_the_job_are_looked_for_where_they_are(
    tmp_path: Path,
) -> None:
    noted = checkpoint_made_in(Path("/gone/before"), tmp_path / "job")

    relocate(Location.of(tmp_path / "job"))

    assert noted.read_text() == f'v2\n{{"stateSchemaFilePaths":["file:{tmp_path}/job/{SCHEMA}"]}}'
    assert not noted.with_name(".0.crc").exists()
    seen = (tmp_path / "job/spark/sources/0/0").read_text()
    assert f"file://{tmp_path}/job/constants-0/a.parquet" in seen
    assert "file:///in/b" in seen


def test_checkpoint_that_has_not_moved_stays_as_it_is(tmp_path: Path) -> None:
    noted = checkpoint_made_in(tmp_path / "job", tmp_path / "job")
    before = noted.read_bytes()

    relocate(Location.of(tmp_path / "job"))

    assert noted.read_bytes() == before
    assert noted.with_name(".0.crc").exists()


def test_a_place_is_encoded_where_spark_encodes_it(tmp_path: Path) -> None:
    noted = checkpoint_made_in(Path("/gone/before"), tmp_path / "a job" / "job")

    relocate(Location.of(tmp_path / "a job" / "job"))

    assert f'"file:{tmp_path}/a job/job/{SCHEMA}"' in noted.read_text()
    seen = (tmp_path / "a job/job/spark/sources/0/0").read_text()
    assert f"file://{tmp_path}/a%20job/job/constants-0/a.parquet" in seen


def test_a_checkpoint_of_a_bucket_goes_on_here(tmp_path: Path) -> None:
    noted = checkpoint_made_in(Path("/unused"), tmp_path / "job")
    seen = tmp_path / "job/spark/sources/0/0"
    for log in (noted, seen):
        log.write_text(re.sub("file:(//)?/unused", "s3a://bucket/before", log.read_text()))

    relocate(Location.of(tmp_path / "job"))

    assert f'"file://{tmp_path}/job/{SCHEMA}"' in noted.read_text()
    assert f'"file://{tmp_path}/job/constants-0/a.parquet"' in seen.read_text()


def test_a_checkpoint_from_here_goes_on_in_a_bucket(tmp_path: Path, s3: Endpoint) -> None:
    checkpoint_made_in(Path("/gone/before"), tmp_path / "job")
    job = s3.at("s3://bucket/job")
    for log in ("spark/state/0/_metadata/v2/0", "spark/sources/0/0"):
        Location.of(tmp_path / "job" / log).copy(job / log)

    relocate(job)

    noted, seen = (job / log for log in ("spark/state/0/_metadata/v2/0", "spark/sources/0/0"))
    assert f'"s3a://bucket/job/{SCHEMA}"'.encode() in (noted.read() or b"")
    assert b'"s3a://bucket/job/constants-0/a.parquet"' in (seen.read() or b"")
