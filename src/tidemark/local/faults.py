"""Rows for which the run must fail, unless a filter drops them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark.catalog.tables import Changelog
from tidemark.kernels.columns import FAULT, KIND, PLACE
from tidemark.local.rows import LocalRows

if TYPE_CHECKING:
    import polars as pl


def without_time(rows: LocalRows, time: str, column: str, shown: Sequence[str]) -> LocalRows:
    """The rows, of which one without an event time is faulty. `column` is its name in the query;
    the `shown` columns are reported. A delete among upserts may have nothing but its key.
    """
    upserts = rows.changelog is Changelog.UPSERT

    def marked(frame: pl.DataFrame) -> pl.DataFrame:
        missing = frame[time].is_null()
        if upserts:
            missing &= frame[KIND] != "-D"
        faults = _faults(frame, missing, column, shown)
        if rows.faulty:
            faults = frame[FAULT].fill_null(faults)
        return frame.drop(PLACE, strict=False).with_columns(faults.alias(FAULT))

    return rows.each(marked, placed=False, faulty=True)


def _faults(
    frame: pl.DataFrame, missing: pl.Series, column: str, shown: Sequence[str]
) -> pl.Series:
    import polars as pl

    from tidemark.runtime.times import as_json

    if not missing.any():
        return pl.repeat(None, frame.height, dtype=pl.String, eager=True)
    facts = [
        pl.lit(column).alias("event time"),
        as_json(frame.schema, shown).alias("record"),
        *[pl.col(PLACE).alias("file")] * (PLACE in frame.columns),
    ]
    found = frame.filter(missing).select(pl.struct(facts).struct.json_encode()).to_series()
    # The faulty rows are few, or a filter above drops them: the others are not encoded.
    places = pl.select(pl.when(missing).then(missing.cum_sum().cast(pl.Int64) - 1)).to_series()
    return found.gather(places)


def checked(rows: LocalRows) -> LocalRows:
    """The rows without the column of faults: the first row with one fails the run.

    For where rows leave what is computed of each row alone.
    """
    if not rows.faulty:
        return rows

    def valid(frame: pl.DataFrame) -> pl.DataFrame:
        faults = frame[FAULT].drop_nulls()
        if faults.len():
            from tidemark.runtime.times import without_event_time

            facts = json.loads(faults[0])
            raise without_event_time(facts["event time"], facts["record"], facts.get("file"))
        return frame.drop(FAULT)

    return rows.each(valid, faulty=False)


def with_faults(rows: LocalRows) -> LocalRows:
    """The rows with a column of faults, also if they have none."""
    import polars as pl

    if rows.faulty:
        return rows
    none = pl.lit(None, dtype=pl.String).alias(FAULT)
    return replace(rows.each(lambda frame: frame.with_columns(none)), faulty=True)
