"""The SELECT list: its expressions over the rows of FROM and WHERE, and their names."""

from __future__ import annotations

from sqlglot import exp

from tidemark import types as t
from tidemark.dialect import nodes, span_of
from tidemark.dialect.keywords import CALLED_WITHOUT_PARENTHESES
from tidemark.errors import PlanError
from tidemark.plan.context import Context
from tidemark.plan.expressions import Expression
from tidemark.plan.nodes import Node, project, without_unread_over
from tidemark.plan.relation import Relation
from tidemark.plan.scalars.binder import Binder
from tidemark.plan.scope import Scope, access


def project_select(
    select: exp.Select, relation: Relation, context: Context, binder: Binder | None = None
) -> Node:
    """The SELECT list over the rows of FROM and WHERE; by `binder`, if some parts of expressions
    have been bound already.
    """
    items = selected(select, relation.scope, binder or context.binder(relation.scope))
    node = project(relation.node, [value for value, _ in items], [name for _, name in items])
    return without_unread_over(node)


def selected(select: exp.Select, scope: Scope, binder: Binder) -> list[tuple[Expression, str]]:
    """What a SELECT selects, and the names of its columns."""
    items: list[tuple[Expression, str]] = []
    for item in select.expressions:
        items += _select_item(item, scope, binder, len(items))
    return items


def _select_item(
    item: exp.Expression, scope: Scope, binder: Binder, position: int
) -> list[tuple[Expression, str]]:
    if isinstance(item, exp.Star):
        return [(ref, ref.name) for ref in scope.star((), span_of(item))]
    if isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
        return _qualified_star(item, scope)
    if isinstance(item, exp.Alias):
        return [(binder.bind(item.this), item.alias)]
    return [(binder.bind(item), name_of(item, position))]


def _qualified_star(item: exp.Column, scope: Scope) -> list[tuple[Expression, str]]:
    """`table.*`, or `row.*` for all fields of a ROW."""
    path, at = tuple(part.name for part in item.parts[:-1]), span_of(item)
    if scope.has_table(path) or (len(path) == 1 and not scope.has_column(path[0])):
        return [(ref, ref.name) for ref in scope.star(path, at)]
    row = scope.resolve(path, at)
    if not isinstance(row.type, t.Row):
        raise PlanError(f"`.*` requires a ROW, not {row.type.text()}", at=at)
    return [(access(row, field.name, at), field.name) for field in row.type.fields]


def name_of(item: exp.Expression, position: int) -> str:
    """The column's own name, including that of `CURRENT_DATE` without parentheses; others are
    numbered by position. Parentheses around it change nothing: `DISTINCT(a)` is a column `a`.
    """
    while isinstance(item, exp.Paren):
        item = item.this
    path = nodes.name_path(item)
    if path:
        return path[-1].name
    if isinstance(item, exp.Anonymous) and item.name.upper() in CALLED_WITHOUT_PARENTHESES:
        return f"EXPR${position}" if nodes.has_parentheses(item) else item.name
    return f"EXPR${position}"
