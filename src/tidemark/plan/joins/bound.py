"""A join with both sides and its condition bound, before its kind is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from tidemark import types as t
from tidemark.dialect import span_of
from tidemark.errors import NotSupported, PlanError
from tidemark.plan import unsupported
from tidemark.plan.context import Context
from tidemark.plan.expressions import Expression
from tidemark.plan.joins.as_of import AsOf, right_side
from tidemark.plan.joins.keys import key_pair
from tidemark.plan.joins.sides import Part
from tidemark.plan.joins.subqueries import Subquery
from tidemark.plan.nodes import How
from tidemark.plan.relation import Relation
from tidemark.plan.scalars.binder import Binder
from tidemark.plan.scalars.conditions import flattened
from tidemark.plan.scalars.conversions import convert
from tidemark.plan.scope import InnerFirst

_HOW: dict[str, How] = {"INNER": "inner", "LEFT": "left", "RIGHT": "right", "FULL": "full"}


@dataclass(frozen=True, slots=True)
class Conjunct:
    """One of the conditions that AND connects. If it is an equality between the sides, `pair` are
    the two values that it compares, the left side's first.
    """

    bound: Expression
    written: exp.Expression
    pair: tuple[Expression, Expression] | None = None
    nulls_equal: bool = False

    @property
    def part(self) -> Part:
        return self.bound, self.written

    @classmethod
    def of(cls, written: exp.Expression, binder: Binder, width: int) -> Conjunct:
        """`width` is how many columns the left side has."""
        if not isinstance(written, exp.EQ | exp.NullSafeEQ):
            return cls(binder.condition(written, "ON"), written)
        one, other = binder.bind(written.this), binder.bind(written.expression)
        nulls_equal = isinstance(written, exp.NullSafeEQ)
        name = "IS NOT DISTINCT FROM" if nulls_equal else "="
        bound = convert(binder.operator(name, [one, other], written), t.Boolean())
        return cls(bound, written, key_pair(one, other, width, written), nulls_equal)


@dataclass(frozen=True, slots=True)
class BoundJoin:
    """Both sides, the conditions of ON, and those of WHERE that are over these two sides only.
    The latter are tested after the join too; here they only show which rows can match. With
    `as_of`, each left row is joined with the version at a point in time.
    """

    left: Relation
    right: Relation
    how: How
    on: tuple[Conjunct, ...]
    where: tuple[Conjunct, ...]
    at: exp.Expression
    not_in: Subquery | None = None  # which may hold for no row if NULLs are compared
    as_of: AsOf | None = None

    @classmethod
    def of(
        cls, left: Relation, join: exp.Join, where: exp.Expression | None, context: Context
    ) -> BoundJoin:
        how = _HOW.get((join.args.get("side") or "INNER").upper())
        if join.args.get("using") or how is None or join.args.get("method"):
            raise _without_condition(join)
        right, as_of = right_side(left, join.this, context)
        condition = join.args.get("on")
        binder = context.binder(left.scope + right.scope)
        width = len(left.node.edge.columns)
        parts = flattened(condition) if condition is not None else []
        on = tuple(Conjunct.of(part, binder, width) for part in parts)
        known = tuple(_bindable(where, binder, width)) if how == "inner" else ()
        at = join if condition is not None else join.this
        return cls(left, right, how, on, known, at, as_of=as_of)

    @classmethod
    def of_subquery(cls, left: Relation, sub: Subquery, context: Context) -> BoundJoin:
        """The rows of `left` that have, or do not have, a row of the subquery."""
        start, where = sub.query.args.get("from_"), sub.query.args.get("where")
        if start is None:
            raise unsupported.SUBQUERY_WITHOUT_FROM.error(span_of(sub.query))
        right = context.bind_relation(start.this)
        binder = context.binder(InnerFirst(left.scope, right.scope))
        width = len(left.node.edge.columns)
        selected = sub.query.expressions[: len(sub.compared)]
        equal = [exp.EQ(this=a, expression=b) for a, b in zip(sub.compared, selected, strict=True)]
        not_in = sub if sub.compared and sub.how == "anti" else None
        conjuncts = [Conjunct.of(part, binder, width) for part in equal]
        if not_in is not None:
            conjuncts = [_unless_known_different(one, sub, binder) for one in conjuncts]
        parts = flattened(where.this) if where is not None else []
        conjuncts += [Conjunct.of(part, binder, width) for part in parts]
        at = sub.node if span_of(sub.node) is not None else sub.query
        return cls(left, right, sub.how, tuple(conjuncts), (), at, not_in)


def _unless_known_different(equal: Conjunct, sub: Subquery, binder: Binder) -> Conjunct:
    """`one NOT IN (other)`: a NULL on either side might be equal, so it excludes the row too."""
    one, other = (binder.bind(side) for side in (equal.written.this, equal.written.expression))
    if not (one.type.nullable or other.type.nullable):
        return equal
    tests = [binder.operator("IS NULL", [side], sub.node) for side in (one, other)]
    either = binder.operator("OR", tests, sub.node)
    return Conjunct(binder.operator("OR", [either, equal.bound], sub.node), sub.node)


def _bindable(where: exp.Expression | None, binder: Binder, width: int) -> Iterator[Conjunct]:
    """The conditions of WHERE that are over these two tables only."""
    for part in flattened(where) if where is not None else ():
        try:
            yield Conjunct.of(part, binder, width)
        except PlanError:
            continue  # it is bound again where all tables are in scope


def pairs_of(conjuncts: Sequence[Conjunct]) -> list[tuple[Expression, Expression, bool]]:
    """The equalities between the sides, and whether NULLs are equal in each."""
    return [(*one.pair, one.nulls_equal) for one in conjuncts if one.pair is not None]


def _without_condition(join: exp.Join) -> NotSupported:
    """The error for NATURAL, USING and the like."""
    return unsupported.WITHOUT_ON.error(span_of(join) or span_of(join.this))


def check_not_in(join: BoundJoin) -> None:
    """The error for NOT IN without windows: rows would have to be excluded forever."""
    if join.not_in is None:
        return
    at = span_of(join.not_in.node) or span_of(join.not_in.compared[0])
    raise unsupported.NOT_IN.error(at)
