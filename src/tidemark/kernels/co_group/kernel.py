"""Rows of two inputs that have one key and are in one window, brought together when it closes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol, runtime_checkable

import polars as pl

from tidemark.kernels.arrivals import end_of
from tidemark.kernels.columns import AFTER_ALL, ARRIVAL, HASH, KIND, SEQUENCE, STAMP, TIME
from tidemark.kernels.cuts import BY_TIME, ByArrival, ByTime, Cut
from tidemark.kernels.protocol import Metrics, Step
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.tables import StateTable, earliest
from tidemark.kernels.windows.panes import LAST, PANE, panes_of
from tidemark.kernels.windows.spec import WINDOW_END, Cumulating, Given, Sliding

Frames = tuple[pl.DataFrame, pl.DataFrame]

# What comes of the rows of closed windows: those of the left side and those of the right, with
# the user's columns, HASH, WINDOW_START and WINDOW_END; rows of one window are in order of arrival.
Meet = Callable[[pl.DataFrame, pl.DataFrame], pl.DataFrame]

SIDES: Final = ("left", "right")


@runtime_checkable
class MeetInPieces(Protocol):
    """A `Meet` that can be held to so many pairs at a time."""

    def pieces(
        self, left: pl.DataFrame, right: pl.DataFrame, at_most: int | None
    ) -> Iterator[pl.DataFrame]: ...


@dataclass(frozen=True, slots=True)
class Arriving:
    """The rows of a step, each with the watermark before it and its place in the sequence."""

    frames: Frames
    watermark: int
    end: int

    @classmethod
    def of(cls, state: State, inputs: Sequence[pl.DataFrame], watermark: int) -> Arriving:
        left, right = (_numbered(state, rows) for rows in inputs)
        stamps = [int(rows[STAMP][-1]) for rows in (left, right) if rows.height]
        after = max(state.watermark, watermark, *stamps)
        return cls((left, right), after, end_of(state, (left, right)))

    @property
    def closed(self) -> int:
        """The end of the last window that is over: its last millisecond is the watermark."""
        return min(self.watermark, AFTER_ALL - 1) + 1


def _numbered(state: State, rows: pl.DataFrame) -> pl.DataFrame:
    return rows.drop(KIND, strict=False).with_columns(
        (pl.col(ARRIVAL) + state.sequence).alias(SEQUENCE),
        pl.max_horizontal(pl.col(STAMP), pl.lit(state.watermark, pl.Int64)).alias(STAMP),
    )


@dataclass(frozen=True, slots=True)
class Closing:
    """The tables a step has changed, the rows whose windows have closed, and those of each side
    that came too late for theirs."""

    tables: Mapping[str, StateTable]
    rows: Frames
    late: Frames
    next_event_time: int | None


class Windows(Protocol):
    """How rows of two sides come into windows, and wait for these to close."""

    def step(self, state: State, arriving: Arriving, compaction: Compaction) -> Closing: ...


@dataclass(frozen=True, slots=True)
class CoGroupKernel:
    """Calls `meet` with the rows of both sides whose windows the watermark has closed.

    A window closes when the watermark reaches its last millisecond; a row that comes later is
    dropped and counted. What `meet` gives is emitted. Each window is in one call as a whole.
    With `any_order` what it gives does not depend on the order in which rows of a window come.
    """

    windows: Windows
    meet: Meet
    compaction: Compaction = field(default_factory=Compaction)
    any_order: bool = False
    pairs_at_once: int | None = None

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        arriving = Arriving.of(state, inputs, watermark)
        closing = self.windows.step(state, arriving, self.compaction)
        state = replace(
            state.with_tables(**closing.tables),
            watermark=arriving.watermark,
            sequence=arriving.end,
        )
        pieces = self._pieces(closing.rows)
        output = next(pieces)
        came = (inputs[0].height, inputs[1].height)
        lost = (closing.late[0].height, closing.late[1].height)
        metrics = Metrics.of(state, came, lost, output.height, state.height)
        late = tuple(rows.drop(HASH, SEQUENCE) for rows in closing.late)
        return Step(
            state,
            output,
            metrics,
            closing.next_event_time,
            late=late,
            more=pieces if self.pairs_at_once else None,
        )

    def cut(self, inputs: Sequence[pl.DataFrame]) -> Cut:
        if self.any_order and isinstance(self.windows, WindowsOfRows):
            return self.windows.cut()
        return ByArrival()

    def limited(self, pairs: int | None) -> CoGroupKernel:
        return replace(self, pairs_at_once=pairs)

    def _pieces(self, rows: Frames) -> Iterator[pl.DataFrame]:
        if isinstance(self.meet, MeetInPieces):
            return self.meet.pieces(*rows, self.pairs_at_once)
        return iter([self.meet(*rows)])


@dataclass(frozen=True, slots=True)
class Placing:
    """How each row of a side comes into its windows: by its TIME, or as it says itself.

    `shown` are columns made of WINDOW_START and WINDOW_END when a window closes: what the query
    sees of it where rows do not bring that along.
    """

    assigner: Sliding | Cumulating | Given
    shown: tuple[pl.Expr, ...] = field(default=(), compare=False)

    def placed(self, rows: pl.DataFrame) -> pl.DataFrame:
        panes = panes_of(self.assigner)
        return panes.in_windows(panes.of_rows(rows)).drop(PANE, LAST)

    @property
    def passing(self) -> list[str]:
        """The columns of a row that nobody asks for when its window closes."""
        given = [self.given.start, self.given.end] if self.given else []
        return [*given, TIME, ARRIVAL, SEQUENCE, STAMP]

    @property
    def given(self) -> Given | None:
        return self.assigner if isinstance(self.assigner, Given) else None


@dataclass(frozen=True, slots=True)
class WindowsOfRows:
    """A row is in its windows whatever other rows there are. Rows wait in a queue for each side,
    once for every window."""

    left: Placing
    right: Placing

    def step(self, state: State, arriving: Arriving, compaction: Compaction) -> Closing:
        rows, late, tables = [], [], {}
        for side, placing, came in zip(
            SIDES, (self.left, self.right), arriving.frames, strict=True
        ):
            placed = placing.placed(came)
            in_time, too_late = _parted(placed, pl.col(STAMP) < pl.col(WINDOW_END) - 1)
            late.append(too_late.select(came.columns))
            over, waits = _parted(
                in_time.drop(placing.passing), pl.col(WINDOW_END) <= arriving.closed
            )
            due, queue = state.queue(side).take(arriving.closed, WINDOW_END, waits.clear())
            rows.append(pl.concat([due, over], rechunk=True).with_columns(placing.shown))
            tables[side] = queue.push(waits, WINDOW_END, compaction)
        end = earliest(*(queue.next for queue in tables.values()))
        return Closing(
            tables, (rows[0], rows[1]), (late[0], late[1]), None if end is None else end - 1
        )

    def cut(self) -> Cut:
        """A row is in time for its windows while the watermark is below the end of the first."""
        given = self.left.given, self.right.given
        if not any(given):
            return BY_TIME
        return ByTime(tuple(pl.col(g.end) - 1 if g else pl.col(TIME) for g in given))


def _parted(rows: pl.DataFrame, condition: pl.Expr) -> Frames:
    """The rows for which a condition holds, and the others. Mostly it holds for all or for none,
    and then nothing is copied."""
    holds = rows.select(condition.alias(_HOLDS))[_HOLDS]
    if holds.all():
        return rows, rows.clear()
    if not holds.any():
        return rows.clear(), rows
    return rows.filter(holds), rows.filter(~holds)


_HOLDS: Final = "_tm_holds"
