"""What a stateful operator asks of its inputs, and how often it must look at the clock."""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.kernels.windows.spec import Assigner, Cumulating, Session, Sliding


@dataclass(frozen=True, slots=True)
class Port:
    """What an operator asks of one input: by which keys its rows are moved, and by which column's
    event time the operator goes.

    With `stamps` it can use the watermark before each row. `window` are the columns of the window
    in which the rows of a join meet. An operator that goes `by_clock` must be given the end of a
    bounded input even if that has no watermark.
    """

    keys: tuple[int, ...]
    time: int | None = None
    stamps: bool = False
    window: tuple[int, int] | None = None
    by_clock: bool = False


@dataclass(frozen=True, slots=True)
class Needs:
    """An operator's kind, which is what its ids are made of, and what it asks for: a port for each
    input, in their order.

    It waits for watermarks `held_back_ms` longer, because that far its input may be behind them.
    Times in columns that are not `shown` are seen by nobody else, where that is known; columns
    count on through both sides of a join.
    """

    kind: str
    ports: tuple[Port, ...]
    held_back_ms: int = 0
    tick_ms: int | None = None
    shown: frozenset[int] | None = None


# How often operators look at the clock where no shorter time is asked for.
USUAL_TICK_MS = 1000
_FASTEST_TICK_MS = 100


def tick_of(assigner: Assigner) -> int:
    """How often the clock must be looked at where it decides which windows are over."""
    match assigner:
        case Sliding(slide=shortest) | Cumulating(step=shortest) | Session(gap=shortest):
            return within_reason(shortest)
    return USUAL_TICK_MS


def within_reason(tick_ms: int) -> int:
    return min(max(tick_ms, _FASTEST_TICK_MS), USUAL_TICK_MS)
