"""`LATERAL (SELECT ... FROM UNNEST(l.tags) ...)`: a subquery over nothing but collections of the
row before it. It is no join of two inputs: each row is emitted with the elements that it selects.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from sqlglot import exp

from tidemark import functions
from tidemark import types as t
from tidemark.dialect import span_of
from tidemark.plan.aggregates.calls import is_grouped
from tidemark.plan.bind.collections import is_collection, join_collection, meeting
from tidemark.plan.conjunctions import conjunction
from tidemark.plan.context import Context
from tidemark.plan.expressions import Case, Expression, Ref
from tidemark.plan.nodes import Column, Node, Unnest, project
from tidemark.plan.relation import Relation, check_distinct, check_number
from tidemark.plan.scalars import literals
from tidemark.plan.scalars.conversions import apply
from tidemark.plan.scope import InnerFirst, Scope, Visible
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

    def beside(self, left: Scope, table: str, names: tuple[str, ...]) -> Relation:
        """The columns before the subquery, and beside them its values as those of a table."""
        refs = self.relation.node.edge.refs[: len(left.visible)]
        own = [*(ref.name for ref in refs), *names]
        return beside(left, project(self.relation.node, [*refs, *self.values], own), table)

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
    keep the rows without elements of only one. The first relation may be such a subquery again.
    """
    if not isinstance(query, exp.Select) or query.args.get("from_") is None:
        return False
    if any(value for key, value in query.args.items() if key not in _PLAIN):
        return False
    joins = query.args.get("joins") or []
    if is_grouped(query, context.catalogs) or (outer and joins):
        return False
    first, others = query.args["from_"].this, [join.this for join in joins]
    if isinstance(first, exp.Subquery) and not outer:
        return is_of_elements(first.this, context, outer=False) and _are_collections(
            others, context
        )
    return _are_collections([first, *others], context)


def _are_collections(relations: list[exp.Expression], context: Context) -> bool:
    return all(is_collection(relation, context) for relation in relations)


def bind_elements(left: Relation, select: exp.Select, context: Context, *, outer: bool) -> Elements:
    """Each row with what the subquery selects for it."""
    relation, width, first = left, len(left.scope.visible), select.args["from_"].this
    joins = list(select.args.get("joins") or [])
    if isinstance(first, exp.Subquery):
        inner = bind_elements(left, first.this, context, outer=False)
        relation = inner.beside(left.scope, *names_of(first, inner.names))
    else:
        joins.insert(0, exp.Join(this=first, side="LEFT" if outer else None))
    for join in joins:
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


def beside(left: Scope, node: Node, table: str) -> Relation:
    """The left columns under their names, and the others as those of the subquery."""
    width, path = len(left.visible), (table,) if table else ()
    mine = zip(left.visible, node.edge.columns, strict=False)
    visible = (replace(each, column=column) for each, column in mine)
    added = (Visible(path, column) for column in node.edge.columns[width:])
    return Relation(node, Scope((*visible, *added)))


def names_of(written: exp.Expression, own: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The alias, and the columns under the names that it gives them."""
    alias = written.args.get("alias")
    if alias is None:
        return "", own
    names = tuple(column.name for column in alias.args.get("columns") or ())
    if names:
        check_number(names, [Column(name, literals.null().type) for name in own], span_of(alias))
        check_distinct(names, span_of(alias))
    return alias.name, names or own
