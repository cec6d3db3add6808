"""`ROW_NUMBER() OVER (PARTITION BY ... ORDER BY ...) AS rn`, or another rank, in a subquery, with
`WHERE rn <= 3` around it: found in the tree, and bound once, whatever kind it will be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Final, get_args

from sqlglot import exp

from tidemark.catalog.catalogs import Catalogs
from tidemark.dialect import span_of
from tidemark.errors import Span
from tidemark.kernels.windows.spec import Numbering
from tidemark.plan.aggregates.calls import is_grouped
from tidemark.plan.context import Context
from tidemark.plan.expressions import Expression, Ref
from tidemark.plan.nodes import Column, Filter, Node
from tidemark.plan.relation import Relation
from tidemark.plan.relations import bind_from
from tidemark.plan.scalars.conditions import flattened


@dataclass(frozen=True, slots=True)
class Numbered:
    """The pattern as found in a SELECT: the inner query, its window, which numbers are wanted,
    and the rest of WHERE."""

    subquery: exp.Subquery
    window: exp.Window
    low: int
    high: int | None  # None if there is no last one
    rest: exp.Expression | None

    @property
    def by(self) -> Numbering:
        """The function that numbers the rows."""
        name: Numbering = self.window.this.name.upper()
        return name

    @property
    def inner(self) -> exp.Select:
        query = self.subquery.this
        assert isinstance(query, exp.Select)
        return query

    def with_number(self, number: exp.Expression) -> exp.Select:
        """The inner SELECT with something in the place of the number."""
        plain = self.inner.copy()
        next(item for item in plain.expressions if _is_numbering(item)).set("this", number)
        return plain


@dataclass(frozen=True, slots=True)
class Ordering:
    """One value of ORDER BY. Null is the smallest, unless the query says where nulls go."""

    value: Expression
    descending: bool
    nulls_last: bool
    written: exp.Ordered


@dataclass(frozen=True, slots=True)
class BoundRank:
    """The numbers of rows, bound: of each key in which order, and the numbers that WHERE
    lets through."""

    numbered: Numbered
    relation: Relation  # what FROM and WHERE of the inner query leave
    context: Context
    keys: tuple[Expression, ...]
    order: tuple[Ordering, ...]

    @property
    def rows(self) -> Node:
        return self.relation.node

    @property
    def at(self) -> Span | None:
        return span_of(self.numbered.window)

    @property
    def is_first_only(self) -> bool:
        return self.numbered.low == self.numbered.high == 1

    @property
    def window_bounds(self) -> set[str]:
        """What the keys say of the window that a row is in."""
        columns = [self.column(key) for key in self.keys]
        return {column.window.says for column in columns if column and column.window}

    def column(self, value: Expression) -> Column | None:
        """The column that a value is; None if it is computed."""
        return self.rows.edge.columns[value.index] if isinstance(value, Ref) else None


def find(select: exp.Select, catalogs: Catalogs) -> Numbered | None:
    """The ranking of a SELECT, if it is one."""
    start, where = select.args.get("from_"), select.args.get("where")
    if start is None or where is None or select.args.get("joins"):
        return None
    subquery = start.this
    if not isinstance(subquery, exp.Subquery) or not isinstance(subquery.this, exp.Select):
        return None
    found = [item for item in subquery.this.expressions if _is_numbering(item)]
    if len(found) != 1 or is_grouped(subquery.this, catalogs):
        return None
    numbered = _numbered(subquery, found[0], where.this)
    if numbered is None or numbered.by == "ROW_NUMBER" or numbered.window.args.get("order"):
        return numbered
    return None  # OVER refuses it


def bound(numbered: Numbered, context: Context) -> BoundRank:
    """The ranking with all that it names resolved."""
    inner, window = numbered.inner, numbered.window
    relation, where = bind_from(inner, context)
    binder = context.binder(relation.scope)
    if where is not None:
        condition = binder.condition(where, "WHERE")
        relation = Relation(Filter(relation.node, condition), relation.scope)
    keys = binder.bind_all(window.args.get("partition_by") or ())
    order = window.args.get("order")
    written = order.expressions if order is not None else []
    orderings = tuple(_ordering(binder.bind(one.this), one) for one in written)
    return BoundRank(numbered, relation, context, keys, orderings)


def _ordering(value: Expression, written: exp.Ordered) -> Ordering:
    return Ordering(value, bool(written.args.get("desc")), nulls_last(written), written)


def nulls_last(written: exp.Ordered) -> bool:
    """Where NULLs go: NULL is the smallest value, unless the query says otherwise."""
    first = written.args.get("nulls_first")
    return bool(written.args.get("desc")) if first is None else not first


# --- the numbers that are wanted ---------------------------------------------------------------


def _numbered(subquery: exp.Subquery, item: exp.Alias, where: exp.Expression) -> Numbered | None:
    low, high, rest = 0, None, []
    for conjunct in flattened(where):
        bounds = _bounds(conjunct, item.alias)
        if bounds is None:
            rest.append(conjunct)
            continue
        low = max(low, bounds[0] or 1)
        if bounds[1] is not None:
            high = bounds[1] if high is None else min(high, bounds[1])
    if not low:
        return None
    together = reduce(lambda a, b: exp.And(this=a, expression=b), rest) if rest else None
    return Numbered(subquery, item.this, low, high, together)


_NUMBERINGS: Final = get_args(Numbering)


def _is_numbering(item: exp.Expression) -> bool:
    """Whether an item of the inner SELECT numbers rows."""
    is_over = isinstance(item, exp.Alias) and isinstance(item.this, exp.Window)
    return is_over and item.this.this.name.upper() in _NUMBERINGS


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
