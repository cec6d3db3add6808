"""What an operator's state means, as plain values: what must be the same for state to fit.

Names and words of EXPLAIN are not part of it, nor is how long state is kept. What is part of it:
the keys, the times, the windows, the functions, and the columns of the rows that are kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.kernels.windows.spec import Firing
from tidemark.plan.expressions import references
from tidemark.plan.nodes import (
    AggregateCall,
    AssignWindows,
    CoGroup,
    Edge,
    GroupAggregate,
    IntervalJoin,
    KeepFirst,
    KeepLast,
    LateRows,
    Node,
    RegularJoin,
    TemporalJoin,
    WindowAggregate,
    WindowJoin,
    WindowRank,
    delay_ms,
)
from tidemark.plan.operator_ids import kind_of, operators
from tidemark.plan.origins import origin, origins, plain
from tidemark.types import TimestampLtz


@dataclass(frozen=True, slots=True)
class KeptColumn:
    """A column of the rows that are kept. Operators that know columns by place have no names."""

    name: str
    type: str

    def __str__(self) -> str:
        return f"`{self.name}` {self.type}"


Rows = tuple[KeptColumn, ...]


@dataclass(frozen=True, slots=True)
class KeptState:
    """The state of one operator: what it means, and which columns of each input it keeps."""

    id: str
    kind: str
    meaning: dict[str, Any]
    rows: tuple[Rows, ...]

    @property
    def hash(self) -> str:
        """Equal for operators that can go on from each other's state."""
        said = json.dumps([self.kind, self.meaning], sort_keys=True)
        return hashlib.blake2b(said.encode(), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class KeptWith:
    """What of a session's options changes how state is laid out."""

    zone: str
    ttl: bool


def kept_state(root: Node, options: KeptWith) -> tuple[KeptState, ...]:
    """The state of each operator of a plan, in the order of their ids."""
    return tuple(_kept(id_, node, options) for id_, node in operators(root))


def _kept(id_: str, node: Node, options: KeptWith) -> KeptState:
    kind = kind_of(node)
    assert kind is not None
    meaning, rows = _MEANINGS[type(node)](node)
    # For how long is not said: that may change.
    if options.ttl:
        meaning["idle keys"] = "forgotten"
    if _follows_a_clock(node):
        meaning["time zone"] = options.zone
    # JSON has no tuples, and both sides of a comparison shall look the same.
    return KeptState(id_, kind, json.loads(json.dumps(meaning)), rows)


def _follows_a_clock(node: Node) -> bool:
    """Whether windows are those that the clocks of a time zone show."""
    match node:
        case WindowAggregate():
            return isinstance(node.edge.columns[len(node.keys) + 2].type, TimestampLtz)
        case WindowJoin() | CoGroup() | WindowRank():
            return isinstance(node.time_type, TimestampLtz)
        case AssignWindows():
            return isinstance(node.edge.columns[-1].type, TimestampLtz)
    return False


# --- columns -----------------------------------------------------------------------------------


def _by_name(edge: Edge, but: Iterable[str] = ()) -> Rows:
    """The columns of rows that are kept under their names."""
    hidden = set(but)
    return tuple(KeptColumn(c.name, c.type.text()) for c in edge.columns if c.name not in hidden)


def _by_place(edge: Edge, places: Iterable[int]) -> Rows:
    """The columns that are known by the number of their place."""
    return tuple(
        KeptColumn(f"#{place + 1}", edge.columns[place].type.text()) for place in sorted({*places})
    )


# --- what each operator means ------------------------------------------------------------------

Meaning = tuple[dict[str, Any], tuple[Rows, ...]]


def _keep_first(node: KeepFirst) -> Meaning:
    edge = node.input.edge
    meaning = {
        "keys": origins(node.input, node.keys),
        "time": "processing" if node.by_clock else origin(node.input, node.time),
        "held back in milliseconds": delay_ms(node.input),
    }
    return meaning, (_by_place(edge, range(len(edge.columns))),)


def _keep_last(node: KeepLast) -> Meaning:
    edge = node.input.edge
    meaning = {"keys": origins(node.input, node.keys), "time": origin(node.input, node.time)}
    return meaning, (_by_name(edge),)


def _temporal_join(node: TemporalJoin) -> Meaning:
    left, right = node.left.edge, node.right.edge
    meaning: dict[str, Any] = {
        **_of_join(node),
        "time": "processing" if node.right_time is None else "event",
    }
    if node.right_time is None:
        meaning["waits for the right side"] = node.load_idle_ms is not None
        return meaning, (_by_name(left), _by_name(right))
    meaning["times"] = [origin(node.left, node.left_time), origin(node.right, node.right_time)]
    meaning["retractions end versions"] = node.retractions_overwrite
    shown = _given_out(node, (*node.left_keys, *_moved(node, node.right_keys)))
    return meaning, _without_times(node, node.right_time, shown)


def _interval_join(node: IntervalJoin) -> Meaning:
    meaning = {
        **_of_join(node),
        "time": "processing" if node.by_clock else "event",
        "times": [origin(node.left, node.left_time), origin(node.right, node.right_time)],
        "bounds in milliseconds": [node.lower_ms, node.upper_ms],
        "condition": plain(node.condition),
        "drops late rows": node.drops_late,
    }
    if node.by_clock or node.drops_late or node.output is None:
        return meaning, (_by_name(node.left.edge), _by_name(node.right.edge))
    tested = () if node.condition is None else references(node.condition)
    shown = _given_out(node, (*node.left_keys, *_moved(node, node.right_keys), *tested))
    return meaning, _without_times(node, node.right_time, shown)


def _regular_join(node: RegularJoin) -> Meaning:
    sides = (node.left.edge, node.right.edge)
    meaning = {
        **_of_join(node),
        "condition": plain(node.condition),
        "at end": node.at_end,
        "changes": [edge.changelog.value for edge in sides],
        "unique keys": [list(edge.keys[0]) if edge.keys else [] for edge in sides],
    }
    return meaning, tuple(map(_by_name, sides))


def _window_join(node: WindowJoin) -> Meaning:
    meaning = {
        **_of_join(node),
        "windows": [
            _windows(node.left.edge, node.left_window),
            _windows(node.right.edge, node.right_window),
        ],
        "condition": plain(node.condition),
    }
    return meaning, (_by_name(node.left.edge), _by_name(node.right.edge))


def _co_group(node: CoGroup) -> Meaning:
    left, right = node.left.edge, node.right.edge
    meaning = {
        "keys": [origins(node.left, node.left_keys), origins(node.right, node.right_keys)],
        "times": [origin(node.left, node.left_time), origin(node.right, node.right_time)],
        "windows": [
            None if window is None else _windows(edge, window)
            for edge, window in ((left, node.left_window), (right, node.right_window))
        ],
        "gap in milliseconds": node.gap_ms,
    }
    return meaning, (_by_name(left), _by_name(right))


def _rows_of_sessions(node: AssignWindows) -> Meaning:
    meaning = {
        "keys": origins(node.input, node.keys),
        "windows": plain(node.assigner),
        "time": "processing" if node.by_clock else origin(node.input, node.time),
        "changes": node.input.edge.changelog.value,
    }
    return meaning, (_by_name(node.input.edge),)


def _window_aggregate(node: WindowAggregate) -> Meaning:
    edge = node.input.edge
    meaning = {
        "keys": origins(node.input, node.keys),
        "windows": plain(node.assigner),
        "given by columns": node.given,
        "time": "processing" if node.by_clock else _time(node.input, node.time),
        "functions": [_function(node.input, call) for call in node.calls],
        "early results": _firing(node.emit.early),
        "late results": _firing(node.emit.late),
        "allowed lateness in milliseconds": node.lateness_ms,
        "changes": edge.changelog.value,
    }
    used = {*node.keys, *(place for call in node.calls for place in _used(call))}
    return meaning, (_by_place(edge, used),)


def _group_aggregate(node: GroupAggregate) -> Meaning:
    edge = node.input.edge
    meaning = {
        "keys": origins(node.input, node.keys),
        "functions": [_function(node.input, call) for call in node.calls],
        "at end": node.at_end,
        "changes": edge.changelog.value,
    }
    used = {*node.keys, *(place for call in node.calls for place in _used(call))}
    return meaning, (_by_place(edge, used),)


def _time(node: Node, place: int | None) -> Any:
    return "event" if place is None else origin(node, place)


def _function(node: Node, call: AggregateCall) -> dict[str, Any]:
    given = [origin(node, place) for place in call.arguments]
    only = None if call.filter is None else origin(node, call.filter)
    return {**plain(call), "arguments": given, "filter": only}


def _firing(firing: Firing | None) -> str | None:
    """What makes windows emit besides their end; how often by the clock may change."""
    if firing is None:
        return None
    return "at each row" if firing.each_row else "by the clock"


def _used(call: AggregateCall) -> tuple[int, ...]:
    return call.arguments if call.filter is None else (*call.arguments, call.filter)


def _window_rank(node: WindowRank) -> Meaning:
    meaning = {
        "keys": origins(node.input, node.keys),
        "bounds": node.bounds,
        "order": [{**plain(by), "column": origin(node.input, by.column)} for by in node.order],
        "ranks": [node.low, node.high],
        "newest first": node.newest_first,
    }
    return meaning, (_by_name(node.input.edge),)


def _late_rows(node: LateRows) -> Meaning:
    meaning = {
        "operator": node.operator,
        "keys": origins(node.input, node.keys),
        "windows": plain(node.assigner),
        "given by columns": node.given,
        "time": origin(node.input, node.time),
        "allowed lateness in milliseconds": node.lateness_ms,
        "held back in milliseconds": node.held_back_ms,
        "shares sessions": node.shares_sessions,
        "inputs": 1 + len(node.beside),
    }
    return meaning, (_by_name(node.input.edge),)


_MEANINGS: dict[type, Callable[[Any], Meaning]] = {
    KeepFirst: _keep_first,
    KeepLast: _keep_last,
    TemporalJoin: _temporal_join,
    IntervalJoin: _interval_join,
    RegularJoin: _regular_join,
    WindowJoin: _window_join,
    CoGroup: _co_group,
    AssignWindows: _rows_of_sessions,
    WindowAggregate: _window_aggregate,
    GroupAggregate: _group_aggregate,
    WindowRank: _window_rank,
    LateRows: _late_rows,
}


# --- joins -------------------------------------------------------------------------------------

Join = TemporalJoin | IntervalJoin | RegularJoin | WindowJoin


def _of_join(node: Join) -> dict[str, Any]:
    return {
        "join": node.how,
        "nulls equal": node.nulls_equal,
        "keys": [origins(node.left, node.left_keys), origins(node.right, node.right_keys)],
        "held back in milliseconds": max(delay_ms(node.left), delay_ms(node.right)),
    }


def _moved(node: Join, of_right: Sequence[int]) -> tuple[int, ...]:
    width = len(node.left.edge.columns)
    return tuple(width + place for place in of_right)


def _given_out(node: TemporalJoin | IntervalJoin, others: Iterable[int]) -> set[int] | None:
    """The columns of both sides that somebody sees; None if all are given out."""
    return None if node.output is None else {*node.output, *others}


def _without_times(
    node: TemporalJoin | IntervalJoin, right_time: int, shown: set[int] | None
) -> tuple[Rows, ...]:
    """The columns of both sides but for a time that nobody sees: it is kept as a number."""
    sides = ((node.left.edge, node.left_time), (node.right.edge, right_time))
    width = len(node.left.edge.columns)
    return tuple(
        _by_name(edge, () if shown is None or first + time in shown else {edge.names[time]})
        for (edge, time), first in zip(sides, (0, width), strict=True)
    )


def _windows(edge: Edge, bounds: tuple[int, int]) -> Any:
    window = edge.columns[bounds[0]].window
    return list(bounds) if window is None else plain(window.assigner)
