"""Connectors and formats of Flink that are not here yet, and what the ones here cannot do."""

from __future__ import annotations

from typing import Final

from tidemark.unsupported import NEVER, Unsupported

_CONNECTORS = "Connectors and formats"

CONNECTOR: Final = Unsupported(
    _CONNECTORS,
    "connector '{}'",
    why="planned",
    each={"jdbc": None},
)
DELAYED_COMMIT_OVER_CONNECT: Final = Unsupported(
    _CONNECTORS,
    "committing partitions after a delay over Spark Connect",
    why="nothing runs on the server between two micro-batches",
    hint="commit them at once, by 'process-time' without a delay",
    says=NEVER,
)
SCHEMA_TO_WRITE: Final = Unsupported(
    _CONNECTORS,
    "writing with the schema given",
    why="its unions have null last, or it has enums or values of fixed size",
    hint='write nullable fields as ["null", ...], and strings and bytes instead',
    title="writing with 'avro-confluent.schema' where it differs from the table's in its bytes",
)
ALIGNED_WATERMARKS: Final = Unsupported(
    _CONNECTORS,
    "'scan.watermark.alignment.{}'",
    why="each micro-batch reads all partitions as far as there are records",
    hint="omit it; 'tidemark.kafka.max-records-per-batch' limits how far partitions drift apart",
    each={"group": None, "max-drift": None, "update-interval": None},
    says=NEVER,
)
