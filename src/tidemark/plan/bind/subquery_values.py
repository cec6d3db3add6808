"""Subqueries in place of values: each row is joined with the one row that has the value.

As Flink does it: a scalar subquery is a left join with what it selects for the row, of which there
must not be more than one; EXISTS is a left join with the distinct keys of the subquery, and IN with
its distinct values and their numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from tidemark import functions
from tidemark import types as t
from tidemark.dialect import span_of
from tidemark.errors import PlanError
from tidemark.functions.rewriting import SINGLE_VALUE
from tidemark.plan import unsupported
from tidemark.plan.aggregates.distinct import distinct
from tidemark.plan.bind.joins import classified
from tidemark.plan.context import Context
from tidemark.plan.expressions import Call, Case, Expression, references, shifted
from tidemark.plan.joins.bound import BoundJoin, Conjunct
from tidemark.plan.nodes import AggregateCall, Filter, GroupAggregate, How, Node, project
from tidemark.plan.relation import Relation
from tidemark.plan.scalars import literals
from tidemark.plan.scalars.conversions import apply
from tidemark.plan.scope import Scope
from tidemark.plan.subqueries.conditions import fields_of
from tidemark.plan.subqueries.rows import SubqueryRows, bind_rows
from tidemark.plan.subqueries.values import ValueSubquery, has_values, take_values

_COUNT = t.BigInt(nullable=False)


def with_values(
    relation: Relation,
    written: Sequence[exp.Expression],
    context: Context,
    *,
    tests: bool = False,
) -> tuple[Relation, list[exp.Expression]]:
    """The rows with columns for the subqueries in expressions over them, and the expressions with
    the numbers of these values, which the scope knows. Tests drop rows for which they are not true.
    """
    if not any(map(has_values, written)):
        return relation, list(written)
    relation = _with_some_column(relation)
    values = relation.scope.values
    plain, found = take_values(written, len(values), tests=tests)
    for one in found:
        relation, value = _with_value(relation, one, context)
        values = (*values, value)
        relation = replace(relation, scope=Scope(relation.scope.visible, values))
    return relation, plain


def _with_some_column(relation: Relation) -> Relation:
    """The rows, with a column that no name means if they have none: without FROM. A join needs one
    of each side.
    """
    if relation.node.edge.columns:
        return relation
    node = project(relation.node, [literals.boolean(True)], ["$row"])
    return Relation(node, Scope.hidden(node.edge))


def _with_value(
    left: Relation, found: ValueSubquery, context: Context
) -> tuple[Relation, Expression]:
    match found.node:
        case exp.Exists():
            return _exists(left, found.node, context)
        case exp.In():
            return _in(left, found.node, context)
        case exp.Any() | exp.All():
            raise unsupported.QUANTIFIED_VALUE.error(span_of(found.node))
    return _scalar(left, found, context)


def _joined(
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


# --- the keys of a subquery --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Keyed:
    """The rows of a subquery as its keys, each equal to a value of the outer row, followed by what
    it selects. A key that is NULL equals none.
    """

    node: Node
    outer: tuple[Expression, ...]
    written: tuple[exp.Expression, ...]

    @classmethod
    def of(
        cls, rows: SubqueryRows, values: Sequence[Expression], left: Relation, at: exp.Expression
    ) -> _Keyed:
        width, pairs = len(left.scope.visible), []
        for one in rows.on:
            if one.pair is None or one.nulls_equal:
                raise unsupported.CORRELATED_GROUP.error(span_of(one.written))
            pairs.append(one.pair)
        if any(place < width for value in values for place in references(value)):
            raise unsupported.CORRELATED_VALUE.error(span_of(at))
        own = [shifted(value, -width) for value in values]
        names = [*(f"$key{n}" for n in range(len(pairs))), *(f"$value{n}" for n in range(len(own)))]
        keys: list[Expression] = [theirs for _, theirs in pairs]
        node = project(rows.node, [*keys, *own], names)
        for place in range(len(pairs)):
            node = Filter(node, _known(node.edge.ref(place), at))
        return cls(node, tuple(mine for mine, _ in pairs), tuple(one.written for one in rows.on))

    def equal(self, left: Relation, right: Node, context: Context) -> list[Conjunct]:
        """The keys of `left` are those of a node that has this one's keys in front."""
        width, binder = len(left.scope.visible), context.binder(left.scope)
        keys = zip(self.outer, right.edge.refs, self.written, strict=False)
        return [
            Conjunct.equality(mine, shifted(theirs, width), written, binder, width)
            for mine, theirs, written in keys
        ]


def _known(value: Expression, at: exp.Expression) -> Expression:
    unknown = apply(functions.BUILT_IN["IS NULL"], [value], at)
    return apply(functions.BUILT_IN["NOT"], [unknown], at)


def _flagged(node: Node, context: Context) -> Node:
    """The distinct rows, each with TRUE, which tells a row from none."""
    marked: list[Expression] = [*node.edge.refs, literals.boolean(True)]
    return distinct(project(node, marked, [*node.edge.names, "$some"]), at_end=context.batch)


# --- one value ---------------------------------------------------------------------------------


def _scalar(left: Relation, found: ValueSubquery, context: Context) -> tuple[Relation, Expression]:
    rows, at = bind_rows(found.node, left.scope, context), found.node
    if len(rows.values) != 1:
        raise PlanError(
            f"a scalar subquery must select one column, not {len(rows.values)}",
            at=span_of(at),
            notes={"selected": ", ".join(rows.names)},
        )
    keyed = _Keyed.of(rows, rows.values, left, at)
    keys, width = len(keyed.outer), len(left.scope.visible)
    right = keyed.node if rows.is_total else _single(keyed.node, keys, context)
    how: How = "inner" if found.filters and rows.of_none is None else "left"
    joined = _joined(left, right, keyed.equal(left, right, context), how, at, context)
    value: Expression = joined.scope.ref(width + keys)
    if rows.of_none is not None:
        unmatched = apply(functions.BUILT_IN["IS NULL"], [value], at)
        value = Case(((unmatched, rows.of_none),), value, value.type)
    return joined, value


def _single(node: Node, keys: int, context: Context) -> Node:
    """The only value of each key, which comes after the keys; several are an error."""
    type_ = node.edge.columns[keys].type.with_nullable(True)
    calls = (AggregateCall("FIRST_VALUE", (keys,), type_), AggregateCall("COUNT", (), _COUNT))
    grouped = GroupAggregate(node, tuple(range(keys)), calls, context.batch)
    checked = Call(SINGLE_VALUE, grouped.edge.refs[keys:], type_)
    return project(grouped, [*grouped.edge.refs[:keys], checked], node.edge.names)


# --- EXISTS and IN -----------------------------------------------------------------------------


def _exists(left: Relation, node: exp.Exists, context: Context) -> tuple[Relation, Expression]:
    rows, width = bind_rows(node.this, left.scope, context), len(left.scope.visible)
    if rows.is_total and rows.on:
        raise unsupported.CORRELATED_TOTAL.error(span_of(node))
    keyed = _Keyed.of(rows, (), left, node)
    right = _flagged(keyed.node, context)
    joined = _joined(left, right, keyed.equal(left, right, context), "left", node, context)
    return joined, _known(joined.scope.ref(width + len(keyed.outer)), node)


def _in(left: Relation, node: exp.In, context: Context) -> tuple[Relation, Expression]:
    rows, compared = bind_rows(node.args["query"], left.scope, context), fields_of(node.this)
    if len(compared) > 1:
        raise unsupported.ROWS_IN_VALUE.error(span_of(node))
    if len(rows.values) != 1:
        raise PlanError(
            f"the subquery must select 1 column, not {len(rows.values)}",
            at=span_of(node.args["query"]),
            notes={"selected": ", ".join(rows.names)},
        )
    if rows.is_total and rows.on:
        raise unsupported.CORRELATED_TOTAL.error(span_of(node))
    keyed = _Keyed.of(rows, rows.values, left, node)
    mine = context.binder(left.scope).bind(compared[0])
    joined, found = _with_match(left, keyed, mine, node, context)
    if not (mine.type.nullable or rows.values[0].type.nullable):
        return joined, found
    return _with_counts(joined, keyed, mine, found, node, context)


def _with_match(
    left: Relation, keyed: _Keyed, mine: Expression, node: exp.In, context: Context
) -> tuple[Relation, Expression]:
    """Whether the value is among those of its key."""
    width, keys = len(left.scope.visible), len(keyed.outer)
    right = _flagged(Filter(keyed.node, _known(keyed.node.edge.ref(keys), node)), context)
    theirs = shifted(right.edge.ref(keys), width)
    same = Conjunct.equality(mine, theirs, node, context.binder(left.scope), width)
    on = [*keyed.equal(left, right, context), same]
    joined = _joined(left, right, on, "left", node, context)
    return joined, _known(joined.scope.ref(width + keys + 1), node)


def _with_counts(
    left: Relation,
    keyed: _Keyed,
    mine: Expression,
    found: Expression,
    node: exp.In,
    context: Context,
) -> tuple[Relation, Expression]:
    """IN is NULL rather than false if a NULL might be the value: the one that is looked for, in
    some value, or one of the values.
    """
    width, keys = len(left.scope.visible), len(keyed.outer)
    calls = (AggregateCall("COUNT", (), _COUNT), AggregateCall("COUNT", (keys,), _COUNT))
    counts = GroupAggregate(keyed.node, tuple(range(keys)), calls, context.batch)
    joined = _joined(left, counts, keyed.equal(left, counts, context), "left", node, context)
    rows, known = (joined.scope.ref(width + keys + place) for place in (0, 1))
    binder = context.binder(joined.scope)
    some = binder.operator(">", [rows, literals.integer(0)], node)
    fewer = binder.operator("<", [known, rows], node)
    is_null = binder.operator("IS NULL", [mine], node)
    unknown = binder.operator("AND", [some, binder.operator("OR", [is_null, fewer], node)], node)
    branches = ((found, literals.boolean(True)), (unknown, literals.null(t.Boolean())))
    return joined, Case(branches, literals.boolean(False), t.Boolean())
