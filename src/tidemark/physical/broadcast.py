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
        return _loading(join, names)
    if join.how in ("inner", "right") and _can_be_loaded(join.left, is_small):
        return _loading(join, names, left=True)
    return None


def _can_be_loaded(side: Node, is_small: IsSmall) -> bool:
    table = LookedUp.of(side)
    return table is not None and is_small(table.scan)


def _loading(join: RegularJoin, names: Sequence[str], *, left: bool = False) -> Node:
    """The join whose workers load the right side, or the left one."""
    sides = [(join.left, join.left_keys), (join.right, join.right_keys)]
    (streamed, keys), (loaded, loaded_keys) = sides[::-1] if left else sides
    loading = LookupJoin(
        left=streamed,
        right=loaded,
        left_keys=keys,
        right_keys=loaded_keys,
        how="inner" if join.how == "inner" else "left",
        by="broadcast",
        condition=join.condition,
    )
    edge, width = loading.edge, len(join.left.edge.columns)

    def moved(place: int) -> int:
        return place + len(streamed.edge.columns) if place < width else place - width

    if not left:
        return project(loading, [edge.ref(place) for place in join.given], names)
    if join.condition is not None:
        condition = over(join.condition, lambda ref: edge.ref(moved(ref.index)))
        loading = replace(loading, condition=condition)
    return project(loading, [edge.ref(moved(place)) for place in join.given], names)
