"""What a stateful operator requires of its inputs, and how often it must check the clock."""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.kernels.windows.spec import Assigner, Cumulating, Session, Sliding


@dataclass(frozen=True, slots=True)
class Port:
    """What an operator requires of one input: the keys by which its rows are exchanged, and the
    column whose event time it uses.

    With `stamps`, it can use the watermark before each row. `window` are the columns of the window
    in which the rows of a join match. An operator in `processing_time` must know the end of a
    bounded input even if that has no watermark. Nothing asks for the watermark of an input that is
    `unwatched`.
    """

    keys: tuple[int, ...]
    time: int | None = None
    stamps: bool = False
    window: tuple[int, int] | None = None
    processing_time: bool = False
    unwatched: bool = False


@dataclass(frozen=True, slots=True)
class Needs:
    """An operator's kind, which its ids are made of, and what it requires: one port per input, in
    order.

    It holds back watermarks by `held_back_ms`, because its input may be that far behind them. Times
    in columns that are not `shown` are seen by nothing else, if known; columns are numbered across
    both sides of a join. An operator may follow the watermark of one input only: that with the
    number which it `follows`. One that never `waits` emits what follows from its rows at once, and
    nothing because of the watermark, the clock or the end of its input.
    """

    kind: str
    ports: tuple[Port, ...]
    held_back_ms: int = 0
    tick_ms: int | None = None
    shown: frozenset[int] | None = None
    follows: int | None = None
    waits: bool = True


# How often operators check the clock unless a shorter time is needed.
USUAL_TICK_MS = 1000
_FASTEST_TICK_MS = 100


def tick_of(assigner: Assigner) -> int:
    """How often the clock must be checked if it decides which windows are over."""
    match assigner:
        case Sliding(slide=shortest) | Cumulating(step=shortest) | Session(gap=shortest):
            return within_reason(shortest)
    return USUAL_TICK_MS


def within_reason(tick_ms: int) -> int:
    return min(max(tick_ms, _FASTEST_TICK_MS), USUAL_TICK_MS)
