"""Rows of a changelog as JSON events, as whole columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from tidemark import types as t
from tidemark.formats.changelog_envelopes import DELETED, envelopes
from tidemark.formats.json_encode import JsonWriting, documents


def event_lines(
    format_: str, rows: pl.DataFrame, fields: Sequence[t.Field], options: Mapping[str, Any]
) -> pl.Series:
    """An event for each row. Columns are by position; one after them is the row kind."""
    writing = JsonWriting.of(format_, options)
    row = documents(rows[:, : len(fields)], fields, writing)
    around = envelopes(format_, without_nulls=writing.without_nulls)
    (before, after), (before_deleted, after_deleted) = around.inserted, around.deleted
    events = pl.lit(before) + row + pl.lit(after)
    if rows.width > len(fields):
        deleted = rows.to_series(len(fields)).is_in(DELETED)
        events = (
            pl.when(deleted)
            .then(pl.lit(before_deleted) + row + pl.lit(after_deleted))
            .otherwise(events)
        )
    return rows.select(events.alias("value")).to_series()
