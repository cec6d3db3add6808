"""The keys by which the rows of a subquery belong to those of the query around it, and the join
with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from tidemark import functions
from tidemark.dialect import span_of
from tidemark.plan import unsupported
from tidemark.plan.aggregates.distinct import distinct
from tidemark.plan.bind.joins import classified
from tidemark.plan.context import Context
from tidemark.plan.expressions import Expression, references, shifted
from tidemark.plan.joins.bound import BoundJoin, Conjunct
from tidemark.plan.nodes import Filter, How, Node, project
from tidemark.plan.relation import Relation
from tidemark.plan.scalars import literals
from tidemark.plan.scalars.conversions import apply
from tidemark.plan.scope import Scope
from tidemark.plan.subqueries.subquery_rows import SubqueryRows


@dataclass(frozen=True, slots=True)
class Keyed:
    """The rows of a subquery as its keys, each equal to a value of the outer row, followed by what
    it selects. A key that is NULL equals none, unless the condition says so.
    """

    node: Node
    outer: tuple[Expression, ...]
    on: tuple[Conjunct, ...]

    @classmethod
    def of(
        cls, rows: SubqueryRows, values: Sequence[Expression], left: Relation, at: exp.Expression
    ) -> Keyed:
        width, pairs = len(left.scope.visible), []
        for one in rows.on:
            if one.pair is None:
                raise unsupported.CORRELATED_GROUP.error(span_of(one.written))
            pairs.append(one.pair)
        if any(place < width for value in values for place in references(value)):
            raise unsupported.CORRELATED_VALUE.error(span_of(at))
        own = [shifted(value, -width) for value in values]
        names = [*(f"$key{n}" for n in range(len(pairs))), *(f"$value{n}" for n in range(len(own)))]
        keys: list[Expression] = [theirs for _, theirs in pairs]
        node = project(rows.node, [*keys, *own], names)
        for place, one in enumerate(rows.on):
            if not one.nulls_equal:
                node = Filter(node, known(node.edge.ref(place), at))
        return cls(node, tuple(mine for mine, _ in pairs), rows.on)

    @property
    def values(self) -> tuple[Expression, ...]:
        """What the subquery selects."""
        return tuple(self.node.edge.refs[len(self.outer) :])

    def equal(self, left: Relation, right: Node, context: Context) -> list[Conjunct]:
        """The keys of `left` are those of a node that has this one's keys in front."""
        width, binder = len(left.scope.visible), context.binder(left.scope)
        return [
            Conjunct.equality(
                mine,
                shifted(theirs, width),
                one.written,
                binder,
                width,
                nulls_equal=one.nulls_equal,
            )
            for mine, theirs, one in zip(self.outer, right.edge.refs, self.on, strict=False)
        ]


def known(value: Expression, at: exp.Expression) -> Expression:
    unknown = apply(functions.BUILT_IN["IS NULL"], [value], at)
    return apply(functions.BUILT_IN["NOT"], [unknown], at)


def flagged(node: Node, context: Context) -> Node:
    """The distinct rows, each with TRUE, which tells a row from none."""
    marked: list[Expression] = [*node.edge.refs, literals.boolean(True)]
    return distinct(project(node, marked, [*node.edge.names, "$some"]), at_end=context.batch)


def joined_with(
    left: Relation,
    right: Node,
    on: Sequence[Conjunct],
    how: How,
    at: exp.Expression,
    context: Context,
) -> Relation:
    """The rows with the columns of another node, which no name means."""
    hidden = Relation(right, Scope.hidden(right.edge))
    return classified(BoundJoin(left, hidden, how, tuple(on), (), at), context)
