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
from tidemark.plan.scalars.conversions import convert
from tidemark.plan.scope import Scope

COMPARISONS: Final = frozenset({"=", "<>", "<", "<=", ">", ">="})
LOGIC: Final = frozenset({"AND", "OR", "NOT", "IS TRUE", "IS FALSE", "IS UNKNOWN", "IS NULL"})
ARITHMETIC: Final = frozenset({"+", "-", "*", "NEG", "ABS"})
DECIMAL_ARITHMETIC: Final = frozenset({"+", "-", "*"})
OTHERS: Final = frozenset({"BETWEEN", "IN", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"})
CHOICES: Final = frozenset({"COALESCE", "IFNULL", "NULLIF", "GREATEST", "LEAST"})
STRINGS: Final = frozenset({"||", "CONCAT", "POSITION", "STARTSWITH", "ENDSWITH"})

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
    parts = [(_of_one_type(part, width), at) for part, at in parts]
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
        list(_one_sided(_of_one_type(part[0], width), width, part[1]))
    except NotSupported:
        return False
    return True


def _of_one_type(part: Expression, width: int) -> Expression:
    """The condition with numbers and times that meet in an operation between the sides converted
    to one type, where that loses nothing: each side converts its own.
    """

    def converted(inner: Expression) -> Expression | None:
        if not isinstance(inner, Call) or not _is_between(inner, width):
            return None
        args = [_of_one_type(arg, width) for arg in inner.args]
        own = [not _is_between(arg, width) for arg in args]
        common = _type_for(inner, [arg.type for arg in args], own)
        return replace(inner, args=tuple(convert(arg, common) if common else arg for arg in args))

    return replaced(part, converted)


def _type_for(call: Call, types: Sequence[t.DataType], sides: Sequence[bool]) -> t.DataType | None:
    """The type that the arguments are converted to, if they are; those of `sides` are values of
    one side.
    """
    name = call.function.name
    if name in ARITHMETIC and isinstance(call.type, t.Double):
        return None if _alike([*types], ((t.Double,),)) else t.Double()
    common = _common(types) if name in COMPARISONS | OTHERS else None
    # Values of both sides are compared as they are if one of these types is DECIMAL.
    computed = [type_ for type_, own in zip(types, sides, strict=True) if not own]
    decimal = any(isinstance(type_, t.Decimal) for type_ in (common, *computed))
    return None if decimal and computed else common


def _is_between(part: Expression, width: int) -> bool:
    """Whether it has columns of both sides."""
    used = references(part)
    return bool(used) and min(used) < width <= max(used)


def _common(types: Sequence[t.DataType]) -> t.DataType | None:
    """The type of all values of these types, or None if they need none or would lose digits."""
    kinds = (t.NUMERICS, (t.Timestamp,), (t.TimestampLtz,))
    if _alike([*types], _COMPARABLE) or not _alike([*types], kinds):
        return None
    return t.widest_type(types) if _fits(types) else None


def _fits(types: Sequence[t.DataType]) -> bool:
    """Whether there is a DECIMAL for all digits of these numbers, if they are compared as one."""
    if not any(isinstance(type_, t.Decimal) for type_ in types):
        return True
    if any(isinstance(type_, t.Float | t.Double) for type_ in types):
        return True
    decimals = [t.as_decimal(type_) for type_ in types]
    digits = max(each.precision - each.scale for each in decimals)
    return digits + max(each.scale for each in decimals) <= t.MAX_DECIMAL_PRECISION


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
        case Cast(operand=operand, type=t.Double()) if isinstance(operand.type, t.INTEGERS):
            return
        case Cast(operand=operand, type=type_) if _in_one_group(operand.type, type_, (t.INTEGERS,)):
            if t.INTEGERS.index(type(operand.type)) <= t.INTEGERS.index(type(type_)):
                return
        case Call(function=function, args=args):
            types = [arg.type for arg in args]
            if function.name in LOGIC or function.name == "TIMESTAMPDIFF":
                return
            if function.name == "IF" and types[1].same_as(types[2]):
                return
            if function.name in CHOICES and all(type_.same_as(types[0]) for type_ in types):
                return
            if function.name in STRINGS and all(isinstance(e, t.CHARACTERS) for e in types):
                return
            if function.name in COMPARISONS | OTHERS and _alike(types, _COMPARABLE):
                return
            if function.name in COMPARISONS | OTHERS and _of_numbers(types) and _fits(types):
                return
            if function.name in DECIMAL_ARITHMETIC and _has_few_digits(types):
                return
            if function.name in ARITHMETIC and _alike(
                [*types, part.type], (t.INTEGERS, (t.Double,))
            ):
                return
    raise unsupported.OUTER_CONDITION.error(span_of(at))


def _of_numbers(types: Sequence[t.DataType]) -> bool:
    return all(isinstance(type_, t.NUMERICS) for type_ in types)


def _has_few_digits(types: Sequence[t.DataType]) -> bool:
    """Whether sums and products of these decimals are exact in 128 bits."""
    decimals = [type_ for type_ in types if isinstance(type_, t.Decimal)]
    digits = sum(type_.precision + type_.scale for type_ in decimals)
    return len(decimals) == len(types) and digits < t.MAX_DECIMAL_PRECISION - 1


def _in_one_group(one: t.DataType, other: t.DataType, groups: tuple[tuple[type, ...], ...]) -> bool:
    return any(isinstance(one, group) and isinstance(other, group) for group in groups)


def _alike(types: list[t.DataType], groups: tuple[tuple[type, ...], ...]) -> bool:
    first, *others = types
    same = all(other.same_as(first) for other in others)
    return same or all(_in_one_group(first, other, groups) for other in others)
