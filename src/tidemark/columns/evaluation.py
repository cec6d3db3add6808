"""Expressions of Polars that were written with their surroundings, computed over one frame."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from tidemark.columns.call import Surroundings, drawn_name
from tidemark.errors import DataError


def evaluated(
    values: Sequence[pl.Expr], surroundings: Surroundings, frame: pl.DataFrame, names: Sequence[str]
) -> pl.DataFrame:
    """A column for each expression. Raises DataError for the first row that has no value."""
    frame = frame.with_columns(_drawn(surroundings, frame.height))
    computed = _computed(values, surroundings, frame)
    _check(surroundings, frame, computed)
    return computed.select(pl.col(_value(place)).alias(name) for place, name in enumerate(names))


def _drawn(surroundings: Surroundings, rows: int) -> list[pl.Series]:
    draws = enumerate(surroundings.draws)
    return [draw.of_rows(rows).alias(drawn_name(place)) for place, draw in draws]


def _computed(
    values: Sequence[pl.Expr], surroundings: Surroundings, frame: pl.DataFrame
) -> pl.DataFrame:
    named = [value.alias(_value(place)) for place, value in enumerate(values)]
    checks = [check.fails.alias(_failing(place)) for place, check in enumerate(surroundings.checks)]
    # With the columns, so that constants become as long as they.
    plan = frame.lazy().with_columns(*named, *checks)
    try:
        return plan.select(pl.col("^_tm_(value|check)_[0-9]+$")).collect()
    except Exception as problem:
        raise _own(surroundings, problem) from None


def _own(surroundings: Surroundings, problem: Exception) -> Exception:
    """What was raised inside, without what Polars adds to it."""
    return surroundings.raised.pop() if surroundings.raised else problem


def _check(surroundings: Surroundings, frame: pl.DataFrame, computed: pl.DataFrame) -> None:
    found = [
        (row, place)
        for place in range(len(surroundings.checks))
        if (row := computed[_failing(place)].arg_max()) is not None
        and computed[_failing(place)][row]
    ]
    if found:
        row, place = min(found)
        message = surroundings.checks[place].message
        raise DataError(frame[row].select(message.alias("message"))["message"][0])


def _value(place: int) -> str:
    return f"_tm_value_{place}"


def _failing(place: int) -> str:
    return f"_tm_check_{place}"
