"""Functions that choose between values. Those that compute some values for some rows only are in
`writer`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce

import polars as pl

from tidemark.columns.call import ColumnCall, WriteColumn
from tidemark.columns.comparison import equal


def _nullif(call: ColumnCall) -> pl.Expr:
    return pl.when(equal(call).fill_null(False)).then(None).otherwise(call.args[0])


def _extreme(wins: Callable[[pl.Expr, pl.Expr], pl.Expr]) -> WriteColumn:
    """The winner of all values; NULL if any is NULL. Unlike Polars' own, NaN is the greatest."""

    def write(call: ColumnCall) -> pl.Expr:
        best = reduce(lambda a, b: pl.when(wins(a, b)).then(a).otherwise(b), call.args)
        known = reduce(operator.and_, (arg.is_not_null() for arg in call.args))
        return pl.when(known).then(best)

    return write


def _required(call: ColumnCall) -> pl.Expr:
    """For a column that is NOT NULL."""
    message = call.constant(1, "a message")
    call.active.fail(call.args[0].is_null(), str(message))
    return call.args[0]


COLUMNS: dict[str, WriteColumn] = {
    "NULLIF": _nullif,
    "GREATEST": _extreme(operator.ge),
    "LEAST": _extreme(operator.le),
    "REQUIRED": _required,
}
