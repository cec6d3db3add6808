"""SELECT with GROUP BY: HAVING and the SELECT list over keys and aggregates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from tidemark.catalog.tables import Changelog
from tidemark.dialect import nodes, span_of, to_sql
from tidemark.errors import PlanError
from tidemark.plan.aggregates.aggregation import Aggregation
from tidemark.plan.aggregates.calls import aggregate_of, bind_call, calls_within, finished
from tidemark.plan.aggregates.grouping import grouping_number, repetition_number
from tidemark.plan.aggregates.subqueries import with_values_of_rows
from tidemark.plan.bind.subquery_values import with_values
from tidemark.plan.context import Context
from tidemark.plan.expressions import Expression, Ref, references, replaced
from tidemark.plan.nodes import Filter, Node, project
from tidemark.plan.relation import Relation
from tidemark.plan.scalars import literals
from tidemark.plan.scalars.binder import Binder
from tidemark.plan.scope import Scope
from tidemark.plan.select_list import name_of
from tidemark.plan.subqueries.conditions import condition_of
from tidemark.plan.subqueries.values import has_values, values_in
from tidemark.plan.windows import group_windows
from tidemark.plan.windows.grouped import ByCall, ByColumns

_REPETITION = "GROUP_ID"
_GROUPING = ("GROUPING", "GROUPING_ID", _REPETITION)


def bind_grouped(select: exp.Select, relation: Relation, context: Context) -> Node:
    """The plan of a grouping SELECT over the rows of FROM and WHERE."""
    select, relation = with_values_of_rows(select, relation, context)
    aggregation = Aggregation.of(select, relation, context)
    binder = _GroupedBinder(relation.scope, context.catalogs, aggregation)
    having = select.args.get("having")
    written = [*([having.this] if having is not None else []), *select.expressions]
    if any(map(has_values, written)):
        return _with_subqueries(select, written, binder, context)
    condition = binder.condition(having.this, "HAVING") if having is not None else None
    items = [_item(item, binder, place) for place, item in enumerate(select.expressions)]
    node = aggregation.node(context)
    if condition is not None:
        node = Filter(node, condition)
    return project(node, [value for value, _ in items], [name for _, name in items])


def _with_subqueries(
    select: exp.Select, written: list[exp.Expression], binder: _GroupedBinder, context: Context
) -> Node:
    """The same with subqueries in HAVING and SELECT. The groups are joined with their values, so
    they are planned first, with all aggregates that are asked for.
    """
    for part in written:
        for call in calls_within(part, context.catalogs):
            binder.bind(call)
    values = list(binder.scope.values)
    written = [_with_compared(part, binder, values) for part in written]
    node = binder.aggregation.node(context)
    groups = Relation(node, _scope_of_groups(node, binder, values))
    conditions = len(written) - len(select.expressions)
    groups, tests = with_values(groups, written[:conditions], context, tests=True)
    groups, items = with_values(groups, written[conditions:], context)
    binder = replace(binder, values=groups.scope.values)
    node = groups.node
    for test in tests:
        node = Filter(node, binder.condition(test, "HAVING"))
    found = [_item(item, binder, place) for place, item in enumerate(items)]
    return project(node, [value for value, _ in found], [name for _, name in found])


def _with_compared(
    written: exp.Expression, binder: _GroupedBinder, values: list[Expression]
) -> exp.Expression:
    """The expression with numbers for what it compares with subqueries: `values` of a group."""
    written = written.copy()
    for node in values_in(written):
        test = condition_of(node)
        for compared in test.compared if test is not None else ():
            values.append(binder.bind(compared))
            compared.replace(nodes.SubqueryValue(this=len(values) - 1))
    return written


def _scope_of_groups(node: Node, binder: _GroupedBinder, values: Sequence[Expression]) -> Scope:
    """What subqueries may refer to: the columns that are grouped by, and these values."""
    below, visible = binder.scope.visible, list(Scope.hidden(node.edge).visible)
    for place, key in enumerate(binder.aggregation.grouping.keys):
        if isinstance(key, Ref):
            column = replace(visible[place].column, name=below[key.index].column.name)
            visible[place] = replace(below[key.index], column=column)
    return Scope(visible, tuple(values))


def _item(item: exp.Expression, binder: Binder, place: int) -> tuple[Expression, str]:
    bare = item.this if isinstance(item, exp.Column) else item
    if isinstance(bare, exp.Star):
        raise PlanError(
            "`*` includes columns that are not in GROUP BY",
            at=span_of(item),
            hint="list the columns of GROUP BY",
        )
    if isinstance(item, exp.Alias):
        return binder.bind(item.this), item.alias
    return binder.bind(item), name_of(item, place)


# --- over the aggregation ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _GroupedBinder(Binder):
    """Binds expressions over a group: they consist of its keys and of aggregates."""

    aggregation: Aggregation
    # Those of subqueries, over the groups, after as many as there are over the rows.
    values: tuple[Expression, ...] = ()

    def bind(self, node: exp.Expression) -> Expression:
        found = self._of_group(node)
        if found is not None:
            return found
        if any(self._asks_of_group(part) for part in _parts(node)):
            # The whole expression is not a key, but its parts may be.
            return Binder.bind(self, node)
        return self._made_of_keys(node)

    @property
    def below(self) -> Binder:
        """The binder of expressions over the rows that are grouped."""
        return Binder(self.scope, self.catalogs)

    def _of_group(self, node: exp.Expression) -> Expression | None:
        to_be = self.aggregation
        if self._is_value_of_group(node):
            number: int = node.this
            return self.values[number]
        if aggregate_of(node, self.catalogs) is not None:
            retracts = to_be.rows.edge.changelog is not Changelog.APPEND
            call = bind_call(
                node, self.below, to_be.columns, some=to_be.has_rows, retracts=retracts
            )
            return finished(node, to_be.result(call))
        if _is_grouping(node):
            return self._grouping(node)
        if group_windows.is_property(node):
            window = to_be.windows.window if isinstance(to_be.windows, ByCall) else None
            columns = isinstance(to_be.windows, ByColumns)
            return group_windows.property_of(node, window, self.below, to_be.bounds, columns)
        if group_windows.is_group_window(node):
            raise PlanError(
                f"{node.name.upper()} is only allowed in GROUP BY",
                at=span_of(node),
                hint=f"use {node.name.upper()}_START or {node.name.upper()}_END",
            )
        return None

    def _is_value_of_group(self, node: exp.Expression) -> bool:
        return isinstance(node, nodes.SubqueryValue) and node.this >= len(self.scope.values)

    def _asks_of_group(self, node: exp.Expression) -> bool:
        asks = group_windows.is_property(node) or group_windows.is_group_window(node)
        asks = asks or self._is_value_of_group(node) or _is_grouping(node)
        return asks or aggregate_of(node, self.catalogs) is not None

    def _grouping(self, node: exp.Expression) -> Expression:
        to_be = self.aggregation
        if node.name.upper() == _REPETITION:
            if node.expressions:
                raise PlanError("GROUP_ID has no arguments", at=span_of(node))
            return repetition_number(node, to_be.grouping, to_be.set_number)
        keys = to_be.grouping.keys
        asked = []
        for argument in node.expressions:
            bound = self.below.bind(argument)
            if bound not in keys:
                raise PlanError(
                    f"the arguments of {node.name.upper()} must be columns of GROUP BY",
                    at=span_of(argument),
                )
            asked.append(keys.index(bound))
        return grouping_number(node, asked, to_be.grouping, to_be.set_number)

    def _made_of_keys(self, node: exp.Expression) -> Expression:
        """An expression over the rows, if it has the same value for all rows of a group."""
        bound = self.below.bind(node)
        over_rows = _without_groups(bound, self.aggregation)
        if over_rows:
            raise self._not_grouped(node)
        return replaced(bound, self.aggregation.grouped)

    def _not_grouped(self, node: exp.Expression) -> PlanError:
        columns = [part for part in _parts(node) if nodes.name_path(part) is not None]
        guilty = next(
            (c for c in columns if _without_groups(self.below.bind(c), self.aggregation)), node
        )
        keys = [to_sql(part) for part in self._written_keys(node)]
        return PlanError(
            f"`{to_sql(guilty)}` must be in GROUP BY or in an aggregate function",
            at=span_of(guilty),
            notes={"grouped by": ", ".join(keys)} if keys else None,
            hint="add it to GROUP BY, or aggregate it: MAX(...), FIRST_VALUE(...)",
        )

    def _written_keys(self, node: exp.Expression) -> list[exp.Expression]:
        select = node.find_ancestor(exp.Select)
        group = select.args.get("group") if select is not None else None
        return list(group.expressions) if group is not None else []


def _parts(node: exp.Expression) -> list[exp.Expression]:
    """The node and all nodes below it, excluding subqueries."""
    found, pending = [], [node]
    while pending:
        part = pending.pop(0)
        found.append(part)
        if not isinstance(part, exp.Query):
            pending.extend(part.iter_expressions())
    return found


def _is_grouping(node: exp.Expression) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.upper() in _GROUPING


def _without_groups(expression: Expression, aggregation: Aggregation) -> bool:
    """Whether some column of the expression is not a key."""
    marked = replaced(
        expression,
        lambda part: literals.null(part.type) if aggregation.grouped(part) is not None else None,
    )
    return bool(references(marked))
