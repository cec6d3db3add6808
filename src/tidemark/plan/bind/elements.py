"""`LATERAL (SELECT ... FROM UNNEST(l.tags) ...)`: a subquery over nothing but collections of the
row before it. It is no join of two inputs: each row is emitted with the elements that it selects.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from sqlglot import exp

from tidemark import functions
from tidemark import types as t
from tidemark.plan.aggregates.calls import is_grouped
from tidemark.plan.bind.collections import is_collection, join_collection, meeting
from tidemark.plan.conjunctions import conjunction
from tidemark.plan.context import Context
from tidemark.plan.expressions import Case, Expression, Ref
from tidemark.plan.nodes import Column, Unnest
from tidemark.plan.relation import Relation
from tidemark.plan.scalars import literals
from tidemark.plan.scalars.conversions import apply
from tidemark.plan.scope import InnerFirst, Scope
from tidemark.plan.select_list import selected

# What such a subquery may consist of.
_PLAIN: Final = {"expressions", "from_", "joins", "where"}


@dataclass(frozen=True, slots=True)
class Elements:
    """The rows before the subquery, each with its elements, and what it selects of both."""

    relation: Relation
    values: tuple[Expression, ...]
    names: tuple[str, ...]

    def meeting(self, conditions: list[Expression]) -> Elements:
        relation = meeting(self.relation, conjunction(conditions))
        return replace(self, relation=relation)

    def padded(self, width: int) -> Elements:
        """The same after LEFT JOIN: all values are NULL where there is no element."""
        if all(isinstance(value, Ref) and value.index >= width for value in self.values):
            return self
        node = self.relation.node
        assert isinstance(node, Unnest)
        if not node.ordinality:
            numbers = Column("ORDINALITY", t.Int())
            node = replace(node, ordinality=True, added=(*node.added, numbers))
        place = Scope.of(node.edge).ref(len(node.edge.columns) - 1)
        values = tuple(_unless_null(place, value) for value in self.values)
        return replace(self, relation=replace(self.relation, node=node), values=values)


def is_of_elements(query: exp.Expression, context: Context, *, outer: bool) -> bool:
    """Whether a subquery selects from collections only, each element for itself. LEFT JOIN can
    keep the rows without elements of only one.
    """
    if not isinstance(query, exp.Select) or query.args.get("from_") is None:
        return False
    if any(value for key, value in query.args.items() if key not in _PLAIN):
        return False
    joins = query.args.get("joins") or []
    if is_grouped(query, context.catalogs) or (outer and joins):
        return False
    relations = [query.args["from_"].this, *(join.this for join in joins)]
    return all(is_collection(relation, context) for relation in relations)


def bind_elements(left: Relation, select: exp.Select, context: Context, *, outer: bool) -> Elements:
    """Each row with what the subquery selects for it."""
    relation, width = left, len(left.scope.visible)
    first = exp.Join(this=select.args["from_"].this, side="LEFT" if outer else None)
    for join in [first, *(select.args.get("joins") or [])]:
        relation = join_collection(relation, join, context)
    scope = InnerFirst(left.scope, Scope(relation.scope.visible[width:]))
    binder, where = context.binder(scope), select.args.get("where")
    items = selected(select, scope, binder)
    elements = Elements(relation, tuple(v for v, _ in items), tuple(name for _, name in items))
    tests = [binder.condition(where.this, "WHERE")] if where is not None else []
    return elements.meeting(tests)


def _unless_null(place: Expression, value: Expression) -> Expression:
    type_ = value.type.with_nullable(True)
    missing = apply(functions.BUILT_IN["IS NULL"], [place], exp.Null())
    return Case(((missing, literals.null(type_)),), value, type_)
