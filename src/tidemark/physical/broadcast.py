"""Regular joins of a batch without an exchange: workers load one side, which is small."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tidemark.plan.expressions import over
from tidemark.plan.looked_up import LookedUp
from tidemark.plan.nodes import LookupJoin, Node, RegularJoin, Scan, project

# Whether the rows of a table are so few that each worker may load them.
IsSmall = Callable[[Scan], bool]


def broadcast(join: RegularJoin, names: Sequence[str], is_small: IsSmall) -> Node | None:
    """What has the same rows, under these names; None if no side is small, or if rows of the small
    one may be emitted without a match: no worker knows what others have matched.
    """
    if not join.at_end or not join.left_keys or any(join.nulls_equal):
        return None
    if any(side.edge.changes or side.edge.keys for side in join.inputs):
        # Of rows with the same unique key, the operator joins the last one only.
        return None
    if join.how in ("inner", "left") and _can_be_loaded(join.right, is_small):
        return _loading_right(join, names)
    if join.how in ("inner", "right") and _can_be_loaded(join.left, is_small):
        return _loading_left(join, names)
    return None


def _can_be_loaded(side: Node, is_small: IsSmall) -> bool:
    table = LookedUp.of(side)
    return table is not None and is_small(table.scan)


def _loading_right(join: RegularJoin, names: Sequence[str]) -> Node:
    loading = LookupJoin(
        left=join.left,
        right=join.right,
        left_keys=join.left_keys,
        right_keys=join.right_keys,
        how="left" if join.how == "left" else "inner",
        by="broadcast",
        condition=join.condition,
    )
    return _shown(loading, join.given, names)


def _loading_left(join: RegularJoin, names: Sequence[str]) -> Node:
    left, right = len(join.left.edge.columns), len(join.right.edge.columns)

    def moved(place: int) -> int:
        return place + right if place < left else place - left

    loading = LookupJoin(
        left=join.right,
        right=join.left,
        left_keys=join.right_keys,
        right_keys=join.left_keys,
        how="left" if join.how == "right" else "inner",
        by="broadcast",
    )
    if join.condition is not None:
        edge = loading.edge
        condition = over(join.condition, lambda ref: edge.ref(moved(ref.index)))
        loading = replace(loading, condition=condition)
    return _shown(loading, [*map(moved, join.given)], names)


def _shown(loading: LookupJoin, places: Sequence[int], names: Sequence[str]) -> Node:
    return project(loading, [loading.edge.ref(place) for place in places], names)
