"""Jobs whose state has segments large enough for files of their own."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import tidemark
from tests import java

pytestmark = pytest.mark.slow

NOTES = 200_000
SCRIPT = """
SET 'execution.runtime-mode' = 'streaming';
SET 'pipeline.max-parallelism' = '4';
CREATE TABLE notes (id BIGINT, note STRING) WITH (
  'connector' = 'filesystem', 'format' = 'parquet', 'path' = '{folder}/notes');
CREATE TABLE asked (id BIGINT) WITH (
  'connector' = 'filesystem', 'format' = 'parquet', 'path' = '{folder}/asked');
CREATE TABLE found (id BIGINT, note STRING) WITH (
  'connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/found');
INSERT INTO found SELECT notes.id, notes.note FROM asked JOIN notes ON asked.id = notes.id;
"""


@pytest.mark.thorough
def test_another_process_finds_them_in_a_copy_of_the_checkpoint(spark, tmp_path):
    chance = random.Random(5)
    notes = pl.DataFrame(
        {"id": range(NOTES), "note": [chance.randbytes(16).hex() for _ in range(NOTES)]}
    )
    write(notes, tmp_path / "notes" / "1.parquet")
    write(pl.DataFrame({"id": [7]}), tmp_path / "asked" / "1.parquet")
    script = SCRIPT.replace("{folder}", str(tmp_path))
    with tidemark.connect(spark, checkpoint=tmp_path / "checkpoint") as session:
        for result in session.run(script):
            if result.job is not None:
                result.job.wait()
    assert found(tmp_path) == {7: notes["note"][7]}
    segments = tmp_path / "checkpoint" / "insert-into-found" / "segments" / "regular-join-1"
    assert len([*segments.rglob("*")]) == 4 + 4  # a folder and a file for each key group

    copied = tidemark.Checkpoint(tmp_path / "checkpoint").copy(tmp_path / "copy")
    for segment in segments.rglob("*"):
        if segment.is_file():
            segment.unlink()
    wanted = chance.sample(range(NOTES), 10)
    write(pl.DataFrame({"id": wanted}), tmp_path / "asked" / "2.parquet")
    run(tmp_path, script, copied.folder)

    assert found(tmp_path) == {id_: notes["note"][id_] for id_ in [7, *wanted]}


def run(folder: Path, script: str, checkpoint: Path) -> None:
    """In a Spark of its own, whose workers have never seen the state."""
    (folder / "script.sql").write_text(script)
    settings = {"spark.master": "local[2]", "spark.sql.shuffle.partitions": "2"}
    settings |= java.on_driver()
    given = [f"--set={key}={value}" for key, value in settings.items()]
    command = [sys.executable, "-m", "tidemark", "run", str(folder / "script.sql")]
    ran = subprocess.run(
        [*command, "--checkpoint", str(checkpoint), *given], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr


def write(rows: pl.DataFrame, path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    rows.write_parquet(path)


def found(folder: Path) -> dict[int, str]:
    files = [f for f in (folder / "found").iterdir() if not f.name.startswith((".", "_"))]
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert len({row["id"] for row in rows}) == len(rows)
    return {row["id"]: row["note"] for row in rows}
