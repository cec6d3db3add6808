"""Functions that set operations and subqueries are rewritten to."""

from __future__ import annotations

import polars as pl

from tidemark.columns.call import ColumnCall, WriteColumn
from tidemark.functions.rewriting import MORE_THAN_ONE


def _single_value(call: ColumnCall) -> pl.Expr:
    value, rows = call.args
    call.active.fail(rows > 1, MORE_THAN_ONE)
    return value


def _replicated(call: ColumnCall) -> pl.Expr:
    return pl.lit(True).repeat_by(call.args[0])


def _required(call: ColumnCall) -> pl.Expr:
    """The value for a NOT NULL column; a NULL fails the job."""
    value, message = call.args
    call.active.fail(value.is_null(), message)
    return value


COLUMNS: dict[str, WriteColumn] = {
    "SINGLE_VALUE": _single_value,
    "REPLICATED": _replicated,
    "REQUIRED": _required,
}
