"""Windowed aggregation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import polars as pl

from tidemark.errors import NotSupported
from tidemark.kernels.aggregates import ROWS, Aggregates
from tidemark.kernels.arrivals import unnumbered
from tidemark.kernels.columns import AFTER_ALL, HASH
from tidemark.kernels.protocol import Metrics, Step
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.windows.counted import CountWindows
from tidemark.kernels.windows.incoming import Incoming
from tidemark.kernels.windows.paned import PanedWindows
from tidemark.kernels.windows.panes import panes_of
from tidemark.kernels.windows.sessions import SessionWindows
from tidemark.kernels.windows.spec import (
    NOTHING_BESIDES,
    AggregateSpec,
    Assigner,
    CountSliding,
    Cumulating,
    Emit,
    Given,
    Session,
    Sliding,
)
from tidemark.kernels.windows.updating import UpdatingWindows
from tidemark.kernels.windows.value_counts import BORN

# Whether distinct values are kept apart from accumulators, and whether values are of which there is
# an extreme; the latest layout first.
_APART: Final = ((True, True), (True, False), (False, False))


@dataclass(frozen=True, slots=True)
class WindowAggregateKernel:
    """Aggregate the rows of each key and window, and emit the result when the window closes.

    A window closes when the watermark reaches its last millisecond, and rows whose windows are all
    closed are dropped. With `emit`, results are emitted before or after that too, and the output
    is a changelog. Windows stay open `lateness_ms` longer for rows, but only with a late firing, as
    in Flink. With `processing_time`, the clock replaces times and watermark.

    Output has the keys, a column per call, and the start and end of the window; kinds too if
    `changelog_output`. With `retracts`, input rows have kinds.

    With `idle_ms`, a window expires when no row has arrived for this long in processing time; the
    next row opens a new one. With `repeats`, unchanged results are emitted again, so that they do
    not expire in the operators after this one either.

    With `combined`, the input is the output of `combine`, which ran before the exchange: a row per
    key, pane and set of open windows, with columns of accumulators instead of the user's. Late rows
    are then counted, not shown. A kernel that has `counted` keeps state like one with `combined`,
    but its input are rows.
    """

    keys: tuple[str, ...]
    assigner: Assigner
    calls: tuple[AggregateSpec, ...]
    emit: Emit = NOTHING_BESIDES
    lateness_ms: int = 0
    processing_time: bool = False
    retracts: bool = False
    combined: bool = False
    counted: bool = False
    idle_ms: int | None = None
    repeats: bool = False
    compaction: Compaction = field(default_factory=Compaction)
    upserts: bool = False

    def __post_init__(self) -> None:
        if self._updates and isinstance(self.assigner, Session | CountSliding):
            raise NotSupported(
                f"{type(self.assigner).__name__} windows do not support early and late results",
                notes={"why": "the end of such a window is not known in advance"},
                hint="remove EMIT, or use windows of fixed length",
            )

    @property
    def changelog_output(self) -> bool:
        """Whether results have kinds, because a window may have several results."""
        return self.retracts or self._updates

    @property
    def _updates(self) -> bool:
        return self.emit.early is not None or self.emit.late is not None

    def combine(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows as partial panes, for a kernel like this one with `combined`; see `combinable`.

        Rows have HASH and TIME, and STAMP if each has its own; so does the output, which needs
        ARRIVAL (and STAMP) like rows.
        """
        return self._paned().combine(rows)

    @property
    def combinable(self) -> bool:
        """Whether rows can be combined before the exchange, and it pays off."""
        fixed = isinstance(self.assigner, Sliding | Cumulating | Given)
        return (
            fixed
            and not (self.processing_time or self.changelog_output)
            and self._aggregates().combinable
        )

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        [rows] = inputs
        arriving = Incoming.in_processing_time if self.processing_time else Incoming.of
        incoming = arriving(state, rows, watermark, processing_time)
        outcome = self._windows(state).step(state, incoming)
        late = None if self.combined else (unnumbered(state, outcome.late.drop(HASH)),)
        state = replace(
            state.with_tables(**outcome.tables),
            watermark=incoming.watermark,
            sequence=incoming.end,
        )
        metrics = Metrics.of(
            state,
            (self._count(rows),),
            (self._count(outcome.late),),
            outcome.output.height,
            outcome.waiting,
        )
        next_time = outcome.next_event_time
        if self.processing_time and next_time is not None:
            next_time = AFTER_ALL  # the clock ends windows, or the input
        return Step(state, outcome.output, metrics, next_time, late)

    def _windows(
        self, state: State
    ) -> PanedWindows | SessionWindows | CountWindows | UpdatingWindows:
        match self.assigner:
            case Session(gap):
                return SessionWindows(self.keys, gap, self._aggregates(), self.compaction)
            case CountSliding(size, slide):
                return CountWindows(self.keys, size, slide, self._aggregates(), self.compaction)
            case _ if self._updates:
                lateness = self.lateness_ms if self.emit.late else 0
                panes = panes_of(self.assigner)
                return UpdatingWindows(
                    self.keys,
                    panes,
                    self._fitting(state),
                    self.emit,
                    lateness,
                    self.idle_ms,
                    self.repeats,
                    self.compaction,
                    self.upserts,
                )
            case _:
                return self._paned()

    def _paned(self) -> PanedWindows:
        assert isinstance(self.assigner, Sliding | Cumulating | Given)
        panes = panes_of(self.assigner)
        return PanedWindows(self.keys, panes, self._aggregates(), self.compaction, self.combined)

    def _fitting(self, state: State) -> Aggregates:
        """The aggregates that stored windows have been opened with: earlier versions have kept
        distinct values, or all values of which there is an extreme, as lists.
        """
        newest = state.keyed("windows").segments[-1:]
        columns = {name for segment in newest for name in segment.rows().columns}
        for apart in _APART:
            aggregates = self._aggregates(*apart)
            known = {*aggregates.names, *([BORN] if aggregates.keeps_values else [])}
            if not newest or known <= columns:
                break
        return aggregates

    def _aggregates(self, with_changes: bool = False, with_extremes: bool = False) -> Aggregates:
        return Aggregates.of(
            self.calls,
            retracts=self.retracts,
            counted=self.combined or self.counted or self._updates,
            by_arrival=isinstance(self.assigner, Session),
            merges=not self._updates,
            with_changes=with_changes,
            with_extremes=with_extremes,
        )

    def _count(self, rows: pl.DataFrame) -> int:
        return int(rows[ROWS].sum()) if self.combined else rows.height
