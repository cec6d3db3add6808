"""The user's Python functions over columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pyarrow as pa

from tidemark import types as t
from tidemark.catalog.stand_ins import STAND_INS
from tidemark.catalog.tables import UserFunction
from tidemark.columns.call import Active
from tidemark.columns.refusals import NotInColumns
from tidemark.columns.types import polars_type
from tidemark.errors import JobError
from tidemark.functions.arrow_types import to_arrow

# What Spark gives to Python in forms of its own: times in the zone of the machine, intervals;
# as arguments rows, too.
_NOT_PLAIN = (t.TimestampLtz, *t.INTERVALS)


def user_call(
    function: UserFunction,
    args: tuple[pl.Expr, ...],
    types: tuple[t.DataType, ...],
    result: t.DataType,
    active: Active,
) -> pl.Expr:
    """A call of a user's function, row by row or, if it is vectorized, with whole columns. As on
    Spark, it is called for all rows, even for those for which a CASE takes another branch.
    """
    for type_, refused in [
        *((type_, (t.Row, *_NOT_PLAIN)) for type_ in types),
        (result, _NOT_PLAIN),
    ]:
        if any(isinstance(part, refused) for part in _parts(type_)):
            raise NotInColumns(f"the Python function {function.name} with {type_.text()}")
    # What stands in for a class that Tidemark knows is where Tidemark is.
    active.surroundings.calls_user |= function.identifier not in STAND_INS.values()
    if not args:
        raise NotInColumns(f"the Python function {function.name} without arguments")
    assert function.implementation is not None
    if function.vectorized:
        compute = _vectorized(function.implementation, types, result)
    else:
        compute = _row_by_row(function, result)
    return active.batches(_reported(compute), args, result)


def _parts(type_: t.DataType) -> list[t.DataType]:
    match type_:
        case t.Array(element=element) | t.Multiset(element=element):
            return [type_, *_parts(element)]
        case t.Map(key=key, value=value):
            return [type_, *_parts(key), *_parts(value)]
        case t.Row(fields=fields):
            return [type_, *(part for field in fields for part in _parts(field.type))]
    return [type_]


def _reported(compute: Callable[..., pl.Series]) -> Callable[..., pl.Series]:
    def run(*columns: pl.Series) -> pl.Series:
        try:
            return compute(*columns)
        except JobError:
            raise
        except Exception as problem:
            kind = type(problem).__name__
            raise JobError(f"a Python function failed: {kind}: {problem}") from problem

    return run


def _vectorized(
    implementation: Callable[..., pa.Array], types: tuple[t.DataType, ...], result: t.DataType
) -> Callable[..., pl.Series]:
    def compute(*columns: pl.Series) -> pl.Series:
        arrays = [
            column.to_arrow().cast(to_arrow(type_))
            for column, type_ in zip(columns, types, strict=True)
        ]
        found = pl.from_arrow(implementation(*arrays).cast(to_arrow(result)))
        assert isinstance(found, pl.Series)
        return found

    return compute


def _row_by_row(function: UserFunction, result: t.DataType) -> Callable[..., pl.Series]:
    kind, stored = polars_type(result), _stored(result)

    def compute(*columns: pl.Series) -> pl.Series:
        rows = zip(*(column.to_list() for column in columns), strict=True)
        values = [function.implementation(*row) for row in rows]
        try:
            kept = values if stored is None else [stored(value) for value in values]
            return pl.Series(kept, dtype=kind, strict=True)
        except TypeError:
            raise JobError(_misfit(function, values, result)) from None

    return compute


def _stored(type_: t.DataType) -> Callable[[Any], Any] | None:
    """How Polars takes a value with rows, which functions return as tuples; None if without any."""
    match type_:
        case t.Array(element=element) if (stored := _stored(element)) is not None:
            return lambda value: None if value is None else [stored(part) for part in value]
        case t.Row(fields=fields):
            names = [field.name for field in fields]
            parts = [_stored(field.type) or _unchanged for field in fields]
            return lambda value: None if value is None else _as_struct(value, names, parts)
    return None


def _as_struct(row: Any, names: list[str], parts: list[Callable[[Any], Any]]) -> dict[str, Any]:
    if isinstance(row, dict):
        row = [row.get(name) for name in names]
    if len(row) != len(names):
        raise JobError(f"a Python function returned a row of {len(row)} fields, not {len(names)}")
    return {name: part(value) for name, part, value in zip(names, parts, row, strict=True)}


def _unchanged(value: Any) -> Any:
    return value


def _misfit(function: UserFunction, values: list[Any], result: t.DataType) -> str:
    kinds = sorted({type(value).__name__ for value in values if value is not None})
    return (
        f"the Python function {function.name} is declared to return {result.text()}, "
        f"and returned {' and '.join(kinds)}"
    )
