"""Conditions that an operator evaluates on pairs of rows, where Spark cannot help.

What refers to one side only is computed before, as a column of that side. What remains between the
two sides must consist of operations that Polars evaluates exactly as Flink does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final

from sqlglot import exp

from tidemark import types as t
from tidemark.dialect import span_of
from tidemark.errors import NotSupported
from tidemark.plan import unsupported
from tidemark.plan.conjunctions import both
from tidemark.plan.expressions import (
    Call,
    Case,
    Cast,
    Expression,
    Literal,
    Ref,
    children,
    references,
    replaced,
    shifted,
)
from tidemark.plan.nodes import Node, project
from tidemark.plan.scope import Scope

COMPARISONS: Final = frozenset({"=", "<>", "<", "<=", ">", ">="})
LOGIC: Final = frozenset({"AND", "OR", "NOT", "IS TRUE", "IS FALSE", "IS UNKNOWN", "IS NULL"})
ARITHMETIC: Final = frozenset({"+", "-", "*", "NEG", "ABS"})
OTHERS: Final = frozenset({"BETWEEN", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"})

# Values within one of these groups compare in Polars as in Flink.
_COMPARABLE = (t.INTEGERS, (t.Float, t.Double), t.CHARACTERS, (t.Boolean,), (t.Date,), (t.Time,))


@dataclass(frozen=True, slots=True)
class Prepared:
    """Two nodes with the additional columns that a condition needs, and the condition over the
    columns of both.
    """

    left: Node
    right: Node
    condition: Expression


def prepared(
    left: Node, right: Node, parts: Sequence[tuple[Expression, exp.Expression]]
) -> Prepared:
    """All `parts`, conditions over the two nodes with their SQL, as one condition.

    Raises NotSupported if an operation between the sides cannot be evaluated.
    """
    width = len(left.edge.columns)
    pieces: tuple[list[Expression], list[Expression]] = ([], [])
    for part, at in parts:
        for side, piece in _one_sided(part, width, at):
            if piece not in pieces[side]:
                pieces[side].append(piece)
    grown = width + len(pieces[0])

    def column(part: Expression) -> Expression | None:
        for side, own in enumerate(pieces):
            if part in own:
                before = grown + len(right.edge.columns) if side else width
                place = before + own.index(part)
                return Ref(place, _name(side, own.index(part)), part.type)
        if isinstance(part, Ref) and part.index >= width:
            return replace(part, index=part.index + len(pieces[0]))
        return None

    condition = reduce(both, [replaced(part, column) for part, _ in parts])
    return Prepared(
        _with_columns(left, pieces[0], 0),
        _with_columns(right, [shifted(piece, -width) for piece in pieces[1]], 1),
        condition,
    )


def evaluates(part: tuple[Expression, exp.Expression], width: int) -> bool:
    """Whether an operator can test a condition over two nodes, the left one of this width."""
    try:
        list(_one_sided(part[0], width, part[1]))
    except NotSupported:
        return False
    return True


def _one_sided(
    part: Expression, width: int, at: exp.Expression
) -> Iterator[tuple[int, Expression]]:
    """The largest parts of an expression that need one side only, and are not columns yet."""
    if isinstance(part, Ref) or _is_plain(part):
        return
    used = references(part)
    if not used or max(used) < width:
        yield 0, part
    elif min(used) >= width:
        yield 1, part
    else:
        _check(part, at)
        for child in children(part):
            yield from _one_sided(child, width, at)


def _is_plain(part: Expression) -> bool:
    """Constants other than numbers, strings and truth values are columns too."""
    return isinstance(part, Literal) and isinstance(part.value, bool | int | str)


def _with_columns(node: Node, added: list[Expression], side: int) -> Node:
    if not added:
        return node
    scope = Scope.of(node.edge)
    own = [scope.ref(index) for index in range(len(node.edge.columns))]
    names = [*node.edge.names, *(_name(side, number) for number in range(len(added)))]
    return project(node, [*own, *added], names)


def _name(side: int, number: int) -> str:
    return f"$condition{'lr'[side]}{number}"


def _check(part: Expression, at: exp.Expression) -> None:
    """Whether Polars evaluates the outermost operation of an expression as Flink does."""
    match part:
        case Case():
            return
        case Cast(operand=operand, type=type_) if _in_one_group(operand.type, type_, (t.INTEGERS,)):
            if t.INTEGERS.index(type(operand.type)) <= t.INTEGERS.index(type(type_)):
                return
        case Call(function=function, args=args):
            types = [arg.type for arg in args]
            if function.name in LOGIC:
                return
            if function.name in COMPARISONS | OTHERS and _alike(types, _COMPARABLE):
                return
            if function.name in ARITHMETIC and _alike(
                [*types, part.type], (t.INTEGERS, (t.Double,))
            ):
                return
    raise unsupported.OUTER_CONDITION.error(span_of(at))


def _in_one_group(one: t.DataType, other: t.DataType, groups: tuple[tuple[type, ...], ...]) -> bool:
    return any(isinstance(one, group) and isinstance(other, group) for group in groups)


def _alike(types: list[t.DataType], groups: tuple[tuple[type, ...], ...]) -> bool:
    first, *others = types
    same = all(other.same_as(first) for other in others)
    return same or all(_in_one_group(first, other, groups) for other in others)
