"""The rows of a subquery, and what of it depends on the query around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from sqlglot import exp

from tidemark import types as t
from tidemark.dialect import span_of
from tidemark.errors import NotSupported, PlanError, UnknownFunction
from tidemark.functions.aggregates import lookup
from tidemark.plan import unsupported
from tidemark.plan.aggregates.calls import is_grouped
from tidemark.plan.context import Context
from tidemark.plan.expressions import Expression, Literal, Ref, references, replaced, shifted
from tidemark.plan.joins.bound import Conjunct
from tidemark.plan.nodes import Filter, GroupAggregate, Node, Project
from tidemark.plan.order_clauses import ORDER_CLAUSES
from tidemark.plan.relation import Relation
from tidemark.plan.scalars import literals
from tidemark.plan.scalars.binder import Binder
from tidemark.plan.scalars.conditions import flattened
from tidemark.plan.scope import InnerFirst, Scope
from tidemark.plan.select_list import name_of
from tidemark.plan.subqueries.conditions import take_conditions
from tidemark.plan.subqueries.first_rows import first_of_each, takes_first


@dataclass(frozen=True, slots=True)
class SubqueryRows:
    """The rows of a subquery that may belong to some row of the query around it.

    The `values` that it selects and the conditions `on` which a row belongs to an outer one are
    over the outer columns, followed by those of the rows. If it aggregates all of its rows, it has
    a row even for none: with the value `of_none`, if that is not NULL.
    """

    node: Node
    values: tuple[Expression, ...]
    names: tuple[str, ...]
    on: tuple[Conjunct, ...] = ()
    is_total: bool = False
    of_none: Expression | None = None


def bind_rows(query: exp.Expression, outer: Scope, context: Context) -> SubqueryRows:
    """The rows of a subquery, in which names mean its own columns first."""
    query = query.this if isinstance(query, exp.Subquery) else query
    try:
        node = context.bind_query(query)
    except (NotSupported, UnknownFunction):
        raise
    except PlanError:
        if not isinstance(query, exp.Select):
            raise
        return _Correlated(query, outer, context).rows()
    values = tuple(shifted(ref, len(outer.visible)) for ref in node.edge.refs)
    total = isinstance(query, exp.Select) and _is_total(query, context)
    return SubqueryRows(node, values, node.edge.names, is_total=total)


def _is_total(select: exp.Select, context: Context) -> bool:
    """Whether it has one row, made of all the rows below it."""
    others = any(select.args.get(key) for key in ("group", "having", "limit", "offset"))
    return is_grouped(select, context.catalogs) and not others


@dataclass(frozen=True, slots=True)
class _Correlated:
    """A subquery with names of the query around it, in WHERE or in what it selects."""

    select: exp.Select
    outer: Scope
    context: Context

    def rows(self) -> SubqueryRows:
        self._check()
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
        return SubqueryRows(relation.node, values, names, on)

    def _check(self) -> None:
        grouped = is_grouped(self.select, self.context.catalogs) or self.select.args.get("distinct")
        allowed = ORDER_CLAUSES if takes_first(self.select) and not grouped else ()
        for key, clause in _CLAUSES.items():
            if self.select.args.get(key) and key not in allowed:
                at = span_of(self.select.args[key]) if key != "windows" else None
                raise unsupported.CORRELATED.error(at or span_of(self.select), clause)

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
        own = [part for part in parts if part not in outside] + [one.node for one in nested]
        node = self.context.bind_query(self._grouped([key for _, key in keys], own))
        width, binder = self._width, self._binder(Scope.of(node.edge))
        refs = [shifted(ref, width) for ref in node.edge.refs]
        count = len(refs) - len(keys) - takes_first(self.select)
        on = tuple(
            Conjunct.equality(binder.bind(mine), refs[count + place], part, binder, width)
            for place, ((mine, _), part) in enumerate(zip(keys, outside, strict=True))
        )
        total = _is_total(self.select, self.context)
        of_none = _of_none(node) if total else None
        names = node.edge.names[:count]
        return SubqueryRows(node, tuple(refs[:count]), names, on, total, of_none)

    def _key(self, part: exp.Expression, scope: Scope) -> tuple[exp.Expression, exp.Expression]:
        """The outer value that a condition compares, and the one of the subquery."""
        conjunct = Conjunct.of(part, self._binder(scope), self._width)
        if conjunct.pair is None or conjunct.nulls_equal:
            raise unsupported.CORRELATED_GROUP.error(span_of(part))
        one, other = part.this, part.expression
        return (other, one) if self._is_own(one, scope) else (one, other)

    def _grouped(self, keys: Sequence[exp.Expression], own: list[exp.Expression]) -> exp.Select:
        """The SELECT with further keys, which it also selects. A key that is NULL equals none."""
        select = self.select.copy()
        known = [exp.Not(this=exp.Is(this=key.copy(), expression=exp.Null())) for key in keys]
        tests = [*(part.copy() for part in own), *known]
        select.set("where", exp.Where(this=reduce(_and, tests)))
        named = [exp.Alias(this=k.copy(), alias=f"$key{n}") for n, k in enumerate(keys)]
        select.set("expressions", [*select.expressions, *named])
        if is_grouped(self.select, self.context.catalogs):
            group = select.args.get("group")
            written = group.expressions if group is not None else []
            for element in written:
                if isinstance(element, exp.GroupingSets | exp.Rollup | exp.Cube):
                    raise unsupported.CORRELATED.error(span_of(element), "GROUPING SETS")
            select.set("group", exp.Group(expressions=[*written, *(k.copy() for k in keys)]))
        return first_of_each(select, keys) if takes_first(select) else select


_CLAUSES = {
    "with_": "WITH",
    "order": "ORDER BY",
    "limit": "LIMIT",
    "offset": "OFFSET",
    "qualify": "QUALIFY",
    "windows": "WINDOW",
}


def _and(one: exp.Expression, other: exp.Expression) -> exp.Expression:
    return exp.And(this=one, expression=other)


def _of_none(node: Node) -> Expression | None:
    """What the first column of an aggregation is if there are no rows; None if that is NULL."""
    if not isinstance(node, Project) or not isinstance(node.input, GroupAggregate):
        return None
    aggregate = node.input

    def result(part: Expression) -> Expression | None:
        if not isinstance(part, Ref) or part.index < len(aggregate.keys):
            return None
        call = aggregate.calls[part.index - len(aggregate.keys)]
        if call.function == "COUNT":
            return Literal(0, t.BigInt(nullable=False))
        known = lookup(call.function)
        if known is not None and known.never_null:
            raise unsupported.CORRELATED.error(None, call.function)
        return literals.null(part.type)

    value = replaced(node.expressions[0], result)
    if references(value) or (isinstance(value, Literal) and value.value is None):
        return None
    return value
