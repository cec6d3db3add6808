"""A checkpoint folder as Spark and Tidemark leave it, written by hand."""

from __future__ import annotations

import json
from pathlib import Path

from tidemark.checkpoints import state_sizes
from tidemark.checkpoints.contract import write
from tidemark.checkpoints.state_sizes import Group, StateSizes
from tidemark.storage import Location

from .contracts import contract

QUERY = "SELECT a.v, b.v AS other FROM a JOIN b ON a.k = b.k"


def checkpoint(folder: Path, committed: int = 3, planned: int | None = None) -> Path:
    """A job that has worked through micro-batches 0 to `committed` and begun `planned`."""
    job = folder / "job"
    write(Location.of(job), contract(QUERY))
    spark = job / "spark"
    for batch in range((committed if planned is None else planned) + 1):
        said = {"batchWatermarkMs": 1000 * batch, "conf": {"spark.sql.shuffle.partitions": "4"}}
        _file(spark / "offsets" / str(batch), f"v1\n{json.dumps(said)}\n{{}}\n{{}}")
    for batch in range(committed + 1):
        ended = {"nextBatchWatermarkMs": 1000 * batch + 500}
        _file(spark / "commits" / str(batch), f"v1\n{json.dumps(ended)}")
    for version in range(1, committed + 3):
        _file(spark / "state" / "0" / "0" / f"{version}.changelog", f"state {version}")
    _file(spark / "metadata", '{"id": "x"}')
    _file(spark / "sources" / "0" / "0", f"v1\n{job}/constants-0/part-0 and /data/a.json")
    _file(spark / "sources" / "0" / ".0.crc", "a sum")
    _file(spark / "sources" / "1" / "0", "v1\n/data/b.json")
    _file(spark / "sources" / "1" / ".0.crc", "a sum")
    _file(job / "constants-0" / "part-0", "a row")
    groups = {"6": Group(10, 1000, 2), "12": Group(20, 2000, 0)}
    state_sizes.write(Location.of(job), StateSizes(2, {"regular-join-1": groups}))
    return folder


def _file(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
