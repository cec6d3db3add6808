"""UNION, INTERSECT and EXCEPT, with and without ALL."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sqlglot import exp

from tidemark import types as t
from tidemark.dialect import span_of
from tidemark.errors import PlanError
from tidemark.functions import BUILT_IN
from tidemark.functions.rewriting import REPLICATED
from tidemark.plan.aggregates.distinct import distinct
from tidemark.plan.context import Context
from tidemark.plan.expressions import Call, Case, Cast, Expression
from tidemark.plan.nodes import (
    AggregateCall,
    Column,
    Filter,
    GroupAggregate,
    How,
    Node,
    RegularJoin,
    UnionAll,
    Unnest,
    project,
)
from tidemark.plan.nodes.union_all import merged
from tidemark.plan.scalars import literals
from tidemark.plan.scalars.conversions import apply, convert
from tidemark.plan.scope import Scope

_NAMES: Final = {exp.Union: "UNION", exp.Intersect: "INTERSECT", exp.Except: "EXCEPT"}
_COUNT: Final = t.BigInt(nullable=False)


def bind_set_operation(node: exp.SetOperation, context: Context) -> Node:
    """The rows of a set operation, under the names of its first operand."""
    written = _operands(node)
    bound = [context.bind_query(each) for each in written]
    operands = _of_one_type(node, written, bound, context)
    is_distinct = bool(node.args.get("distinct"))
    if isinstance(node, exp.Union):
        _warn_of_watermarks(operands, context)
        united = _united(operands)
        return distinct(united, at_end=context.batch) if is_distinct else united
    left, right = operands
    if not is_distinct:
        return _counted(node, left, right, context)
    how: How = "semi" if isinstance(node, exp.Intersect) else "anti"
    rows: Node = _compared(left, right, how, context)
    # Rows that are distinct on the left stay so.
    rows = rows if _is_distinct(node.this) else distinct(rows, at_end=context.batch)
    return _as_nullable_as_both(rows, right)


def _operands(node: exp.SetOperation) -> list[exp.Expression]:
    """The operands from left to right. A chain of UNIONs is one operation; a UNION to the left of
    a UNION ALL is an operand of it.
    """
    first = node.this
    chained = isinstance(node, exp.Union) and isinstance(first, exp.Union)
    chained = chained and not any(first.args.get(key) for key in _OF_ITS_OWN)
    chained = chained and bool(node.args.get("distinct") or not first.args.get("distinct"))
    return [*(_operands(first) if chained else [first]), node.expression]


_OF_ITS_OWN: Final = ("with_", "order", "limit", "offset")


def _is_distinct(query: exp.Expression) -> bool:
    if isinstance(query, exp.Subquery):
        return _is_distinct(query.this)
    limited = query.args.get("limit") or query.args.get("offset")
    return bool(query.args.get("distinct")) and not limited


# --- types -------------------------------------------------------------------------------------


def _of_one_type(
    node: exp.SetOperation,
    written: list[exp.Expression],
    operands: list[Node],
    context: Context,
) -> list[Node]:
    """The operands with columns of the same types."""
    name = _NAMES[type(node)] + ("" if node.args.get("distinct") else " ALL")
    columns = operands[0].edge.columns
    for operand, of_operand in zip(operands[1:], written[1:], strict=True):
        columns = _merged_columns(name, columns, operand.edge.columns, of_operand)
    if isinstance(node, exp.Union):
        _warn_of_watermarks(operands, context)
        columns = tuple(
            _time_of_all(column, place, operands) for place, column in enumerate(columns)
        )
    types = tuple(column.type for column in columns)
    return [_as_types(operand, types) for operand in operands]


def _time_of_all(column: Column, place: int, operands: list[Node]) -> Column:
    """The event time of all operands is that of the first one, even if the others are in local time
    and it is not, or the other way round.
    """
    times = [operand.edge.columns[place] for operand in operands]
    if any(time.time != "event" for time in times):
        return column
    nullable = any(time.type.nullable for time in times)
    return replace(column, type=times[0].type.with_nullable(nullable))


def _warn_of_watermarks(operands: list[Node], context: Context) -> None:
    for times in zip(*(operand.edge.columns for operand in operands), strict=False):
        kinds = {type(time.type) for time in times}
        if all(time.time == "event" for time in times) and len(kinds) > 1:
            context.warn(
                "UNION ALL of a TIMESTAMP and a TIMESTAMP_LTZ event time compares their "
                "watermarks as they are (same in Flink): unless 'table.local-time-zone' is UTC, "
                "they are hours apart, and rows wait or are late"
            )


def _merged_columns(
    name: str, left: tuple[Column, ...], right: tuple[Column, ...], written: exp.Expression
) -> tuple[Column, ...]:
    if len(left) != len(right):
        raise PlanError(
            f"{name} requires the same number of columns, found {len(left)} and {len(right)}",
            at=span_of(written),
            notes={
                "left": ", ".join(column.name for column in left),
                "right": ", ".join(column.name for column in right),
            },
        )
    return tuple(_merged_column(name, a, b, written) for a, b in zip(left, right, strict=True))


def _merged_column(name: str, left: Column, right: Column, written: exp.Expression) -> Column:
    if t.common_type([left.type, right.type]) is None:
        raise PlanError(
            f"{name}: column `{left.name}` is {left.type.text()} on the left and "
            f"{right.type.text()} on the right",
            at=span_of(written),
        )
    return merged(left, right)


def _as_types(node: Node, types: tuple[t.DataType, ...]) -> Node:
    if all(a.same_as(b) for a, b in zip(node.edge.types, types, strict=True)):
        return node
    scope = Scope.of(node.edge)
    expressions = [convert(scope.ref(index), type_) for index, type_ in enumerate(types)]
    return project(node, expressions, node.edge.names)


def _as_nullable_as_both(rows: Node, right: Node) -> Node:
    """Rows of the left side in the type of the operation: a column is nullable if it is on either
    side, even if no row of the right side is among the result.
    """
    scope = Scope.of(rows.edge)
    expressions: list[Expression] = []
    for place, other in enumerate(right.edge.types):
        ref = scope.ref(place)
        widened = other.nullable and not ref.type.nullable
        expressions.append(Cast(ref, ref.type.with_nullable(True)) if widened else ref)
    return project(rows, expressions, rows.edge.names)


def _united(operands: list[Node]) -> UnionAll:
    flat: list[Node] = []
    for operand in operands:
        flat.extend(operand.branches if isinstance(operand, UnionAll) else (operand,))
    return UnionAll(tuple(flat))


# --- INTERSECT and EXCEPT ----------------------------------------------------------------------


def _compared(left: Node, right: Node, how: How, context: Context) -> RegularJoin:
    """The rows of the left side that are, or are not, on the right side; NULLs are equal."""
    keys = tuple(range(len(left.edge.columns)))
    return RegularJoin(
        left=left,
        right=right,
        left_keys=keys,
        right_keys=keys,
        nulls_equal=(True,) * len(keys),
        how=how,
        at_end=context.batch,
    )


def _counted(node: exp.SetOperation, left: Node, right: Node, context: Context) -> Node:
    """Each row as often as both sides have it, or as often as the left side has it more often."""
    width, names = len(left.edge.columns), left.edge.names
    marked = UnionAll((_marked(left, 0), _marked(right, 1)))
    calls = tuple(AggregateCall("COUNT", (width + side,), _COUNT) for side in (0, 1))
    counts = GroupAggregate(marked, tuple(range(width)), calls, context.batch)
    of_left, of_right = counts.edge.ref(width), counts.edge.ref(width + 1)
    if isinstance(node, exp.Intersect):
        fewer = apply(BUILT_IN["<"], [of_left, of_right], node)
        wanted: Expression = Case(((fewer, of_left),), of_right, _COUNT)
    else:
        wanted = apply(BUILT_IN["-"], [of_left, of_right], node)
    number = convert(wanted, _COUNT)
    some = convert(apply(BUILT_IN[">"], [number, literals.integer(0)], node), t.Boolean())
    copies = Call(REPLICATED, (number,), t.Array(t.Boolean(nullable=False), nullable=False))
    copied = Unnest(Filter(counts, some), copies, (Column("$copy", t.Boolean(nullable=False)),))
    return project(copied, [copied.edge.ref(place) for place in range(width)], names)


def _marked(node: Node, side: int) -> Node:
    """The rows with two more columns: that of their side is TRUE, the other one NULL."""
    marks: list[Expression] = [literals.null(t.Boolean()), literals.null(t.Boolean())]
    marks[side] = literals.boolean(True)
    return project(node, [*node.edge.refs, *marks], [*node.edge.names, "$left", "$right"])
