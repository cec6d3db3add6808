"""Rows for which the run must fail, unless a filter drops them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tidemark.errors import DataError
from tidemark.kernels.columns import FAULT, PLACE
from tidemark.local.rows import LocalRows

if TYPE_CHECKING:
    import polars as pl

# A longer record is cut off.
_SHOWN: Final = 300


def without_time(rows: LocalRows, time: str, column: str) -> LocalRows:
    """The rows, of which one without an event time is faulty. `column` is its name in the query."""

    def marked(frame: pl.DataFrame) -> pl.DataFrame:
        faults = _faults(frame, time, column, rows)
        if rows.faulty:
            faults = frame[FAULT].fill_null(faults)
        return frame.drop(PLACE, strict=False).with_columns(faults.alias(FAULT))

    return rows.each(marked, placed=False, faulty=True)


def _faults(frame: pl.DataFrame, time: str, column: str, rows: LocalRows) -> pl.Series:
    import polars as pl

    missing = frame[time].is_null()
    if not missing.any():
        return pl.repeat(None, frame.height, dtype=pl.String, eager=True)
    facts = [
        pl.lit(column).alias("event time"),
        _record(frame, rows.columns).alias("record"),
        *[pl.col(PLACE).alias("file")] * rows.placed,
    ]
    found = frame.filter(missing).select(pl.struct(facts).struct.json_encode()).to_series()
    # The faulty rows are few, or a filter above drops them: the others are not encoded.
    places = pl.select(pl.when(missing).then(missing.cum_sum().cast(pl.Int64) - 1)).to_series()
    return found.gather(places)


def _record(frame: pl.DataFrame, columns: Sequence[str]) -> pl.Expr:
    """The rows as JSON; bytes in Base64, as Spark writes them."""
    import polars as pl

    shown = []
    for name in columns:
        if frame.schema[name] == pl.Binary:
            shown.append(pl.col(name).bin.encode("base64"))
        elif "Binary" not in str(frame.schema[name]):  # which Polars cannot write inside others
            shown.append(pl.col(name))
    return pl.struct(shown).struct.json_encode()


def checked(rows: LocalRows) -> LocalRows:
    """The rows without the column of faults: the first row with one fails the run.

    For where rows leave what is computed of each row alone.
    """
    if not rows.faulty:
        return rows

    def valid(frame: pl.DataFrame) -> pl.DataFrame:
        faults = frame[FAULT].drop_nulls()
        if faults.len():
            raise _error(**json.loads(faults[0]))
        return frame.drop(FAULT)

    return rows.each(valid, faulty=False)


def with_faults(rows: LocalRows) -> LocalRows:
    """The rows with a column of faults, also if they have none."""
    import polars as pl

    if rows.faulty:
        return rows
    none = pl.lit(None, dtype=pl.String).alias(FAULT)
    return replace(rows.each(lambda frame: frame.with_columns(none)), faulty=True)


def _error(**facts: str) -> DataError:
    file, record = facts.get("file"), facts["record"].strip()
    message = f"event time `{facts['event time']}` is NULL"
    return DataError(
        message if file is None else f"{file}  {message}",
        notes={
            "why": "every row of a stream needs an event time",
            "record": record if len(record) <= _SHOWN else record[:_SHOWN] + " ...",
        },
    )
