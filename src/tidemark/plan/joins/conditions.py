"""The parts of a join condition: equal keys, bounds on times, and the rest."""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.plan.expressions import Expression
from tidemark.plan.joins.bound import BoundJoin, pairs_of
from tidemark.plan.joins.interval_bounds import Bound, Bounds, Interval, joined
from tidemark.plan.joins.sides import Part


@dataclass(frozen=True, slots=True)
class Condition:
    """A join condition, by kind of part."""

    left: tuple[Expression, ...]
    right: tuple[Expression, ...]
    nulls_equal: tuple[bool, ...]
    bounds: list[Bound]
    times: tuple[Part, ...]  # the bounds in ON, as ordinary conditions
    rest: tuple[Part, ...]

    @classmethod
    def of(cls, join: BoundJoin) -> Condition:
        reader = Bounds(join.left.node.edge, join.right.node.edge)
        near = {id(one): reader.read(one.bound, one.written) for one in (*join.on, *join.where)}
        others = [one for one in join.on if near[id(one)] is None]
        known = [one for one in join.where if near[id(one)] is None and not one.nulls_equal]
        keys = pairs_of([*others, *known])
        return cls(
            tuple(key[0] for key in keys),
            tuple(key[1] for key in keys),
            tuple(key[2] for key in keys),
            [bound for bound in near.values() if bound is not None],
            tuple(one.part for one in join.on if near[id(one)] is not None),
            tuple(one.part for one in others if one.pair is None),
        )

    @property
    def interval(self) -> Interval | None:
        """The bounds combined; None unless there is a lower and an upper one."""
        return joined(self.bounds)
