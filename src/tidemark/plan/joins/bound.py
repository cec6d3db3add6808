"""A join with both sides and its condition bound, before its kind is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from tidemark import types as t
from tidemark.errors import PlanError
from tidemark.plan.context import Context
from tidemark.plan.expressions import Expression
from tidemark.plan.joins.as_of import AsOf, right_side
from tidemark.plan.joins.keys import key_pair
from tidemark.plan.joins.sides import Part
from tidemark.plan.joins.using import Merged, merged_columns
from tidemark.plan.nodes import How
from tidemark.plan.relation import Relation
from tidemark.plan.scalars.binder import Binder
from tidemark.plan.scalars.conditions import flattened, is_true
from tidemark.plan.scalars.conversions import convert
from tidemark.plan.scope import Scope

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
        return cls.equality(one, other, written, binder, width, nulls_equal=nulls_equal)

    @classmethod
    def equality(
        cls,
        one: Expression,
        other: Expression,
        written: exp.Expression,
        binder: Binder,
        width: int,
        *,
        nulls_equal: bool = False,
    ) -> Conjunct:
        name = "IS NOT DISTINCT FROM" if nulls_equal else "="
        bound = convert(binder.operator(name, [one, other], written), t.Boolean())
        return cls(bound, written, key_pair(one, other, width, written), nulls_equal)


@dataclass(frozen=True, slots=True)
class Unjoined:
    """Both sides and the condition of ON, over the columns of both that the scope knows."""

    left: Relation
    right: Relation
    condition: exp.Expression | None
    scope: Scope


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
    as_of: AsOf | None = None
    merged: tuple[Merged, ...] = ()  # columns of both sides that become one
    # How long STATE_TTL hints keep the rows of each side, called for a join that has state.
    hinted_ms: Callable[[], tuple[int | None, int | None]] = lambda: (None, None)
    padded_as: How | None = None  # the outer join that it is written as, if it is another one
    number: int = 0  # in the order in which joins are planned

    @classmethod
    def of(
        cls,
        left: Relation,
        join: exp.Join,
        where: exp.Expression | None,
        context: Context,
        prepared: Callable[[Unjoined], Unjoined] = lambda given: given,
        right: Relation | None = None,
    ) -> BoundJoin:
        """`prepared` may give the sides columns that the condition needs. The `right` side is what
        the join says unless it is given.
        """
        how = _HOW[(join.args.get("side") or "INNER").upper()]
        as_of = None
        if right is None:
            right, as_of = right_side(left, join.this, context)
        given = Unjoined(left, right, join.args.get("on"), left.scope + right.scope)
        given = prepared(given)
        left, right, condition = given.left, given.right, given.condition
        binder = context.binder(given.scope)
        width = len(left.node.edge.columns)
        merged = merged_columns(join, left, right)
        on = [Conjunct.equality(m.left, m.right, m.written, binder, width) for m in merged]
        parts = flattened(condition) if condition is not None else []
        on += [Conjunct.of(part, binder, width) for part in parts if not is_true(part)]
        known = tuple(_bindable(where, binder, width))
        written = how
        number = context.padding.number()
        if as_of is None:
            how = context.padding.narrowed(number, how, (one.bound for one in known), width)
        at = join if condition is not None else join.this

        def hinted_ms() -> tuple[int | None, int | None]:
            ttls = context.state_ttls
            return ttls.of_table(left.scope), ttls.of_table(right.scope)

        known = known if how == "inner" else ()
        padded_as = None if how == written else written
        return cls(
            left, right, how, tuple(on), known, at, as_of, merged, hinted_ms, padded_as, number
        )


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
