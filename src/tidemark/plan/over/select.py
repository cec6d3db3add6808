"""SELECT with OVER: operators add the results to the rows, and the SELECT list uses them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from tidemark.dialect import span_of
from tidemark.plan.aggregates.calls import Columns, finished
from tidemark.plan.context import Context
from tidemark.plan.expressions import Expression, Ref
from tidemark.plan.nodes import Node, OverFunction, project
from tidemark.plan.over.calls import bind_function, without_nulls_clause
from tidemark.plan.over.modes import over_node
from tidemark.plan.over.windows import BoundWindow, bound_frame, bound_window, resolved
from tidemark.plan.relation import Relation
from tidemark.plan.scalars.binder import Binder
from tidemark.plan.select_list import project_select


def has_over(select: exp.Select) -> bool:
    """Whether the SELECT list calls functions with OVER."""
    return any(True for item in select.expressions for _ in windows_within(item))


def windows_within(node: exp.Expression) -> Iterator[exp.Window]:
    """The calls with OVER in an expression, excluding those in subqueries."""
    if isinstance(node, exp.Query):
        return
    if isinstance(node, exp.Window):
        yield node
        return
    for child in node.iter_expressions():
        yield from windows_within(child)


def bind_over(select: exp.Select, relation: Relation, context: Context) -> Node:
    """The plan of such a SELECT over the rows of FROM and WHERE."""
    called = _Called.of(select, relation, context)
    node, results = called.node(relation, context)
    binder = _OverBinder(relation.scope, context.catalogs, results)
    return project_select(select, Relation(node, relation.scope), context, binder)


@dataclass(slots=True)
class _Called:
    """The calls with OVER, by window, and the columns that they need besides those of the rows."""

    columns: Columns
    by_window: dict[BoundWindow, list[tuple[exp.Window, OverFunction]]] = field(
        default_factory=dict
    )

    @classmethod
    def of(cls, select: exp.Select, relation: Relation, context: Context) -> _Called:
        called = cls(Columns(list(relation.node.edge.refs)))
        binder = context.binder(relation.scope)
        for item in select.expressions:
            for window in windows_within(item):
                called.add(window, resolved(window, select), binder)
        return called

    def add(self, written: exp.Window, window: exp.Window, binder: Binder) -> None:
        bound = bound_window(window, binder, self.columns)
        order = tuple(self.columns.expressions[by.column] for by in bound.order)
        frame = bound_frame(window, order, binder)
        function = bind_function(window, frame, binder, self.columns)
        self.by_window.setdefault(bound, []).append((written, function))

    def node(self, relation: Relation, context: Context) -> tuple[Node, dict[int, Expression]]:
        """An operator for each window, one above the other, and the result of each call."""
        edge = relation.node.edge
        added = range(len(edge.columns), len(self.columns.expressions))
        names = [*edge.names, *(f"$arg{place}" for place in added)]
        node = project(relation.node, self.columns.expressions, names)
        results: dict[int, Expression] = {}
        for window, calls in self.by_window.items():
            before = len(node.edge.columns)
            functions = tuple(dict.fromkeys(function for _, function in calls))
            node = over_node(node, window, functions, context, span_of(calls[0][0]))
            for written, function in calls:
                place = before + functions.index(function)
                name = node.edge.columns[place].name
                result = Ref(place, name, function.call.type)
                results[id(written)] = finished(without_nulls_clause(written.this), result)
        return node, results


@dataclass(frozen=True, slots=True)
class _OverBinder(Binder):
    """Binds expressions in which calls with OVER are columns."""

    results: dict[int, Expression]

    def bind(self, node: exp.Expression) -> Expression:
        found = self.results.get(id(node))
        return Binder.bind(self, node) if found is None else found
