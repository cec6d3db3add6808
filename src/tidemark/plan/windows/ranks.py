"""Window Top-N and deduplication: `ROW_NUMBER() OVER (PARTITION BY window_start, window_end, ...
ORDER BY ...) AS rn` in a sub-query, and `WHERE rn <= 3` around it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from sqlglot import exp

from tidemark.catalog.tables import Changelog
from tidemark.dialect import span_of
from tidemark.errors import PlanError, Span
from tidemark.plan.aggregates import select as aggregates
from tidemark.plan.context import Context
from tidemark.plan.expressions import Expression, Ref
from tidemark.plan.features import refuse_what_cannot_run
from tidemark.plan.nodes import Edge, Filter, Node, WindowOrder, WindowRank, project
from tidemark.plan.nodes.window_columns import is_by_clock, time_of_window
from tidemark.plan.nodes.window_rank import RANK
from tidemark.plan.relation import Relation, aliased
from tidemark.plan.relations import bind_from
from tidemark.plan.scalars.binder import Binder
from tidemark.plan.scalars.conditions import flattened
from tidemark.plan.scope import Scope, Visible
from tidemark.plan.select_list import project_select


@dataclass(frozen=True, slots=True)
class Numbered:
    """The pattern as found in a SELECT: the inner query, its window, which numbers are wanted,
    and the rest of WHERE."""

    subquery: exp.Subquery
    window: exp.Window
    low: int
    high: int
    rest: exp.Expression | None


def recognise(select: exp.Select, context: Context) -> tuple[Numbered, Relation] | None:
    """The window Top-N that the SELECT asks for, and the rows it is over, if it is one."""
    start, where = select.args.get("from_"), select.args.get("where")
    if start is None or where is None or select.args.get("joins"):
        return None
    subquery = start.this
    if not isinstance(subquery, exp.Subquery) or not isinstance(subquery.this, exp.Select):
        return None
    inner = subquery.this
    if aggregates.is_grouped(inner, context.catalogs) or inner.args.get("joins"):
        return None
    numbered = _numbered(subquery, where.this)
    if numbered is None:
        return None
    relation = bind_from(inner, context)
    of_window = _columns(numbered.window.args.get("partition_by") or (), relation, context)
    return (numbered, relation) if of_window >= {"start", "end"} else None


def _columns(partition: Iterable[exp.Expression], relation: Relation, context: Context) -> set[str]:
    """What the columns of PARTITION BY say of the row's window."""
    binder = context.binder(relation.scope)
    bound = [binder.bind(key) for key in partition]
    windows = [relation.node.edge.columns[e.index].window for e in bound if isinstance(e, Ref)]
    return {window.says for window in windows if window is not None}


# --- the numbers that are wanted ---------------------------------------------------------------


def _numbered(subquery: exp.Subquery, where: exp.Expression) -> Numbered | None:
    found = [item for item in subquery.this.expressions if _is_row_number(item)]
    if len(found) != 1:
        return None
    low, high, rest = 1, 0, []
    for conjunct in flattened(where):
        bounds = _bounds(conjunct, found[0].alias)
        if bounds is None:
            rest.append(conjunct)
            continue
        low = max(low, bounds[0] or 1)
        if bounds[1] is not None:
            high = min(high or bounds[1], bounds[1])
    if not high:
        return None
    together = reduce(lambda a, b: exp.And(this=a, expression=b), rest) if rest else None
    return Numbered(subquery, found[0].this, low, high, together)


def _is_row_number(item: exp.Expression) -> bool:
    return (
        isinstance(item, exp.Alias)
        and isinstance(item.this, exp.Window)
        and item.this.this.name.upper() == "ROW_NUMBER"
    )


_TURNED: dict[type[exp.Expression], type[exp.Expression]] = {
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.EQ: exp.EQ,
}


def _bounds(condition: exp.Expression, name: str) -> tuple[int | None, int | None] | None:
    """The least and the greatest number that a condition lets through; None if it is another."""
    if isinstance(condition, exp.Between):
        low, high = _number(condition.args["low"]), _number(condition.args["high"])
        if not _is_column(condition.this, name) or low is None or high is None:
            return None
        return low, high
    kind: type[exp.Expression] = type(condition)
    if kind not in _TURNED:
        return None
    column, value = condition.this, condition.expression
    if _is_column(value, name):
        column, value, kind = value, column, _TURNED[kind]
    number = _number(value)
    if not _is_column(column, name) or number is None:
        return None
    limits: dict[type[exp.Expression], tuple[int | None, int | None]] = {
        exp.EQ: (number, number),
        exp.LT: (None, number - 1),
        exp.LTE: (None, number),
        exp.GT: (number + 1, None),
        exp.GTE: (number, None),
    }
    return limits[kind]


def _is_column(node: exp.Expression, name: str) -> bool:
    return isinstance(node, exp.Column) and node.name == name


def _number(node: exp.Expression) -> int | None:
    whole = isinstance(node, exp.Literal) and not node.is_string and node.this.isdecimal()
    return int(node.this) if whole else None


# --- the plan ----------------------------------------------------------------------------------


def bind(numbered: Numbered, relation: Relation, context: Context) -> Relation:
    """What the outer SELECT sees: the inner columns, of each window the wanted rows only."""
    inner = numbered.subquery.this
    node = relation.node
    where = inner.args.get("where")
    if where is not None:
        condition = context.binder(relation.scope).condition(where.this, "WHERE")
        node = Filter(node, condition)
    ranked = _ranked(numbered, node, context.binder(relation.scope))
    plain = _with_rank(inner)
    refuse_what_cannot_run(plain)
    place = len(ranked.edge.columns) - 1
    scope = _RankedScope(_visible(relation.scope, ranked, place))
    rows = project_select(plain, Relation(ranked, scope), context)
    return aliased(rows, numbered.subquery, ())


def _visible(scope: Scope, ranked: Node, place: int) -> list[Visible]:
    """The columns of the relation where they were, what the ranking added unseen, the rank."""
    columns = ranked.edge.columns
    hidden = [Visible((), c) for c in columns[len(scope.visible) : place]]
    return [*scope.visible, *hidden, Visible((), columns[place])]


class _RankedScope(Scope):
    """A scope in which `*` leaves out what the user did not write."""

    def star(self, table: tuple[str, ...], at: Span | None) -> list[Ref]:
        return [ref for ref in super().star(table, at) if not ref.name.startswith("$")]


def _ranked(numbered: Numbered, node: Node, binder: Binder) -> WindowRank:
    window = numbered.window
    if node.edge.changelog is not Changelog.APPEND:
        raise PlanError(
            "the rows of a window can be numbered where they are only inserted, and these are "
            "updated or deleted too",
            at=span_of(window),
        )
    if is_by_clock(node):
        raise PlanError(
            "the rows of windows of processing time cannot be numbered",
            at=span_of(window),
            notes={"why": "when such a window is over is not said by the rows, in Flink either"},
            hint="use windows of a time with a WATERMARK",
        )
    order = window.args.get("order")
    if order is None:
        raise PlanError("ROW_NUMBER() needs an ORDER BY", at=span_of(window))
    keys = [binder.bind(key) for key in window.args["partition_by"]]
    values = [binder.bind(ordered.this) for ordered in order.expressions]
    node, places = _with_columns(node, [*keys, *values])
    of_keys, of_values = places[: len(keys)], places[len(keys) :]
    bounds = {_says(node, place): place for place in of_keys}
    orders = tuple(
        _order(place, written) for place, written in zip(of_values, order.expressions, strict=True)
    )
    below = node.edge
    return WindowRank(
        node,
        keys=tuple(place for place in of_keys if _says(node, place) is None),
        bounds=(bounds["start"], bounds["end"]),
        order=orders,
        low=numbered.low,
        high=numbered.high,
        newest_first=_is_deduplication(numbered, orders, below),
        time_type=time_of_window(below, bounds["start"]).type,
    )


def _says(node: Node, place: int) -> str | None:
    window = node.edge.columns[place].window
    return window.says if window is not None else None


def _order(place: int, written: exp.Ordered) -> WindowOrder:
    """Null is the smallest value, unless the query says where nulls go."""
    descending = bool(written.args.get("desc"))
    first = written.args.get("nulls_first")
    return WindowOrder(place, descending, nulls_last=descending if first is None else not first)


def _is_deduplication(numbered: Numbered, order: tuple[WindowOrder, ...], edge: Edge) -> bool:
    """Whether the newest row by time is kept: of several the last to arrive, as in Flink."""
    first_only = numbered.low == numbered.high == 1 and len(order) == 1
    return first_only and order[0].descending and edge.columns[order[0].column].time is not None


def _with_columns(node: Node, values: list[Expression]) -> tuple[Node, list[int]]:
    """The node with the values as columns, behind those it has, and where they are."""
    scope = Scope.of(node.edge)
    expressions: list[Expression] = [scope.ref(i) for i in range(len(node.edge.columns))]
    names = list(node.edge.names)
    places = []
    for value in values:
        if value not in expressions:
            expressions.append(value)
            names.append(f"$by{len(names)}")
        places.append(expressions.index(value))
    return project(node, expressions, names), places


def _with_rank(inner: exp.Select) -> exp.Select:
    """The inner SELECT with the rank's column in the place of ROW_NUMBER()."""
    plain = inner.copy()
    item = next(item for item in plain.expressions if _is_row_number(item))
    item.set("this", exp.Column(this=exp.to_identifier(RANK, quoted=True)))
    return plain
