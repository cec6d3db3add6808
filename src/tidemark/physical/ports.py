"""What each stateful operator asks of its inputs, and how often it must look at the clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.kernels.windows.spec import Assigner, Cumulating, Session, Sliding
from tidemark.plan.expressions import references
from tidemark.plan.nodes import (
    AssignWindows,
    CoGroup,
    GroupAggregate,
    IntervalJoin,
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


@dataclass(frozen=True, slots=True)
class Port:
    """What an operator asks of one input: by which keys its rows are moved, and by which column's
    event time the operator goes.

    With `stamps` it can use the watermark before each row. `window` are the columns of the window
    in which the rows of a join meet. An operator that goes `by_clock` must be given the end of a
    bounded input even if that has no watermark.
    """

    input: Node
    keys: tuple[int, ...]
    time: int | None = None
    stamps: bool = False
    window: tuple[int, int] | None = None
    by_clock: bool = False


@dataclass(frozen=True, slots=True)
class Needs:
    """An operator's kind, which is what its ids are made of, and what it asks for.

    Input columns that are not in `shown` are seen by nobody, where they are known; columns count
    on through both sides of a join.
    """

    kind: str
    ports: tuple[Port, ...]
    held_back_ms: int = 0
    tick_ms: int | None = None
    shown: frozenset[int] | None = None


def needs(node: Node) -> Needs:
    """What a stateful operator asks for."""
    return _NEEDS[type(node)](node)


def is_operator(node: Node) -> bool:
    if isinstance(node, AssignWindows):
        return node.keeps_rows
    return type(node) in _NEEDS


def _keep_last(node: KeepLast) -> Needs:
    return Needs("keep-last", (Port(node.input, node.keys, node.time),), delay_ms(node.input))


# How often operators look at the clock where no shorter time is asked for.
_USUAL_TICK_MS = 1000
_FASTEST_TICK_MS = 100


def _temporal_join(node: TemporalJoin) -> Needs:
    by_event_time = node.right_time is not None
    left = Port(node.left, node.left_keys, node.left_time if by_event_time else None)
    right = Port(node.right, node.right_keys, node.right_time)
    loading = node.load_idle_ms
    tick = None if loading is None else min(_USUAL_TICK_MS, loading)
    return Needs("temporal-join", (left, right), _behind(node), tick, _shown(node))


def _interval_join(node: IntervalJoin) -> Needs:
    times = (None, None) if node.by_clock else (node.left_time, node.right_time)
    left = Port(node.left, node.left_keys, times[0])
    right = Port(node.right, node.right_keys, times[1])
    tick = _USUAL_TICK_MS if node.by_clock and node.how != "inner" else None
    # The stream API's form reports late rows with all their columns.
    shown = None if node.drops_late else _shown(node)
    return Needs("interval-join", (left, right), _behind(node), tick, shown)


def _regular_join(node: RegularJoin) -> Needs:
    ports = (Port(node.left, node.left_keys), Port(node.right, node.right_keys))
    return Needs("regular-join", ports)


def _window_join(node: WindowJoin) -> Needs:
    left = Port(node.left, node.left_keys, window=node.left_window)
    right = Port(node.right, node.right_keys, window=node.right_window)
    return Needs("window-join", (left, right), _behind(node))


def _co_group(node: CoGroup) -> Needs:
    left = Port(node.left, node.left_keys, node.left_time, window=node.left_window)
    right = Port(node.right, node.right_keys, node.right_time, window=node.right_window)
    return Needs("co-group", (left, right), _behind(node))


def _behind(node: TemporalJoin | IntervalJoin | WindowJoin | CoGroup) -> int:
    """How far the rows of both sides may be behind the watermark."""
    return max(delay_ms(node.left), delay_ms(node.right))


def _shown(node: TemporalJoin | IntervalJoin) -> frozenset[int] | None:
    """The columns that somebody may see: a reader, or the residual condition; and the keys."""
    if node.output is None:
        return None
    width = len(node.left.edge.columns)
    keys = (*node.left_keys, *(width + key for key in node.right_keys))
    tested: Sequence[int] | frozenset[int] = ()
    if isinstance(node, IntervalJoin) and node.condition is not None:
        tested = references(node.condition)
    return frozenset((*node.output, *keys, *tested))


def _sessions(node: AssignWindows) -> Needs:
    time = None if node.by_clock else node.time
    port = Port(node.input, node.keys, time, stamps=True, by_clock=node.by_clock)
    tick = _tick_of(node.assigner) if node.by_clock else None
    return Needs("session-window", (port,), delay_ms(node.input), tick)


def _window_aggregate(node: WindowAggregate) -> Needs:
    port = Port(node.input, node.keys, node.time, stamps=True, by_clock=node.by_clock)
    firings = [firing for firing in (node.emit.early, node.emit.late) if firing is not None]
    wanted = [firing.every_ms for firing in firings if firing.every_ms is not None]
    if node.by_clock:
        wanted.append(_tick_of(node.assigner))
    tick = _within_reason(min(wanted)) if wanted else None
    return Needs("window-aggregate", (port,), delay_ms(node.input), tick)


def _group_aggregate(node: GroupAggregate) -> Needs:
    port = Port(node.input, node.keys, stamps=True)
    return Needs("group-aggregate", (port,), delay_ms(node.input))


def _window_rank(node: WindowRank) -> Needs:
    port = Port(node.input, node.keys, stamps=True)
    return Needs("window-rank", (port,), delay_ms(node.input))


def _late_rows(node: LateRows) -> Needs:
    # Where lateness does not depend on the key, rows may be anywhere.
    keys = node.keys if isinstance(node.assigner, Session) else (node.time,)
    # An operator with other inputs knows the watermark of its batch, not that before each row.
    rows = Port(node.input, keys, node.time, stamps=not node.beside)
    held_back_ms = node.held_back_ms if node.beside else delay_ms(node.input)
    return Needs("late-rows", (rows, *(_beside(node, n) for n in node.beside)), held_back_ms)


def _beside(node: LateRows, other: Node) -> Port:
    """An input that shares its sessions with the rows, or one that only moves the watermark."""
    if node.shares_sessions:
        *keys, time = range(len(other.edge.columns))
        return Port(other, tuple(keys), time)
    return Port(other, (), 0)


def _tick_of(assigner: Assigner) -> int:
    """How often the clock must be looked at where it decides which windows are over."""
    match assigner:
        case Sliding(slide=shortest) | Cumulating(step=shortest) | Session(gap=shortest):
            return _within_reason(shortest)
    return _USUAL_TICK_MS


def _within_reason(tick_ms: int) -> int:
    return min(max(tick_ms, _FASTEST_TICK_MS), _USUAL_TICK_MS)


_NEEDS: dict[type[Any], Callable[[Any], Needs]] = {
    KeepLast: _keep_last,
    TemporalJoin: _temporal_join,
    IntervalJoin: _interval_join,
    RegularJoin: _regular_join,
    WindowJoin: _window_join,
    CoGroup: _co_group,
    AssignWindows: _sessions,
    WindowAggregate: _window_aggregate,
    GroupAggregate: _group_aggregate,
    WindowRank: _window_rank,
    LateRows: _late_rows,
}
