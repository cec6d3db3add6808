"""`L [LEFT] JOIN LATERAL (SELECT ...) ON ...`: a subquery in FROM that refers to the tables before
it, which becomes a join on the conditions that do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from tidemark import functions
from tidemark.dialect import span_of
from tidemark.errors import PlanError, Span
from tidemark.plan.bind.elements import beside, bind_elements, is_of_elements, names_of
from tidemark.plan.bind.joins import classified
from tidemark.plan.context import Context
from tidemark.plan.expressions import Case, Expression, Ref, references, shifted
from tidemark.plan.joins.bound import BoundJoin, Conjunct
from tidemark.plan.nodes import Column, How, project
from tidemark.plan.relation import Relation
from tidemark.plan.scalars import literals
from tidemark.plan.scalars.conditions import flattened, is_true
from tidemark.plan.scalars.conversions import apply
from tidemark.plan.scope import Scope, Visible
from tidemark.plan.subqueries.rows import bind_rows
from tidemark.plan.subqueries.subquery_rows import SubqueryRows


def is_lateral(relation: exp.Expression) -> bool:
    return isinstance(relation, exp.Lateral) and isinstance(relation.this, exp.Subquery)


def bind_lateral(left: Relation, join: exp.Join, context: Context) -> Relation:
    """Each row with the rows of a subquery that are made for it."""
    how = _how(join)
    if is_of_elements(join.this.this.this, context, outer=how == "left"):
        return _with_elements(left, join, how, context)
    rows = bind_rows(join.this.this, left, context)
    tests = _tests(join)
    if tests:
        rows = replace(rows, of_none=None)  # a row that they reject is padded too
    right = _Right.of(rows, left, how, names_of(join.this, rows.names))
    scope = _Values(left.scope, right.table, right.names, right.values)
    binder, width = context.binder(scope), len(left.scope.visible)
    on = (*rows.on, *(Conjunct.of(test, binder, width) for test in tests))
    joined = classified(BoundJoin(left, right.relation, how, on, (), join), context)
    return right.shown(joined, width, how, join)


def _with_elements(left: Relation, join: exp.Join, how: How, context: Context) -> Relation:
    """Each row with what the subquery selects of its collections."""
    outer, width = how == "left", len(left.scope.visible)
    elements = bind_elements(left, join.this.this.this, context, outer=outer)
    table, names = names_of(join.this, elements.names)
    binder = context.binder(_Values(left.scope, table, names, elements.values))
    elements = elements.meeting([binder.condition(test, "ON") for test in _tests(join)])
    if outer:
        elements = elements.padded(width)
    return elements.beside(left.scope, table, names)


def _tests(join: exp.Join) -> list[exp.Expression]:
    """The conditions of ON, one by one."""
    condition = join.args.get("on")
    parts = flattened(condition) if condition is not None else []
    return [part for part in parts if not is_true(part)]


def _how(join: exp.Join) -> How:
    side = join.args.get("side") or ""
    if side not in ("", "LEFT") or join.args.get("using") or join.args.get("method"):
        raise PlanError(
            "LATERAL is only allowed on the right of a comma, CROSS JOIN, INNER JOIN and LEFT "
            "JOIN with ON",
            at=span_of(join) or span_of(join.this),
        )
    return "left" if side else "inner"


@dataclass(frozen=True, slots=True)
class _Right:
    """The rows of the subquery with a column for each value that needs no outer column, and, if
    unmatched rows must be told apart, one that is TRUE. The `values` are over both sides.
    """

    relation: Relation
    values: tuple[Expression, ...]
    table: str
    names: tuple[str, ...]
    flag: int | None
    of_none: Expression | None  # the only value, if an aggregation is of no rows

    @classmethod
    def of(
        cls, rows: SubqueryRows, left: Relation, how: How, names: tuple[str, tuple[str, ...]]
    ) -> _Right:
        width, node, added = len(left.scope.visible), rows.node, list[Expression]()
        own = len(node.edge.columns)
        values = list(rows.values)
        for place, value in enumerate(values):
            if not isinstance(value, Ref) and min(references(value), default=width) >= width:
                values[place] = Ref(width + own + len(added), f"$value{place}", value.type)
                added.append(shifted(value, -width))
        of_none = rows.of_none if how == "left" and len(values) == 1 else None
        outer = how == "left" and any(min(references(v), default=0) < width for v in values)
        outer = outer or of_none is not None
        flag = own + len(added) if outer else None
        if outer:
            added.append(literals.boolean(True))
        called = [*node.edge.names, *(f"$value{number}" for number in range(len(added)))]
        node = project(node, [*node.edge.refs, *added], called)
        relation = Relation(node, Scope.hidden(node.edge))
        return cls(relation, tuple(values), *names, flag, of_none)

    def shown(self, joined: Relation, width: int, how: How, at: exp.Expression) -> Relation:
        """The left columns of the join, and what the subquery selects."""
        refs = [joined.scope.ref(place) for place in range(len(joined.scope.visible))]
        values: list[Expression] = []
        for value in self.values:
            if isinstance(value, Ref) and self.of_none is None:
                values.append(refs[value.index])
            elif self.flag is None:
                values.append(value)
            else:
                value = refs[value.index] if isinstance(value, Ref) else value
                unmatched = apply(functions.BUILT_IN["IS NULL"], [refs[width + self.flag]], at)
                type_ = value.type.with_nullable(True)
                nothing = literals.null(type_) if self.of_none is None else self.of_none
                values.append(Case(((unmatched, nothing),), value, type_))
        mine = [*joined.node.edge.names[:width]]
        node = project(joined.node, [*refs[:width], *values], [*mine, *self.names])
        return beside(Scope(joined.scope.visible[:width]), node, self.table)


class _Values(Scope):
    """The scope of ON: the left columns, and what the subquery selects."""

    def __init__(
        self, left: Scope, table: str, names: Sequence[str], values: Sequence[Expression]
    ) -> None:
        path = (table,) if table else ()
        selected = zip(names, values, strict=True)
        own = (Visible(path, Column(name, value.type)) for name, value in selected)
        super().__init__((*left.visible, *own))
        self._width = len(left.visible)
        self._values = values

    def resolve(self, parts: tuple[str, ...], at: Span | None) -> Expression:
        found = super().resolve(parts, at)
        if isinstance(found, Ref) and found.index >= self._width:
            return self._values[found.index - self._width]
        return found
