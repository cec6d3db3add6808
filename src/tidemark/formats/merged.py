"""Rows that were read in different ways, in the order of their records again."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from tidemark import types as t
from tidemark.formats.column_types import schema

# The last column of all parts: the index of the record that a row is from.
RECORD = "_tm_record"


def in_order(parts: Sequence[Sequence[pl.Series]], fields: Sequence[t.Field]) -> pl.DataFrame:
    """All rows by their records. Those of a record are in one part, and in order there."""
    frames = [pl.DataFrame(list(part)) for part in parts]
    if len(frames) == 1:
        return frames[0]
    empty = pl.DataFrame(schema={**schema(fields), RECORD: pl.Int64()})
    return pl.concat([empty, *frames]).sort(RECORD, maintain_order=True)
