"""Joins of two sides: bound once, then classified by a table of rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from tidemark.plan.context import Context
from tidemark.plan.joins import interval, lookup, regular, temporal, window
from tidemark.plan.joins.bound import BoundJoin, Unjoined
from tidemark.plan.joins.using import with_merged
from tidemark.plan.relation import Relation


@dataclass(frozen=True, slots=True)
class JoinRule:
    """A kind of join: what it is recognized by, and what it plans."""

    name: str
    applies: Callable[[BoundJoin], bool]
    plan: Callable[[BoundJoin, Context], Relation]


# The first that applies; the last one always does.
RULES: Final = (
    JoinRule("lookup join", lookup.applies, lookup.plan),
    JoinRule(
        "temporal join by event time", temporal.applies_by_event_time, temporal.plan_by_event_time
    ),
    JoinRule(
        "temporal join by processing time",
        temporal.applies_by_processing_time,
        temporal.plan_by_processing_time,
    ),
    JoinRule("window join", window.applies, window.plan),
    JoinRule("interval join", interval.applies, interval.plan),
    JoinRule("regular join", regular.applies, regular.plan),
)


def bind_join(
    left: Relation,
    join: exp.Join,
    where: exp.Expression | None,
    context: Context,
    prepared: Callable[[Unjoined], Unjoined] = lambda given: given,
) -> Relation:
    """The rows of `left` joined with a further relation of FROM. `prepared` may give both sides
    columns that the condition needs.
    """
    bound = BoundJoin.of(left, join, where, context, prepared)
    return with_merged(classified(bound, context), bound.merged, bound.how)


def classified(join: BoundJoin, context: Context) -> Relation:
    """The join as the kind that it is."""
    rule = next(rule for rule in RULES if rule.applies(join))
    return rule.plan(join, context)
