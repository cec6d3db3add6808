"""The encoders by format name: rows to the lines of a file, or to messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from tidemark import types as t
from tidemark.formats.avro_message_encoders import AVRO_MESSAGES
from tidemark.formats.changelog_encode import event_lines
from tidemark.formats.csv_encode import csv_lines, csv_messages
from tidemark.formats.json_encode import json_lines
from tidemark.formats.protobuf_encode import protobuf_messages
from tidemark.formats.protobuf_options import NAME as PROTOBUF
from tidemark.formats.raw_encode import can_encode, raw_lines, raw_values

# A string for each row, from columns by position, fields and the table's options.
Encoder = Callable[[pl.DataFrame, Sequence[t.Field], Mapping[str, Any]], pl.Series]

# With the row kind as a last column, unless all rows are inserts.
_CHANGELOGS = ("canal-json", "debezium-json", "maxwell-json", "ogg-json")
ENCODERS: Mapping[str, Encoder] = {
    "csv": csv_lines,
    "json": json_lines,
    **{name: partial(event_lines, name) for name in _CHANGELOGS},
}


def has_encoder(format_: str, options: Mapping[str, Any]) -> bool:
    return format_ in ENCODERS or (format_ == "raw" and can_encode(options))


def encoded(
    format_: str, rows: pl.DataFrame, fields: Sequence[t.Field], options: Mapping[str, Any]
) -> pa.Array:
    """A line for each row, with its end, in an array whose bytes follow each other."""
    if format_ == "raw":
        return raw_lines(rows, fields, options)
    lines = ENCODERS[format_](rows, fields, options)
    return (lines + "\n").to_arrow(compat_level=pl.CompatLevel.oldest())


def messages(
    format_: str, rows: pl.DataFrame, fields: Sequence[t.Field], options: Mapping[str, Any]
) -> pa.Array:
    """The bytes of each row alone, as a message has them; NULL if a message is to have none."""
    if format_ == "raw":
        return raw_values(rows, fields, options)
    if format_ == PROTOBUF:
        return protobuf_messages(rows, fields, options)
    if format_ in AVRO_MESSAGES:
        return AVRO_MESSAGES[format_](rows, fields, options)
    encode = csv_messages if format_ == "csv" else ENCODERS[format_]
    values = encode(rows, fields, options)
    return values.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(pa.large_binary())


def bytes_of(lines: pa.Array) -> pa.Buffer:
    """All lines of an array, without a copy."""
    if len(lines) == 0:
        return pa.py_buffer(b"")
    _, ends, content = lines.buffers()
    bounds = np.frombuffer(ends, np.int64)
    first, last = int(bounds[lines.offset]), int(bounds[lines.offset + len(lines)])
    return content.slice(first, last - first)
