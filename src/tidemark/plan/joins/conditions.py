"""What the condition of a join asks for: equal keys, near times, and the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from tidemark.errors import NotSupported, PlanError
from tidemark.plan.context import Context
from tidemark.plan.expressions import Expression
from tidemark.plan.joins.interval_bounds import Bound, Bounds
from tidemark.plan.joins.keys import key_pair
from tidemark.plan.joins.sides import Part
from tidemark.plan.relation import Relation
from tidemark.plan.scalars.binder import Binder
from tidemark.plan.scalars.conditions import flattened
from tidemark.plan.scope import Scope


@dataclass(frozen=True, slots=True)
class Condition:
    """What the condition asks for: equal keys, near times, and the rest."""

    left: tuple[Expression, ...]
    right: tuple[Expression, ...]
    nulls_equal: tuple[bool, ...]
    bounds: list[Bound]
    times: tuple[Part, ...]  # what ON says of near times, as conditions like others
    rest: tuple[Part, ...]

    @classmethod
    def of(
        cls,
        parts: Sequence[exp.Expression],
        where: exp.Expression | None,
        left: Relation,
        right: Relation,
        context: Context,
        scope: Scope | None = None,
    ) -> Condition:
        binder = context.binder(scope or left.scope + right.scope)
        width = len(left.node.edge.columns)
        reader = Bounds(left.node.edge, right.node.edge)
        keys: list[tuple[Expression, Expression, bool]] = []
        bounds: list[Bound] = []
        times: list[Part] = []
        rest: list[Part] = []
        for part in parts:
            bound = binder.condition(part, "ON")
            near = reader.read(bound, part)
            pair = None
            if near is not None:
                bounds.append(near)
                times.append((bound, part))
            elif isinstance(part, exp.EQ | exp.NullSafeEQ):
                pair = key_pair(binder.bind(part.this), binder.bind(part.expression), width, part)
            if pair is not None:
                keys.append((*pair, isinstance(part, exp.NullSafeEQ)))
            elif near is None:
                rest.append((bound, part))
        for part, bound in _bindable(where, binder):
            # Those of WHERE are tested above the join too: here they only tell what may match.
            near = reader.read(bound, part)
            if near is not None:
                bounds.append(near)
            elif isinstance(part, exp.EQ):
                pair = key_pair(binder.bind(part.this), binder.bind(part.expression), width, part)
                keys += [(*pair, False)] if pair is not None else []
        return cls(
            tuple(key[0] for key in keys),
            tuple(key[1] for key in keys),
            tuple(key[2] for key in keys),
            bounds,
            tuple(times),
            tuple(rest),
        )


def _bindable(
    where: exp.Expression | None, binder: Binder
) -> Iterator[tuple[exp.Expression, Expression]]:
    """The parts of a WHERE that speak of these two tables only."""
    for part in flattened(where) if where is not None else ():
        try:
            yield part, binder.bind(part)
        except (PlanError, NotSupported):
            continue  # it is bound again where all tables are in sight
