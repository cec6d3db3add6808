"""The rows of two inputs with the same key and window, grouped when the window closes."""

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

# Turns the rows of closed windows, left and right ones, into output. They have the user's columns,
# HASH, WINDOW_START and WINDOW_END; rows of one window are in order of arrival.
OnClose = Callable[[pl.DataFrame, pl.DataFrame], pl.DataFrame]

SIDES: Final = ("left", "right")


@runtime_checkable
class OnCloseInPieces(Protocol):
    """An `OnClose` that can be limited to a number of pairs at a time."""

    def pieces(
        self, left: pl.DataFrame, right: pl.DataFrame, at_most: int | None
    ) -> Iterator[pl.DataFrame]: ...


@dataclass(frozen=True, slots=True)
class Arriving:
    """The rows of a step, each with the watermark before it and its position in the sequence."""

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
        """The end of the last closed window, whose last millisecond is the watermark."""
        return min(self.watermark, AFTER_ALL - 1) + 1


def _numbered(state: State, rows: pl.DataFrame) -> pl.DataFrame:
    return rows.drop(KIND, strict=False).with_columns(
        (pl.col(ARRIVAL) + state.sequence).alias(SEQUENCE),
        pl.max_horizontal(pl.col(STAMP), pl.lit(state.watermark, pl.Int64)).alias(STAMP),
    )


@dataclass(frozen=True, slots=True)
class ClosedWindows:
    """The tables that a step has changed, the rows whose windows have closed, and of each side the
    rows that are late for all their windows, and how often rows were late for one.
    """

    tables: Mapping[str, StateTable]
    rows: Frames
    late: Frames
    dropped: tuple[int, int]
    next_event_time: int | None


class Windows(Protocol):
    """Assigns the rows of two sides to windows, and keeps them until these close."""

    def step(self, state: State, arriving: Arriving, compaction: Compaction) -> ClosedWindows: ...


@dataclass(frozen=True, slots=True)
class CoGroupKernel:
    """Calls `on_close` with the rows of both sides whose windows have closed, and emits its result.

    A window closes when the watermark reaches its last millisecond; later rows are dropped and
    counted, once for each window. All rows of a window are in the same call. With `any_order`, the
    result does not depend on the order in which the rows of a window arrive.
    """

    windows: Windows
    on_close: OnClose
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
        metrics = Metrics.of(state, came, closing.dropped, output.height, state.height)
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
        if isinstance(self.on_close, OnCloseInPieces):
            return self.on_close.pieces(*rows, self.pairs_at_once)
        return iter([self.on_close(*rows)])


@dataclass(frozen=True, slots=True)
class WindowAssignment:
    """How the rows of a side are assigned to windows: by their TIME, or by columns of their own.

    `shown` are the query's columns of a window if rows do not have them; they are computed from
    WINDOW_START and WINDOW_END when the window closes.
    """

    assigner: Sliding | Cumulating | Given
    shown: tuple[pl.Expr, ...] = field(default=(), compare=False)

    def placed(self, rows: pl.DataFrame) -> pl.DataFrame:
        panes = panes_of(self.assigner)
        return panes.in_windows(panes.of_rows(rows)).drop(PANE)

    @property
    def passing(self) -> list[str]:
        """The columns of a row that are not used any more when its window closes."""
        given = [self.given.start, self.given.end] if self.given else []
        return [*given, TIME, ARRIVAL, SEQUENCE, STAMP, LAST]

    @property
    def given(self) -> Given | None:
        return self.assigner if isinstance(self.assigner, Given) else None


@dataclass(frozen=True, slots=True)
class WindowsOfRows:
    """Windows that do not depend on other rows. Rows wait in a queue for each side, once for each
    of their windows.
    """

    left: WindowAssignment
    right: WindowAssignment

    def step(self, state: State, arriving: Arriving, compaction: Compaction) -> ClosedWindows:
        rows, late, dropped, tables = [], [], [], {}
        for side, assignment, came in zip(
            SIDES, (self.left, self.right), arriving.frames, strict=True
        ):
            placed = assignment.placed(came)
            in_time, too_late = _parted(placed, pl.col(STAMP) < pl.col(WINDOW_END) - 1)
            dropped.append(too_late.height)
            late.append(too_late.filter(pl.col(WINDOW_END) == pl.col(LAST)).select(came.columns))
            over, waits = _parted(
                in_time.drop(assignment.passing), pl.col(WINDOW_END) <= arriving.closed
            )
            due, queue = state.queue(side).take(arriving.closed, WINDOW_END, waits.clear())
            rows.append(pl.concat([due, over], rechunk=True).with_columns(assignment.shown))
            tables[side] = queue.push(waits, WINDOW_END, compaction)
        end = earliest(*(queue.next for queue in tables.values()))
        return ClosedWindows(
            tables,
            (rows[0], rows[1]),
            (late[0], late[1]),
            (dropped[0], dropped[1]),
            None if end is None else end - 1,
        )

    def cut(self) -> Cut:
        """A row is not late for any window while the watermark is below the end of its first."""
        given = self.left.given, self.right.given
        if not any(given):
            return BY_TIME
        return ByTime(tuple(pl.col(g.end) - 1 if g else pl.col(TIME) for g in given))


def _parted(rows: pl.DataFrame, condition: pl.Expr) -> Frames:
    """The rows for which a condition holds, and the others. Usually it holds for all or for none,
    and then nothing is copied.
    """
    holds = rows.select(condition.alias(_HOLDS))[_HOLDS]
    if holds.all():
        return rows, rows.clear()
    if not holds.any():
        return rows.clear(), rows
    return rows.filter(holds), rows.filter(~holds)


_HOLDS: Final = "_tm_holds"
