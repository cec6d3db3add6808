"""Scalar expressions after names and types are resolved: values, without names to look up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tidemark.catalog.tables import UserFunction
from tidemark.functions.registry import Function
from tidemark.types import DataType

# Checkpoints are checked against hashes of plans, which contain expressions by class and field name
# (`nodes.state.plain`): do not rename these classes or their fields, or no job resumes.


@dataclass(frozen=True, slots=True)
class Ref:
    """A column of the input, by position."""

    index: int
    name: str
    type: DataType


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant. Times are `datetime` values, intervals milliseconds or months; NULL is None."""

    value: Any
    type: DataType


@dataclass(frozen=True, slots=True)
class Call:
    """A built-in function or operator over arguments already converted to its parameters."""

    function: Function
    args: tuple[Expression, ...]
    type: DataType


@dataclass(frozen=True, slots=True)
class UserCall:
    """A user's Python function, with its code and types."""

    function: UserFunction
    args: tuple[Expression, ...]
    type: DataType


@dataclass(frozen=True, slots=True)
class Cast:
    """CAST, or TRY_CAST when `safe`. `implicit` ones were added by the planner."""

    operand: Expression
    type: DataType
    safe: bool = False
    implicit: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """CASE WHEN condition THEN value ... ELSE default END; branches share one type. If it
    `pads`, it is a column of a join's right side, NULL for an unmatched left row.
    """

    branches: tuple[tuple[Expression, Expression], ...]
    default: Expression
    type: DataType
    pads: bool = False


@dataclass(frozen=True, slots=True)
class FieldAccess:
    """`operand.name` of a ROW."""

    operand: Expression
    name: str
    type: DataType


Expression = Ref | Literal | Call | UserCall | Cast | Case | FieldAccess


def children(expression: Expression) -> tuple[Expression, ...]:
    match expression:
        case Call(args=args) | UserCall(args=args):
            return args
        case Cast(operand=operand) | FieldAccess(operand=operand):
            return (operand,)
        case Case(branches=branches, default=default):
            return (*(e for branch in branches for e in branch), default)
        case _:
            return ()


def references(expression: Expression) -> frozenset[int]:
    """The columns of the input that the expression reads."""
    return frozenset(part.index for part in walk(expression) if isinstance(part, Ref))


def may_differ(expression: Expression) -> bool:
    """Whether it matters how often and where it is computed: it is random, goes by the clock, or
    calls a user's function.
    """
    return any(
        isinstance(part, UserCall) or (isinstance(part, Call) and not part.function.deterministic)
        for part in walk(expression)
    )


def replaced(expression: Expression, by: Callable[[Expression], Expression | None]) -> Expression:
    """The expression with parts of it replaced, outermost first; None keeps a part unchanged."""
    found = by(expression)
    if found is not None:
        return found
    match expression:
        case Call() | UserCall():
            return replace(expression, args=tuple(replaced(arg, by) for arg in expression.args))
        case Cast() | FieldAccess():
            return replace(expression, operand=replaced(expression.operand, by))
        case Case():
            branches = tuple((replaced(c, by), replaced(v, by)) for c, v in expression.branches)
            return replace(expression, branches=branches, default=replaced(expression.default, by))
        case _:
            return expression


def over(expression: Expression, column: Callable[[Ref], Expression]) -> Expression:
    """The expression over another input: `column` maps its columns."""
    return replaced(expression, lambda part: column(part) if isinstance(part, Ref) else None)


def shifted(expression: Expression, by: int) -> Expression:
    """The same expression over an input with its columns shifted by `by` positions."""
    return over(expression, lambda ref: replace(ref, index=ref.index + by))


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and all its parts, outermost first."""
    yield expression
    for child in children(expression):
        yield from walk(child)
