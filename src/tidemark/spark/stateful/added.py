"""Columns that an operator needs beside those of its input: Spark adds them to rows, and workers to
packed ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl
import pyarrow as pa

from tidemark import types as t
from tidemark.functions import spark_text
from tidemark.functions.moments import millis_of_clock
from tidemark.runtime.times import milliseconds


@dataclass(frozen=True, slots=True)
class Constant:
    """The same value in every row."""

    name: str
    value: bool | int

    @property
    def type(self) -> t.DataType:
        return t.Boolean() if isinstance(self.value, bool) else t.BigInt()

    @property
    def sql(self) -> str:
        value = str(self.value).upper() if isinstance(self.value, bool) else f"{self.value}L"
        return f"{value} AS {self.name}"

    def of(self, rows: pa.RecordBatch) -> pa.Array:
        type_ = pa.bool_() if isinstance(self.value, bool) else pa.int64()
        return pa.repeat(pa.scalar(self.value, type_), rows.num_rows)


@dataclass(frozen=True, slots=True)
class ClockMillis:
    """A TIMESTAMP_NTZ of the rows as milliseconds since 1970, read as UTC."""

    name: str
    column: str

    @property
    def type(self) -> t.DataType:
        return t.BigInt()

    @property
    def sql(self) -> str:
        return f"{millis_of_clock(spark_text.name(self.column))} AS {self.name}"

    def of(self, rows: pa.RecordBatch) -> pa.Array:
        times = pl.from_arrow(rows.column(self.column))
        assert isinstance(times, pl.Series)
        return milliseconds(times).to_arrow()


Added = Constant | ClockMillis


def with_added(rows: pa.RecordBatch, added: Sequence[Added]) -> pa.RecordBatch:
    """Rows with these columns too."""
    if not added:
        return rows
    return pa.RecordBatch.from_arrays(
        [*rows.columns, *(column.of(rows) for column in added)],
        names=[*rows.schema.names, *(column.name for column in added)],
    )
