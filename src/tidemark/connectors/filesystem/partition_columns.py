"""Rows divided by the folders of their partitions, as whole columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.connectors.filesystem.places import TO_MICROSECONDS, TO_MILLISECONDS, partition_folder
from tidemark.connectors.formats.base import FormatField

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

# What has a string outside of Spark, too.
WITH_STRING = (
    *t.CHARACTERS,
    *t.BINARIES,
    *t.NUMERICS,
    t.Boolean,
    t.Date,
    t.Time,
    t.Timestamp,
    t.TimestampLtz,
)


def can_name(keys: Sequence[FormatField]) -> bool:
    return all(isinstance(key.type, WITH_STRING) for key in keys)


@dataclass(frozen=True, slots=True)
class Partitions:
    """The columns that a table is partitioned by."""

    keys: tuple[FormatField, ...]
    default: str  # the folder's name for NULL

    def divide(self, keys: pa.Table, rows: pa.Table) -> Iterator[tuple[str, pa.Table]]:
        """The rows with their folders. Those of a folder keep their order."""
        if not self.keys:
            yield "", rows
            return
        import polars as pl

        texts = self._texts(keys)
        groups = (
            texts.with_row_index("place")
            .group_by(texts.columns, maintain_order=True)
            .agg("place", rows=pl.len())
        )
        if groups.height > 1:
            rows = rows.take(groups["place"].explode().to_arrow())
        start = 0
        for *values, _, count in groups.iter_rows():
            yield self._folder(values), rows.slice(start, count)
            start += count

    def _texts(self, keys: pa.Table) -> pl.DataFrame:
        """The values as strings; NULL and an empty one are the same partition."""
        import polars as pl

        frame = pl.from_arrow(keys)
        assert isinstance(frame, pl.DataFrame)
        columns = zip(frame.columns, self.keys, strict=True)
        texts = [_text(pl.col(column), key.type).fill_null("") for column, key in columns]
        return frame.select(text.alias(f"key {place}") for place, text in enumerate(texts))

    def _folder(self, values: Sequence[str]) -> str:
        names = (key.name for key in self.keys)
        return partition_folder(dict(zip(names, values, strict=True)), self.default)


def _text(value: pl.Expr, type_: t.DataType) -> pl.Expr:
    import polars as pl

    from tidemark.formats.texts import text_of

    if not isinstance(type_, t.Timestamp):
        return text_of(value, type_)
    # As Java writes it: without seconds if they are zero, else with three or six digits.
    text = text_of(value, type_, iso_times=True)
    padded = text.str.pad_end(TO_MILLISECONDS, "0")
    longer = text.str.len_bytes() > TO_MILLISECONDS
    return (
        pl.when(~text.str.contains(".", literal=True))
        .then(text.str.strip_suffix(":00"))
        .otherwise(pl.when(longer).then(text.str.pad_end(TO_MICROSECONDS, "0")).otherwise(padded))
    )
