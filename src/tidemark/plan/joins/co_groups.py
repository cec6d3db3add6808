"""coGroup: rows of two plans with the same key in the same window, for a function or as pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tidemark.catalog.tables import Changelog
from tidemark.errors import PlanError, did_you_mean
from tidemark.plan.nodes import CoGroup, Column, Edge, Node

# The keys and the window's bounds by name, and the rows of both sides as pandas frames.
GroupFunction = Callable[[dict[str, Any], Any, Any], Any]


def bind_co_group(
    left: Node,
    right: Node,
    keys: tuple[Sequence[str], Sequence[str]],
    *,
    gap_ms: int | None,
    function: GroupFunction | None = None,
    columns: Sequence[Column] = (),
) -> CoGroup:
    """The groups of two plans, each of which has a time attribute.

    Their rows are in windows already, or in sessions of `gap_ms`. `columns` are those that the
    function returns; without a function there are the columns of the pairs.
    """
    if not keys[0] or len(keys[0]) != len(keys[1]):
        raise PlanError(
            "both sides of a window join must have the same number of keys, at least one",
            notes={"where": ", ".join(keys[0]) or "none", "equal_to": ", ".join(keys[1]) or "none"},
            hint='call .where("user").equal_to("user")',
        )
    times = _time_of(left.edge), _time_of(right.edge)
    types = left.edge.columns[times[0]].type, right.edge.columns[times[1]].type
    if type(types[0]) is not type(types[1]):
        raise PlanError(
            "both sides must have the same type of time attribute",
            notes={"left": types[0].text(), "right": types[1].text()},
        )
    for side in (left, right):
        if side.edge.changelog is not Changelog.APPEND:
            raise PlanError("window joins need append-only inputs")
    in_windows = gap_ms is None
    return CoGroup(
        left=left,
        right=right,
        left_keys=_places(left.edge, keys[0]),
        right_keys=_places(right.edge, keys[1]),
        left_time=times[0],
        right_time=times[1],
        left_window=_bounds(left.edge) if in_windows else None,
        right_window=_bounds(right.edge) if in_windows else None,
        gap_ms=gap_ms,
        time_type=types[0],
        function=function,
        columns=tuple(columns),
    )


def _places(edge: Edge, keys: Sequence[str]) -> tuple[int, ...]:
    for key in keys:
        if key not in edge.names:
            raise PlanError(
                f"join key `{key}` does not exist",
                notes={"columns": ", ".join(edge.names)},
                hint=did_you_mean(key, edge.names),
            )
    return tuple(edge.names.index(key) for key in keys)


def _time_of(edge: Edge) -> int:
    """The time attribute of the rows themselves, not that of a window."""
    return next(
        index for index, column in enumerate(edge.columns) if column.time and not column.window
    )


def _bounds(edge: Edge) -> tuple[int, int]:
    bounds = {column.window.says: i for i, column in enumerate(edge.columns) if column.window}
    return bounds["start"], bounds["end"]
