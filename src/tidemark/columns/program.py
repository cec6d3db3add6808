"""Expressions written once, and computed for one frame after the other."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from tidemark.columns.call import Active, Surroundings
from tidemark.columns.evaluation import evaluated
from tidemark.columns.writer import ColumnWriter
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
        return evaluated(self.values, self.surroundings, frame, names)

    def rows_where(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows of the frame for which the only expression is true."""
        (kept,) = self.over(frame, ["kept"])
        return frame.filter(kept)
