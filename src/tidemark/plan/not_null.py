"""NOT NULL columns of sinks, and fields of their rows: a NULL fails the job, or the row is
dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from typing import Final

from tidemark import functions
from tidemark import types as t
from tidemark.functions.registry import Argument, scalar
from tidemark.plan.expressions import Call, Case, Expression
from tidemark.plan.nodes import Filter, Node
from tidemark.plan.scalars import literals
from tidemark.plan.scope import Scope, access


def _known(arguments: tuple[Argument, ...]) -> t.DataType:
    return arguments[0].type.with_nullable(False)


# The value, or a failure with the message if it is NULL.
REQUIRED: Final = scalar(
    "REQUIRED", "(any, character)", _known, "coalesce({0}, raise_error({1}))", strict=False
)


def required(value: Expression, column: str, table: str) -> Expression:
    """The value for a NOT NULL column; a NULL fails the job with a message that names both."""
    args = (value, _message(column, table))
    return Call(REQUIRED, args, value.type.with_nullable(False))


def with_fields(value: Expression, wanted: t.DataType, column: str, table: str) -> Expression:
    """The value; a NULL in a NOT NULL field of a row fails the job in the same way."""
    missing = literals.null(value.type.with_nullable(True))
    branches = tuple(
        (is_missing, Call(REQUIRED, (missing, _message(path, table)), value.type))
        for path, is_missing in _missing_fields(value, wanted, column)
    )
    return Case(branches, value, value.type) if branches else value


def with_known_fields(rows: Node, columns: Iterable[tuple[Expression, t.DataType]]) -> Node:
    """The rows without those that have a NULL in a field which the type of a column excludes."""
    missing = [
        is_missing
        for value, wanted in columns
        for _, is_missing in _missing_fields(value, wanted, "")
    ]
    return Filter(rows, reduce(_and, map(_not, missing))) if missing else rows


def _missing_fields(
    value: Expression, wanted: t.DataType, path: str
) -> Iterator[tuple[str, Expression]]:
    """The NOT NULL fields at any depth, and when they are NULL in a row that is not."""
    if not isinstance(wanted, t.Row) or not isinstance(value.type, t.Row):
        return
    for given, field in zip(value.type.fields, wanted.fields, strict=True):
        inner, name = access(value, given.name, None), f"{path}.{field.name}"
        if given.type.nullable and not field.type.nullable:
            yield name, _and(_is_known(value), _is_null(inner))
        yield from _missing_fields(inner, field.type, name)


def _message(column: str, table: str) -> Expression:
    return literals.text(f"column `{column}` of table `{table}` is NOT NULL, but a value is NULL")


def left_out(rows: Node, columns: Iterable[int]) -> Node:
    """The rows without those that have a NULL in one of the columns."""
    places = set(columns)
    refs = [Scope.of(rows.edge).ref(index) for index in sorted(places)]
    if not refs:
        return rows
    condition = reduce(_and, [_is_known(ref) for ref in refs])
    return Filter(rows, condition, tuple(sorted(places)))


_BOOLEAN = t.Boolean(nullable=False)


def _is_known(value: Expression) -> Expression:
    return _not(_is_null(value))


def _is_null(value: Expression) -> Expression:
    return Call(functions.BUILT_IN["IS NULL"], (value,), _BOOLEAN)


def _not(condition: Expression) -> Expression:
    return Call(functions.BUILT_IN["NOT"], (condition,), _BOOLEAN)


def _and(left: Expression, right: Expression) -> Expression:
    return Call(functions.BUILT_IN["AND"], (left, right), _BOOLEAN)
