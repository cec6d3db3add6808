"""Expressions written once, and computed for one frame after the other."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from tidemark.columns.call import Active, Surroundings
from tidemark.columns.writer import ColumnWriter
from tidemark.errors import DataError
from tidemark.plan.expressions import Expression


@dataclass(frozen=True, slots=True)
class Program:
    """Some expressions over the same columns."""

    values: tuple[pl.Expr, ...]
    surroundings: Surroundings

    @classmethod
    def of(
        cls, expressions: Sequence[Expression], columns: Sequence[str], zone: str, now: dt.datetime
    ) -> Program:
        """Expressions over a frame with these columns, in the order of the plan's. `zone` is the
        session's time zone, `now` the time (with a zone of its own) that CURRENT_TIMESTAMP gives.

        Raises NotInColumns.
        """
        surroundings = Surroundings(zone, now)
        writer = ColumnWriter(tuple(columns))
        active = Active(surroundings)
        return cls(tuple(writer.write(each, active) for each in expressions), surroundings)

    def over(self, frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
        """A column for each expression. Raises DataError for the first row that has no value."""
        computed = self._computed(frame)
        self._check(frame, computed)
        return computed.select(
            pl.col(_value(place)).alias(name) for place, name in enumerate(names)
        )

    def rows_where(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows of the frame for which the only expression is true."""
        (kept,) = self.over(frame, ["kept"])
        return frame.filter(kept)

    def _computed(self, frame: pl.DataFrame) -> pl.DataFrame:
        values = [value.alias(_value(place)) for place, value in enumerate(self.values)]
        checks = [
            check.fails.alias(_check(place)) for place, check in enumerate(self.surroundings.checks)
        ]
        # With the columns, so that constants become as long as they.
        plan = frame.lazy().with_columns(*values, *checks)
        try:
            return plan.select(pl.col("^_tm_(value|check)_[0-9]+$")).collect()
        except Exception as problem:
            raise self._own(problem) from None

    def _own(self, problem: Exception) -> Exception:
        """What was raised inside, without what Polars adds to it."""
        return self.surroundings.raised.pop() if self.surroundings.raised else problem

    def _check(self, frame: pl.DataFrame, computed: pl.DataFrame) -> None:
        found = [
            (row, place)
            for place in range(len(self.surroundings.checks))
            if (row := computed[_check(place)].arg_max()) is not None
            and computed[_check(place)][row]
        ]
        if found:
            row, place = min(found)
            message = self.surroundings.checks[place].message
            raise DataError(frame[row].select(message.alias("message"))["message"][0])


def _value(place: int) -> str:
    return f"_tm_value_{place}"


def _check(place: int) -> str:
    return f"_tm_check_{place}"
