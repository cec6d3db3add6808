"""The rows of a subquery, and what of it depends on the query around it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from tidemark.dialect import span_of
from tidemark.errors import NotSupported, PlanError, UnknownFunction
from tidemark.plan import unsupported
from tidemark.plan.aggregates.calls import is_grouped
from tidemark.plan.context import Context
from tidemark.plan.expressions import Expression, shifted
from tidemark.plan.joins.bound import Conjunct
from tidemark.plan.nodes import Filter, Node, project
from tidemark.plan.relation import Relation
from tidemark.plan.scalars import literals
from tidemark.plan.scalars.binder import Binder
from tidemark.plan.scalars.conditions import flattened
from tidemark.plan.scope import InnerFirst, Scope
from tidemark.plan.select_list import name_of
from tidemark.plan.subqueries.by_key import check_clauses, is_known, with_keys, with_tests
from tidemark.plan.subqueries.conditions import take_conditions
from tidemark.plan.subqueries.first_rows import takes_first
from tidemark.plan.subqueries.outer_values import over_outer_values, refuse_outer_collections
from tidemark.plan.subqueries.subquery_rows import SubqueryRows, is_total, of_none


def bind_rows(
    query: exp.Expression, outer: Relation, context: Context, *, by_key: bool = False
) -> SubqueryRows:
    """The rows of a subquery, in which names mean its own columns first; if wanted, with values
    that are equal for each outer row and those that belong to it.
    """
    query = query.this if isinstance(query, exp.Subquery) else query
    try:
        node = context.bind_query(query)
    except (NotSupported, UnknownFunction):
        raise
    except PlanError:
        if not isinstance(query, exp.Select):
            raise
        return _correlated(query, outer, context, by_key=by_key)
    values = tuple(shifted(ref, len(outer.scope.visible)) for ref in node.edge.refs)
    total = isinstance(query, exp.Select) and is_total(query, context)
    return SubqueryRows(node, values, node.edge.names, is_total=total)


def _correlated(
    select: exp.Select, outer: Relation, context: Context, *, by_key: bool
) -> SubqueryRows:
    """By the conditions of its WHERE if they are enough, otherwise for the outer values."""
    try:
        rows = _Correlated(select, outer.scope, context).rows()
        if not by_key or rows.is_by_key(len(outer.scope.visible)):
            return rows
    except PlanError:
        found = over_outer_values(select, outer, context)
        if found is None:
            refuse_outer_collections(select, outer.scope, context)
            raise
        return found
    found = over_outer_values(select, outer, context)
    return rows if found is None else found


def _joinable(node: Node) -> Node:
    """The rows with at least one column, which a join needs of each side; the row of a subquery
    without FROM has none.
    """
    if node.edge.columns:
        return node
    return project(node, [literals.boolean(True)], ["$row"])


@dataclass(frozen=True, slots=True)
class _Correlated:
    """A subquery with names of the query around it, in WHERE or in what it selects."""

    select: exp.Select
    outer: Scope
    context: Context

    def rows(self) -> SubqueryRows:
        check_clauses(self.select, self.context.catalogs)
        if self.select.args.get("with_") is not None:
            raise unsupported.CORRELATED.error(span_of(self.select.args["with_"]), "WITH")
        grouped = is_grouped(self.select, self.context.catalogs)
        if grouped or self.select.args.get("distinct") is not None or takes_first(self.select):
            return self._by_key()
        plain, nested = take_conditions(self.select)
        relation, condition = self.context.bind_from(plain)
        own, on = self._conditions(condition, relation)
        for test in own:
            relation = replace(relation, node=Filter(relation.node, test))
        for one in nested:
            relation = self.context.bind_condition(relation, one)
        values, names = self._selected(relation.scope)
        return SubqueryRows(_joinable(relation.node), values, names, on)

    def _conditions(
        self, where: exp.Expression | None, relation: Relation
    ) -> tuple[list[Expression], tuple[Conjunct, ...]]:
        """The conditions over its own rows, and those that refer to outer columns."""
        inside, binder = self.context.binder(relation.scope), self._binder(relation.scope)
        own, on = [], []
        for part in flattened(where) if where is not None else ():
            if self._is_own(part, relation.scope):
                own.append(inside.condition(part, "WHERE"))
            else:
                on.append(Conjunct.of(part, binder, self._width))
        return own, tuple(on)

    def _is_own(self, part: exp.Expression, scope: Scope) -> bool:
        try:
            self.context.binder(scope).bind(part)
        except (NotSupported, UnknownFunction):
            raise
        except PlanError:
            return False
        return True

    def _binder(self, scope: Scope) -> Binder:
        return self.context.binder(InnerFirst(self.outer, scope))

    @property
    def _width(self) -> int:
        return len(self.outer.visible)

    def _selected(self, scope: Scope) -> tuple[tuple[Expression, ...], tuple[str, ...]]:
        binder, found = self._binder(scope), list[tuple[Expression, str]]()
        for place, item in enumerate(self.select.expressions):
            if isinstance(item, exp.Star):
                own = scope.star((), span_of(item))
                found += [(shifted(ref, self._width), ref.name) for ref in own]
            elif isinstance(item, exp.Alias):
                found.append((binder.bind(item.this), item.alias))
            else:
                found.append((binder.bind(item), name_of(item, place)))
        return tuple(value for value, _ in found), tuple(name for _, name in found)

    # --- groups --------------------------------------------------------------------------------

    def _by_key(self) -> SubqueryRows:
        """The groups or distinct rows of all outer rows at once: those of each are told apart by
        what is compared with the outer columns.
        """
        plain, nested = take_conditions(self.select)
        relation, condition = self.context.bind_from(plain)
        parts = flattened(condition) if condition is not None else []
        outside = [part for part in parts if not self._is_own(part, relation.scope)]
        keys = [self._key(part, relation.scope) for part in outside]
        tests = [part for part in parts if part not in outside] + [one.node for one in nested]
        theirs = [key for _, key in keys]
        # A key that is NULL equals none.
        select = with_tests(self.select, [*tests, *map(is_known, theirs)])
        node = self.context.bind_query(with_keys(select, theirs, self.context.catalogs))
        width, binder = self._width, self._binder(Scope.of(node.edge))
        refs = [shifted(ref, width) for ref in node.edge.refs]
        count = len(refs) - len(keys) - takes_first(self.select)
        on = tuple(
            Conjunct.equality(binder.bind(mine), refs[count + place], part, binder, width)
            for place, ((mine, _), part) in enumerate(zip(keys, outside, strict=True))
        )
        total = is_total(self.select, self.context)
        outer = [one.pair[0] for one in on if one.pair is not None]
        nothing = of_none(self.select, node, outer, self.context) if total else None
        names = node.edge.names[:count]
        return SubqueryRows(node, tuple(refs[:count]), names, on, total, nothing)

    def _key(self, part: exp.Expression, scope: Scope) -> tuple[exp.Expression, exp.Expression]:
        """The outer value that a condition compares, and the one of the subquery."""
        conjunct = Conjunct.of(part, self._binder(scope), self._width)
        if conjunct.pair is None or conjunct.nulls_equal:
            raise unsupported.CORRELATED_GROUP.error(span_of(part))
        one, other = part.this, part.expression
        return (other, one) if self._is_own(one, scope) else (one, other)
