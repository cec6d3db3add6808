"""Correlated subqueries of any kind: they are computed for the distinct outer values that they use,
which are one more table of their FROM.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlglot import exp

from tidemark.dialect import nodes, span_of
from tidemark.errors import NotSupported, PlanError
from tidemark.plan import unsupported
from tidemark.plan.aggregates.distinct import distinct
from tidemark.plan.context import Context
from tidemark.plan.expressions import Expression, references, shifted
from tidemark.plan.joins.bound import Conjunct
from tidemark.plan.nodes import Node, project
from tidemark.plan.relation import Relation
from tidemark.plan.scope import Path, Scope
from tidemark.plan.select_list import name_of
from tidemark.plan.subqueries.by_key import check_clauses, with_keys
from tidemark.plan.subqueries.first_rows import takes_first
from tidemark.plan.subqueries.subquery_rows import SubqueryRows, is_total, of_none

_OUTER: Final = "$outer"


def over_outer_values(select: exp.Select, outer: Relation, context: Context) -> SubqueryRows | None:
    """The rows of the subquery, each with the outer values that it is for; None if it cannot be
    taken apart like this.
    """
    check_clauses(select, context.catalogs)
    names = OuterNames(outer.scope, context)
    try:
        plain = names.taken(_named(select, context))
    except PlanError:
        return None
    if not names.values or any(_pads(join) for join in plain.args.get("joins") or ()):
        return None
    keys = [_column(place) for place in range(len(names.values))]
    try:
        asked = with_keys(_with_table(plain), keys, context.catalogs)
        node = context.naming(_OUTER, _distinct_values(outer, names.values, context)).bind_query(
            asked
        )
    except NotSupported:
        raise
    except PlanError:
        return None
    return _rows(select, node, names.values, outer, context)


def outer_places(node: exp.Expression, outer: Scope, context: Context) -> set[int]:
    """The outer columns that a test or value of a subquery refers to."""
    names = OuterNames(outer, context)
    names.taken(exp.Select(expressions=[node.copy()]))
    return {place for value in names.values for place in references(value)}


def refuse_outer_collections(select: exp.Select, outer: Scope, context: Context) -> None:
    """Raises an error for a collection in FROM that is one of the outer row."""
    try:
        _own(select, context)
        return
    except PlanError:
        pass
    for relation in select.find_all(exp.Unnest, nodes.TableFunction):
        paths = (nodes.name_path(part) for part in relation.find_all(exp.Column, exp.Dot))
        written = [tuple(part.name for part in path) for path in paths if path is not None]
        if any(_has(outer, path) for path in written):
            raise unsupported.CORRELATED_COLLECTION.error(span_of(relation))


def _rows(
    select: exp.Select, node: Node, values: Sequence[Expression], outer: Relation, context: Context
) -> SubqueryRows:
    width, binder = len(outer.scope.visible), context.binder(outer.scope)
    refs = [shifted(ref, width) for ref in node.edge.refs]
    count = len(refs) - len(values) - takes_first(select)
    on = tuple(
        Conjunct.equality(mine, theirs, select, binder, width, nulls_equal=True)
        for mine, theirs in zip(values, refs[count:], strict=False)
    )
    total = is_total(select, context)
    nothing = of_none(select, node, values, context) if total else None
    return SubqueryRows(node, tuple(refs[:count]), node.edge.names[:count], on, total, nothing)


def _distinct_values(outer: Relation, values: Sequence[Expression], context: Context) -> Node:
    names = [_name(place) for place in range(len(values))]
    return distinct(project(outer.node, list(values), names), at_end=context.batch)


def _name(place: int) -> str:
    return f"$value{place}"


def _column(place: int) -> exp.Column:
    return exp.column(_name(place), table=_OUTER, quoted=True)


# --- the SELECT ----------------------------------------------------------------------------------


def _named(select: exp.Select, context: Context) -> exp.Select:
    """The SELECT with the names of its columns, and the columns of its own that `*` stands for."""
    items: list[exp.Expression] = []
    for place, item in enumerate(select.expressions):
        if isinstance(item, exp.Star):
            items += _own_columns(select, context)
        elif isinstance(item, exp.Alias) or isinstance(item.this, exp.Star):
            items.append(item)
        else:
            name = exp.to_identifier(name_of(item, place), quoted=True)
            items.append(exp.Alias(this=item.copy(), alias=name))
    named = select.copy()
    named.set("expressions", [item.copy() for item in items])
    return named


def _own_columns(select: exp.Select, context: Context) -> Iterator[exp.Expression]:
    for visible in _own(select, context).visible:
        if visible.is_of(()):
            table = visible.table[-1] if visible.table else None
            yield exp.column(visible.column.name, table=table, quoted=True)


def _own(select: exp.Select, context: Context) -> Scope:
    """The columns of the FROM of a SELECT."""
    plain = select.copy()
    plain.set("where", None)
    relation, _ = context.with_names(select).bind_from(plain)
    return relation.scope


def _with_table(select: exp.Select) -> exp.Select:
    """The SELECT with the outer values before its own tables."""
    values = exp.Table(this=exp.to_identifier(_OUTER, quoted=True))
    own = select.args.get("from_")
    select = select.copy()
    if own is not None:
        joins = select.args.get("joins") or []
        select.set("joins", [exp.Join(this=own.this.copy()), *joins])
    select.set("from_", exp.From(this=values))
    return select


def _pads(join: exp.Join) -> bool:
    """Whether it pads rows of its right side, which would be for no outer values."""
    return (join.args.get("side") or "").upper() in ("RIGHT", "FULL")


@dataclass(frozen=True, slots=True)
class OuterNames:
    """Finds the names that mean outer columns, at any depth of a subquery, and puts columns of the
    outer values in their places.
    """

    outer: Scope
    context: Context
    values: list[Expression] = field(default_factory=list)

    def taken(self, select: exp.Select) -> exp.Select:
        select = select.copy()
        self._take(select, ())
        return select

    def _take(self, node: exp.Expression, inner: tuple[Scope, ...]) -> None:
        if isinstance(node, exp.Select) and node.args.get("from_") is not None:
            inner = (*inner, _own(node, self.context))
        for child in list(node.iter_expressions()):
            written = nodes.name_path(child)
            if written is None:
                self._take(child, inner)
            elif not isinstance(written[-1], exp.Star):
                self._replace(child, tuple(part.name for part in written), inner)

    def _replace(self, node: exp.Expression, path: Path, inner: tuple[Scope, ...]) -> None:
        if any(_has(scope, path) for scope in inner) or not _has(self.outer, path):
            return
        value = self.outer.resolve(path, span_of(node))
        if value not in self.values:
            self.values.append(value)
        node.replace(_column(self.values.index(value)))


def _has(scope: Scope, path: Path) -> bool:
    tables = any(scope.has_table(path[:length]) for length in range(1, len(path)))
    return tables or scope.has_column(path[0])
