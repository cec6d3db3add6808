"""Rows of which only some fields are converted; the others are NULL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from tidemark import types as t
from tidemark.formats.column_types import dtype
from tidemark.formats.decoded import Block, Decoded, Decoder
from tidemark.functions.spark_text import safe_names


@dataclass(frozen=True)
class NarrowRows:
    """A decoder of `narrow` rows, by the names of their columns, that returns rows of the whole
    types."""

    decoder: Decoder
    fields: Sequence[t.Field]
    narrow: Mapping[str, t.Row]

    def __call__(self, block: Block, *, file: str | None = None, first: int = 1) -> Decoded:
        decoded = self.decoder(block, file=file, first=first)
        wide = [
            widened(decoded.rows[each.name], self.narrow[each.name], each.type).alias(each.name)
            for each in self.fields
            if each.name in self.narrow
        ]
        return replace(decoded, rows=decoded.rows.with_columns(wide))


def narrowed(fields: Sequence[t.Field], narrow: Mapping[str, t.Row]) -> list[t.Field]:
    return [replace(each, type=narrow.get(each.name, each.type)) for each in fields]


def widened(rows: pl.Series, narrow: t.DataType, whole: t.DataType) -> pl.Series:
    """Rows with all fields, those that are not in the narrow type as NULL."""
    if narrow == whole:
        return rows
    assert isinstance(narrow, t.Row)
    assert isinstance(whole, t.Row)
    read = dict(zip([each.name for each in narrow.fields], rows.struct.unnest(), strict=True))
    types = {each.name: each.type for each in narrow.fields}
    names = safe_names([each.name for each in whole.fields])
    columns = [
        (
            widened(read[each.name], types[each.name], each.type)
            if each.name in read
            else pl.repeat(None, rows.len(), dtype=dtype(each.type), eager=True)
        ).alias(name)
        for each, name in zip(whole.fields, names, strict=True)
    ]
    wide = pl.DataFrame(columns).to_struct()
    if not rows.null_count():
        return wide
    return pl.select(pl.when(pl.lit(rows.is_not_null())).then(pl.lit(wide))).to_series()
