"""What writes messages in Avro, by format name: rows to a value for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl
import pyarrow as pa

from tidemark import types as t
from tidemark.formats import avro_confluent, avro_debezium
from tidemark.formats.avro_encode import records

# Columns are by position; after those of a changelog there may be one more, the row kind.
AvroMessages = Callable[[pl.DataFrame, Sequence[t.Field], Mapping[str, Any]], pa.LargeBinaryArray]


def _plain(
    rows: pl.DataFrame, fields: Sequence[t.Field], options: Mapping[str, Any]
) -> pa.LargeBinaryArray:
    return records(rows, fields)


AVRO_MESSAGES: Mapping[str, AvroMessages] = {
    "avro": _plain,
    avro_confluent.NAME: avro_confluent.confluent_messages,
    avro_debezium.NAME: avro_debezium.debezium_messages,
}
