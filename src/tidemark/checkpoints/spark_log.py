"""Reads Spark's own logs in a job's folder: one file for each micro-batch that was planned, and
one for each that has ended.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tidemark.checkpoints import files
from tidemark.checkpoints.contract import SPARK
from tidemark.storage import Location

OFFSETS, COMMITS = "offsets", "commits"
_PARTITIONS = "spark.sql.shuffle.partitions"


@dataclass(frozen=True, slots=True)
class SparkLog:
    """The progress of a job. Numbers of micro-batches start at 0; None if there are none."""

    planned: int | None
    committed: int | None
    watermark_ms: int | None
    shuffle_partitions: int | None

    @property
    def unfinished(self) -> bool:
        """Whether the last micro-batch has not ended; it will be run again."""
        return self.planned != self.committed


def read_log(job: Location) -> SparkLog:
    spark = job / SPARK
    planned, committed = last(spark / OFFSETS), last(spark / COMMITS)
    offsets = _metadata(spark / OFFSETS, planned)
    ended = _metadata(spark / COMMITS, committed)
    watermark = max(offsets.get("batchWatermarkMs", 0), ended.get("nextBatchWatermarkMs", 0))
    partitions = offsets.get("conf", {}).get(_PARTITIONS)
    return SparkLog(planned, committed, watermark or None, int(partitions) if partitions else None)


def clear_torn_start(job: Location) -> None:
    """Remove what is left of the log of the first micro-batch, if the job was killed, or its disk
    was full, while Spark wrote it: Spark starts no query in a folder that has such a file.
    """
    offsets = job / SPARK / OFFSETS
    if last(offsets) is None:
        for name in offsets.names():
            (offsets / name).remove()


def batches(log: Location) -> list[int]:
    """The micro-batches for which a log has a file."""
    return sorted(int(name) for name in log.names() if name.isdecimal())


def last(log: Location) -> int | None:
    return max(batches(log), default=None)


def _metadata(log: Location, batch: int | None) -> dict[str, Any]:
    """The metadata of a micro-batch: the second line, after the version of the log."""
    content = None if batch is None else files.read_text(log / str(batch))
    lines = (content or "").splitlines()
    if len(lines) < 2:
        return {}
    found = json.loads(lines[1])
    return found if isinstance(found, dict) else {}
