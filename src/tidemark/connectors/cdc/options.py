"""Options of Flink CDC that mean the same for all systems."""

from __future__ import annotations

from typing import Final

from tidemark.connectors.base import OptionSpec

NO_EFFECT: Final = "accepted without effect"
_ONE_READER: Final = "accepted without effect; one transaction reads the table"
CHUNK_KEY: Final = "scan.incremental.snapshot.chunk.key-column"

# How Flink's tasks read a table side by side.
SNAPSHOT_OPTIONS: Final = (
    OptionSpec("scan.incremental.snapshot.chunk.size", "int", 8096, summary=_ONE_READER),
    OptionSpec(CHUNK_KEY, summary=_ONE_READER),
    OptionSpec(
        "scan.incremental.snapshot.unbounded-chunk-first.enabled",
        "boolean",
        True,
        summary=_ONE_READER,
    ),
    OptionSpec(
        "scan.incremental.snapshot.backfill.skip",
        "boolean",
        False,
        summary="accepted without effect; changes during the snapshot are never read twice",
    ),
    OptionSpec("scan.incremental.close-idle-reader.enabled", "boolean", False, summary=NO_EFFECT),
    OptionSpec(
        "scan.snapshot.fetch.size",
        "int",
        1024,
        summary="accepted without effect; rows are streamed",
    ),
    OptionSpec("chunk-meta.group.size", "int", 1000, summary=_ONE_READER),
    *(
        OptionSpec(
            f"chunk-key.even-distribution.factor.{bound}",
            "double",
            default,
            summary=_ONE_READER,
            aliases=(f"split-key.even-distribution.factor.{bound}",),
        )
        for bound, default in (("lower-bound", 0.05), ("upper-bound", 1000.0))
    ),
)


def incremental(default: bool) -> OptionSpec:
    name = "scan.incremental.snapshot.enabled"
    return OptionSpec(name, "boolean", default, summary=_ONE_READER)
