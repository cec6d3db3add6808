"""The inputs of joins, as far as it matters which of their rows are late."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tidemark.plan.nodes import CoGroup, IntervalJoin, Node, WindowJoin
from tidemark.plan.projection import project
from tidemark.plan.scope import Scope

Join = WindowJoin | CoGroup | IntervalJoin


@dataclass(frozen=True, slots=True)
class LateSide:
    """One input of a join, with the columns that say when a row is late: its window's bounds, or
    its time."""

    name: str
    node: Node
    keys: tuple[int, ...]
    window: tuple[int, int] | None
    time: int | None

    @property
    def of_sessions(self) -> Node:
        """What a row has to do with sessions: its keys, and then its time."""
        assert self.time is not None
        scope, places = Scope.of(self.node.edge), (*self.keys, self.time)
        names = [f"${number}" for number in range(len(places))]
        return project(self.node, [scope.ref(place) for place in places], names)


def sides_of(join: Join) -> Iterator[tuple[LateSide, LateSide]]:
    """Each input, with the other one."""
    windows, times = _windows(join), _times(join)
    left = LateSide("left", join.left, join.left_keys, windows[0], times[0])
    right = LateSide("right", join.right, join.right_keys, windows[1], times[1])
    yield left, right
    yield right, left


def _windows(join: Join) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
    return (None, None) if isinstance(join, IntervalJoin) else (join.left_window, join.right_window)


def _times(join: Join) -> tuple[int | None, int | None]:
    return (None, None) if isinstance(join, WindowJoin) else (join.left_time, join.right_time)
