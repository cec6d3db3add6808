"""NOT NULL columns of sinks: a NULL fails the job, or the row is dropped."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Final

from tidemark import functions
from tidemark import types as t
from tidemark.functions.registry import Argument, scalar
from tidemark.plan.expressions import Call, Expression, Ref
from tidemark.plan.nodes import Filter, Node
from tidemark.plan.scalars import literals
from tidemark.plan.scope import Scope


def _known(arguments: tuple[Argument, ...]) -> t.DataType:
    return arguments[0].type.with_nullable(False)


# The value, or a failure with the message if it is NULL.
REQUIRED: Final = scalar(
    "REQUIRED", "(any, character)", _known, "coalesce({0}, raise_error({1}))", strict=False
)


def required(value: Expression, column: str, table: str) -> Expression:
    """The value for a NOT NULL column; a NULL fails the job with a message that names both."""
    message = f"column `{column}` of table `{table}` is NOT NULL, but a value is NULL"
    args = (value, literals.text(message))
    return Call(REQUIRED, args, value.type.with_nullable(False))


def left_out(rows: Node, columns: Iterable[int]) -> Node:
    """The rows without those that have a NULL in one of the columns."""
    places = set(columns)
    refs = [Scope.of(rows.edge).ref(index) for index in sorted(places)]
    if not refs:
        return rows
    condition = reduce(_and, [_is_known(ref) for ref in refs])
    return Filter(rows, condition, tuple(sorted(places)))


_BOOLEAN = t.Boolean(nullable=False)


def _is_known(ref: Ref) -> Expression:
    is_null = Call(functions.BUILT_IN["IS NULL"], (ref,), _BOOLEAN)
    return Call(functions.BUILT_IN["NOT"], (is_null,), _BOOLEAN)


def _and(left: Expression, right: Expression) -> Expression:
    return Call(functions.BUILT_IN["AND"], (left, right), _BOOLEAN)
