"""Messages that are a record in Avro's binary encoding each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import polars as pl
import pyarrow as pa

from tidemark import types as t
from tidemark.formats.avro import AvroColumns, BadBlock
from tidemark.formats.avro_schema import parsed, schema_of
from tidemark.formats.decoded import Block, Decoded
from tidemark.formats.problems import data_error

LEGACY: Final = "avro.timestamp_mapping.legacy"


class AvroDecoder:
    """Decodes messages in the schema of the table, the only one that Flink knows of them.

    There is only one way, hence `few` has no effect.
    """

    def __init__(
        self, fields: Sequence[t.Field], options: Mapping[str, Any], *, few: int = 1
    ) -> None:
        legacy = bool(options.get(LEGACY, True))
        self._read = AvroColumns(parsed(json.dumps(schema_of(fields, legacy=legacy))), fields)

    def __call__(self, block: Block, *, file: str | None = None, first: int = 1) -> Decoded:
        values, index = present(block)
        try:
            rows = self._read.of_messages(values)
        except BadBlock as bad:
            number = index[bad.block] + first
            raise data_error(bad.problem, why=bad.why, file=file, number=number) from None
        return Decoded(rows, index + first, records=len(block))


def present(block: Block) -> tuple[pa.LargeBinaryArray, pl.Series]:
    """The messages that have a value, and the places of these."""
    assert isinstance(block, pa.Array)  # there are no lines in Avro
    values = block.cast(pa.large_binary())
    there = pl.from_arrow(values.is_valid())
    assert isinstance(there, pl.Series)
    return values.drop_null(), there.arg_true().cast(pl.Int64)
