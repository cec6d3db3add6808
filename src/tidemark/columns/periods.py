"""OVERLAPS: periods that share a moment."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from tidemark import types as t
from tidemark.columns import arithmetic
from tidemark.columns.call import ColumnCall, WriteColumn
from tidemark.functions.arithmetic import FUNCTIONS


def _overlaps(call: ColumnCall) -> pl.Expr:
    (first, last), (start, end) = _period(call, 0), _period(call, 2)
    return (last >= start) & (end >= first)


def _period(call: ColumnCall, start: int) -> tuple[pl.Expr, pl.Expr]:
    """The earlier end and the later one; an interval is relative to the start."""
    begin, end = call.args[start : start + 2]
    if isinstance(call.type(start + 1), t.INTERVALS):
        both = slice(start, start + 2)
        added = replace(
            call,
            function=_ADDED,
            args=call.args[both],
            arguments=call.arguments[both],
            result=call.type(start),
        )
        end = arithmetic.COLUMNS["+"](added)
    in_order = begin <= end
    return pl.when(in_order).then(begin).otherwise(end), pl.when(in_order).then(end).otherwise(
        begin
    )


_ADDED = next(function for function in FUNCTIONS if function.name == "+")

COLUMNS: dict[str, WriteColumn] = {"OVERLAPS": _overlaps}
