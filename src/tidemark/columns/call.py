"""A call being written for Polars, and the rows that it may fail for."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from tidemark import types as t
from tidemark.columns.refusals import NotInColumns
from tidemark.columns.types import polars_type
from tidemark.functions.registry import Argument, Function


@dataclass(frozen=True, slots=True)
class Draw:
    """A column of chance, and the function that it is of."""

    function: str
    of_rows: Callable[[int], pl.Series]


@dataclass(frozen=True, slots=True)
class Check:
    """Rows that have no value: the first of them fails the job with a message."""

    fails: pl.Expr
    message: pl.Expr


@dataclass(slots=True)
class Surroundings:
    """What expressions depend on besides their input, and what they collect."""

    zone: str  # table.local-time-zone
    now: dt.datetime  # with a time zone; one moment for all rows
    checks: list[Check] = field(default_factory=list)
    # Whether the values depend on `now`, and whether users' functions are called.
    reads_clock: bool = False
    calls_user: bool = False
    # What Python code inside Polars raised, which Polars itself would rewrite.
    raised: list[Exception] = field(default_factory=list)
    # Columns that other columns read, and that are drawn before them.
    draws: list[Draw] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Active:
    """The rows whose value is asked for. Polars computes all branches of a CASE for all rows, but a
    row may fail only in its own branch. None: all rows.
    """

    surroundings: Surroundings
    rows: pl.Expr | None = None

    def where(self, condition: pl.Expr) -> Active:
        """Only the rows for which the condition is true."""
        holds = condition.fill_null(False)
        return Active(self.surroundings, holds if self.rows is None else self.rows & holds)

    def fail(self, rows: pl.Expr, message: pl.Expr | str) -> None:
        """Fail the job if there are such rows among these."""
        text = pl.lit(message) if isinstance(message, str) else message
        fails = rows.fill_null(False)
        fails = fails if self.rows is None else self.rows & fails
        self.surroundings.checks.append(Check(fails, text))

    def drawn(self, function: str, of_rows: Callable[[int], pl.Series]) -> pl.Expr:
        """A column that is drawn once for each frame, however often an expression reads it."""
        draws = self.surroundings.draws
        draws.append(Draw(function, of_rows))
        return pl.col(drawn_name(len(draws) - 1))

    def batches(
        self, compute: Callable[..., pl.Series], args: tuple[pl.Expr, ...], returns: t.DataType
    ) -> pl.Expr:
        """Columns computed in Python by `compute`, which takes a series for each argument."""
        raised = self.surroundings.raised

        def run(row: pl.Series) -> pl.Series:
            try:
                return compute(*row.struct.unnest().get_columns())
            except Exception as problem:
                raised.append(problem)
                raise

        named = [arg.alias(f"_tm_a{place}") for place, arg in enumerate(args)]
        return pl.struct(*named).map_batches(
            run, return_dtype=polars_type(returns), is_elementwise=True
        )


def drawn_name(place: int) -> str:
    return f"_tm_drawn_{place}"


@dataclass(frozen=True, slots=True)
class ColumnCall:
    """A call being written: the arguments' columns, types and known values."""

    function: Function
    args: tuple[pl.Expr, ...]
    arguments: tuple[Argument, ...]
    result: t.DataType
    active: Active

    @property
    def name(self) -> str:
        return self.function.name

    @property
    def zone(self) -> str:
        return self.active.surroundings.zone

    def type(self, index: int) -> t.DataType:
        return self.arguments[index].type

    def literal(self, index: int, default: Any = None) -> Any:
        """The value of a literal argument; `default` if it is absent or not a literal."""
        if index >= len(self.arguments) or not self.arguments[index].is_literal:
            return default
        return self.arguments[index].value

    def constant(self, index: int, what: str) -> Any:
        """The value of an argument that has to be a literal."""
        if not self.arguments[index].is_literal:
            raise NotInColumns(f"{self.name} with {what} that is not constant")
        return self.arguments[index].value


WriteColumn = Callable[[ColumnCall], pl.Expr]
