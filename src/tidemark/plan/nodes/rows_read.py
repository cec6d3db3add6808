"""Which fields of rows a query reads, so that a connector need not convert the others.

A projection above a table decides that, also through filters and watermarks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from tidemark import types as t
from tidemark.plan.expressions import Expression, FieldAccess, Ref, children
from tidemark.plan.nodes.assign_watermark import AssignWatermark
from tidemark.plan.nodes.base import Node
from tidemark.plan.nodes.filter import Filter
from tidemark.plan.nodes.project import Project
from tidemark.plan.nodes.scan import Scan

# What is read of a value: its fields, each with what is read of that; None is all of it.
Wanted: TypeAlias = "dict[str, Wanted] | None"


def with_rows_read(node: Node) -> Node:
    """The same node, whose scans know what is read of the rows in their columns."""
    return _reading(node, [None] * len(node.edge.columns))


def _reading(node: Node, wanted: Sequence[Wanted]) -> Node:
    match node:
        case Scan():
            # The watermark of a partition is computed where it is read.
            return node if node.partitioned else replace(node, rows_read=_rows_read(node, wanted))
        case Project():
            below = _nothing(node.input)
            for expression, of_value in zip(node.expressions, wanted, strict=True):
                _ask(below, expression, of_value)
            return node.with_inputs([_reading(node.input, below)])
        case Filter():
            below = list(wanted)
            _ask(below, node.condition, None)
            return node.with_inputs([_reading(node.input, below)])
        case AssignWatermark():
            below = list(wanted)
            _ask(below, node.expression, None)
            return node.with_inputs([_reading(node.input, below)])
        case _:
            return node.with_inputs([with_rows_read(below) for below in node.inputs])


def _nothing(node: Node) -> list[Wanted]:
    return [{} for _ in node.edge.columns]


def _ask(below: list[Wanted], expression: Expression, wanted: Wanted) -> None:
    """Notes what an expression reads of the columns below it if this is read of its value."""
    match expression:
        case Ref(index=place):
            below[place] = _both(below[place], wanted)
        case FieldAccess(operand=operand, name=name):
            _ask(below, operand, {name: wanted})
        case _:
            for child in children(expression):
                _ask(below, child, None)


def _both(one: Wanted, other: Wanted) -> Wanted:
    if one is None or other is None:
        return None
    together = dict(one)
    for name, of_field in other.items():
        together[name] = _both(together[name], of_field) if name in together else of_field
    return together


def _rows_read(scan: Scan, wanted: Sequence[Wanted]) -> tuple[tuple[str, t.Row], ...]:
    return tuple(
        (column.name, narrow)
        for column, of_value in zip(scan.columns, wanted, strict=True)
        if isinstance(column.type, t.Row)
        and of_value
        and (narrow := _narrow(column.type, of_value)) != column.type
    )


def _narrow(row: t.Row, wanted: dict[str, Wanted]) -> t.Row:
    """The row with the wanted fields only."""
    fields = []
    for each in row.fields:
        if each.name not in wanted:
            continue
        of_field = wanted[each.name]
        if isinstance(each.type, t.Row) and of_field:
            fields.append(replace(each, type=_narrow(each.type, of_field)))
        else:
            fields.append(each)
    return replace(row, fields=tuple(fields))
