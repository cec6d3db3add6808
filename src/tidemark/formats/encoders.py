"""The encoders by format name: rows to the lines of a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from tidemark import types as t
from tidemark.formats.csv_encode import csv_lines
from tidemark.formats.json_encode import json_lines

# A string for each row, from columns by position, fields and the table's options.
ENCODERS: Mapping[
    str, Callable[[pl.DataFrame, Sequence[t.Field], Mapping[str, Any]], pl.Series]
] = {"csv": csv_lines, "json": json_lines}


def encoded(
    format_: str, rows: pl.DataFrame, fields: Sequence[t.Field], options: Mapping[str, Any]
) -> bytes:
    """The rows as bytes: a line for each."""
    lines = ENCODERS[format_](rows, fields, options)
    if lines.is_empty():
        return b""
    text: str = lines.str.join("\n").item()
    return text.encode("utf-8") + b"\n"
