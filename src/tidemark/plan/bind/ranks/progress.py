"""What the rows below a ranking do: if updates never make a row's place worse, only the first rows
of each key must be kept, and a row replaces itself. Flink calls it the strategy UpdateFast.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tidemark.plan.expressions import Ref, references
from tidemark.plan.nodes import Filter, GroupAggregate, Node, Project, WindowOrder
from tidemark.plan.nodes.top_n import RankInput

_Change = Literal["never", "grows", "falls"]
_RESULTS: Final[dict[str, _Change]] = {"COUNT": "grows", "MAX": "grows", "MIN": "falls"}


@dataclass(frozen=True, slots=True)
class _Updates:
    """How columns change when a row is updated, and the columns by which that row is known."""

    changes: dict[int, _Change]
    unique: tuple[int, ...]


def input_of(
    rows: Node, keys: Sequence[int], order: Sequence[WindowOrder]
) -> tuple[RankInput, tuple[int, ...]]:
    """What the input of a ranking does, and the columns by which it updates rows, if it does."""
    if not rows.edge.changes:
        return "inserts", ()
    updates = _updates(rows)
    if updates is None or not order or not set(updates.unique).issuperset(keys):
        return "retractions", ()
    better = all(_never_worse(by, updates, rows) for by in order)
    return ("updates", updates.unique) if better else ("retractions", ())


def _never_worse(by: WindowOrder, updates: _Updates, rows: Node) -> bool:
    change = updates.changes.get(by.column)
    if change in (None, "never"):
        return change is not None
    # NULL may become a value.
    null_is_last = by.nulls_last or not rows.edge.columns[by.column].type.nullable
    return null_is_last and change == ("grows" if by.descending else "falls")


def _updates(node: Node) -> _Updates | None:
    """None if rows may be deleted, or if nothing is known about how they change."""
    match node:
        case GroupAggregate() if not node.input.edge.changes and not node.distinct:
            return _of_groups(node)
        case Project():
            return _projected(node)
        case Filter():
            below = _updates(node.input)
            fixed = below is not None and all(
                below.changes.get(place) == "never" for place in references(node.condition)
            )
            return below if fixed else None
    return None


def _of_groups(node: GroupAggregate) -> _Updates:
    unique = tuple(range(len(node.keys)))
    changes: dict[int, _Change] = dict.fromkeys(unique, "never")
    for place, call in enumerate(node.calls, start=len(unique)):
        if call.function in _RESULTS:
            changes[place] = _RESULTS[call.function]
    return _Updates(changes, unique)


def _projected(node: Project) -> _Updates | None:
    below = _updates(node.input)
    if below is None:
        return None
    # The last of equal columns counts, which changes as the others do.
    moved = {
        value.index: place for place, value in enumerate(node.expressions) if isinstance(value, Ref)
    }
    if not set(below.unique) <= moved.keys():
        return None
    changes = {
        place: below.changes[value.index]
        for place, value in enumerate(node.expressions)
        if isinstance(value, Ref) and value.index in below.changes
    }
    return _Updates(changes, tuple(moved[place] for place in below.unique))
