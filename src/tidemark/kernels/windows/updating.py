"""Windows that emit results more than once: before their end, after it, or both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.aggregates import Aggregates
from tidemark.kernels.columns import AFTER_ALL, HASH, SEQUENCE, STAMP, TIME
from tidemark.kernels.keys import last_of_each
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.tables import KeyedTable, Longs, distinct, longs, run_bounds
from tidemark.kernels.windows.events import (
    CALL,
    CELL,
    EMITTED,
    END,
    HASH_OF_WINDOW,
    ORDER,
    REQUESTS,
    ROLE,
    ROW,
    STORED,
    Flags,
    changes,
    emissions,
    in_cells,
)
from tidemark.kernels.windows.group_lives import of_living_groups
from tidemark.kernels.windows.incoming import Incoming, Outcome
from tidemark.kernels.windows.panes import LAST, PANE, Panes
from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START, Emit, Firing
from tidemark.kernels.windows.value_counts import BORN, KEY_HASH, OfLiving
from tidemark.kernels.windows.window_values import PLACE, Records, WindowValues

_SINCE: Final = "_tm_since"  # Int64; when the clock's period began; NULL if it has not
_DUE: Final = "_tm_due"  # Int64; when the clock requests a result
_NEW: Final = "_tm_new"
_IN_PHASE: Final = "_tm_in_phase"  # Boolean; whether any row is in the clock's current phase
_FINAL: Final = "_tm_final"  # Boolean; whether an event is the last of its cell


@dataclass(frozen=True, slots=True)
class UpdatingWindows:
    """Emits a window when the watermark reaches its end, and additionally as specified by `emit`.

    A row changes each of its windows that is not closed, which is `lateness` after its end. In a
    step, every window goes through its events in order: what was stored, a call by the clock, rows,
    the watermark reaching its end.

    State is the accumulators and last emitted result of each window (the newest record counts), a
    queue of ends to come, a queue of calls by the clock, and a table of the distinct values of
    windows per argument. With `idle_ms`, a window expires if no row has arrived for that long.
    """

    keys: tuple[str, ...]
    panes: Panes
    aggregates: Aggregates
    emit: Emit
    lateness: int
    idle_ms: int | None
    repeats: bool
    compaction: Compaction
    upserts: bool  # whether updates come without the results that they replace

    def step(self, state: State, incoming: Incoming) -> Outcome:
        placed = self.panes.of_rows(incoming.rows)
        too_late = self.panes.closed(self.lateness)
        rows = self._in_windows(placed.filter(~too_late))
        like = rows.select(self._window).clear()
        ending, ends = state.queue("ends").take(incoming.ended, WINDOW_END, like)
        due = like.with_columns(pl.lit(0, pl.Int64).alias(_DUE))
        called, calls = state.queue("calls").take(incoming.clock, _DUE, due)
        events = self._events(state, incoming, rows, ending, called)
        records: Records = {}
        if self.aggregates.keeps_values:
            events, records = self._values.along(state, events, rows)
        emitted, last = self._results(events)
        changelog = changes(
            emitted, self.keys, self._outputs, repeated=self.repeats, upserts=self.upserts
        )
        after = self._after(events, last, emitted, incoming)
        if not self.panes.endless:
            opened = after.filter(pl.col(_NEW) & (pl.col(WINDOW_END) > incoming.ended))
            ends = ends.push(opened.select(self._window), WINDOW_END, self.compaction)
        asked = after.filter(pl.col(_DUE).is_not_null()).select(*self._window, _DUE)
        calls = calls.push(asked, _DUE, self.compaction, pl.DataFrame.unique)
        windows = self._written(state.keyed("windows"), after, incoming)
        gone = self._expired(incoming.watermark, incoming)
        living = self._living(windows, gone)
        values = self._values.kept(state, records, gone, living, self.compaction)
        return Outcome(
            {"windows": windows, "ends": ends, "calls": calls, **values},
            changelog,
            placed.filter(too_late).drop(PANE, LAST),
            next_event_time=None if ends.next is None else ends.next - 1,
            waiting=ends.height,
        )

    @property
    def _window(self) -> list[str]:
        return [HASH, *self.keys, WINDOW_START, WINDOW_END]

    @property
    def _values(self) -> WindowValues:
        until = pl.lit(AFTER_ALL) if self.idle_ms is not None else self._until
        return WindowValues(self.aggregates, until)

    @property
    def _born(self) -> list[str]:
        return [BORN] if self.aggregates.keeps_values else []

    @property
    def _until(self) -> pl.Expr:
        return pl.col(WINDOW_END) - 1 + self.lateness

    @property
    def _outputs(self) -> list[str]:
        return [result.meta.output_name() for result in self.aggregates.results]

    # --- events ----------------------------------------------------------------------------

    def _in_windows(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows as accumulators, once in each of their windows that is not closed."""
        open_ = pl.col(WINDOW_END) - 1 + self.lateness > pl.col(STAMP)
        names = [HASH, *self.keys, PANE, LAST, SEQUENCE, STAMP, *self._values.needs]
        lifted = self.aggregates.lifted(rows, list(dict.fromkeys(names)))
        opened = self.panes.in_windows(lifted).filter(open_)
        return opened.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(PLACE))

    def _events(
        self,
        state: State,
        incoming: Incoming,
        rows: pl.DataFrame,
        ending: pl.DataFrame,
        called: pl.DataFrame,
    ) -> pl.DataFrame:
        """All events in order, with the accumulators that they add, and whether they emit."""
        hashes = distinct(np.concatenate([longs(part, HASH) for part in (rows, ending, called)]))
        names = [*self._window, *self.aggregates.names]
        place = pl.col(SEQUENCE) - state.sequence
        parts = [
            (self._stored(state, incoming, hashes, rows.select(names)), STORED, pl.lit(-2)),
            (called, CALL, pl.lit(-1)),
            (rows.select(*names, STAMP, SEQUENCE, PLACE), ROW, place * 2 + 1),
            (self._ends(incoming, rows, ending), END, place * 2),
        ]
        placed = [
            part.with_columns(pl.lit(role, pl.Int64).alias(ROLE), order.cast(pl.Int64).alias(ORDER))
            for part, role, order in parts
        ]
        events = in_cells(pl.concat(placed, how="diagonal"), self._window)
        if self.panes.endless and self.aggregates.retracts:
            events = of_living_groups(events)
        is_final = (pl.col(CELL) != pl.col(CELL).shift(-1)).fill_null(True)
        return events.with_columns(
            self._requests(incoming.before).alias(REQUESTS), is_final.alias(_FINAL)
        )

    def _stored(
        self, state: State, incoming: Incoming, hashes: np.ndarray, like: pl.DataFrame
    ) -> pl.DataFrame:
        """The open windows of some hashes, with their last emitted results."""
        like = like.clear().with_columns(
            *self.aggregates.types_of_results(like),
            pl.lit(False).alias(EMITTED),
            *(pl.lit(None, pl.Int64).alias(name) for name in (_SINCE, TIME, *self._born)),
        )
        gone = self._expired(state.watermark, incoming)
        found = state.keyed("windows").without_before(gone + 1).probe(hashes, like)
        return self._newest(found, gone).drop(TIME)

    def _ends(self, incoming: Incoming, rows: pl.DataFrame, ending: pl.DataFrame) -> pl.DataFrame:
        """The windows that end in this step, and before which row."""
        end = pl.col(WINDOW_END)
        met = rows.filter((end - 1 > incoming.before) & (end <= incoming.ended))
        if self.panes.endless:
            met = met.clear()
        windows = pl.concat([ending, met.select(self._window)]).unique(maintain_order=True)
        reached = np.searchsorted(incoming.stamps, longs(windows, WINDOW_END) - 1, side="left")
        sequence = np.append(longs(incoming.rows, SEQUENCE), incoming.end)[reached]
        return windows.with_columns(pl.Series(SEQUENCE, sequence, pl.Int64))

    def _requests(self, before: int) -> pl.Expr:
        """Which events request a result.

        The first row of a window that is over always does: the watermark that would have requested
        it does not come again.
        """
        early, late = self.emit.early or Firing(), self.emit.late or Firing()
        over = pl.col(STAMP) >= pl.col(WINDOW_END) - 1
        is_first = pl.col(ROLE).cum_count().over(CELL) == 1
        of_row = pl.when(over).then(is_first | late.each_row).otherwise(early.each_row)
        # A call for early results does not count any more once the window is over.
        since = pl.col(_SINCE).first().over(CELL)
        every = self._every(before)
        of_call = ((pl.col(_DUE) - since) % every == 0).fill_null(False)
        role = pl.col(ROLE)
        return (
            pl.when(role == ROW)
            .then(of_row)
            .when(role == CALL)
            .then(of_call)
            .otherwise(role == END)
        )

    def _every(self, watermark: int) -> pl.Expr:
        """The clock's period in the phase of a window at a watermark."""
        early, late = self.emit.early or Firing(), self.emit.late or Firing()
        over = pl.col(WINDOW_END) - 1 <= watermark
        period = pl.when(over).then(pl.lit(late.every_ms, pl.Int64))
        return period.otherwise(pl.lit(early.every_ms, pl.Int64))

    def _results(self, events: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The results that events emit, and the accumulators of each cell after its last event.

        The accumulators of all events would take too much memory if they are lists.
        """
        names = self.aggregates.names
        wanted = (pl.col(ROLE) == STORED) | pl.col(REQUESTS) | pl.col(_FINAL)
        emitted, last = [], []
        final = pl.col(_FINAL)
        for part in self.aggregates.running(events, CELL, wanted, final):
            found = emissions(part, self.aggregates.results, self.aggregates.has_rows)
            emitted.append(found.drop(self.aggregates.columns))
            last.append(part.filter(final).select(CELL, *names))
        return pl.concat(emitted, rechunk=True), pl.concat(last, rechunk=True)

    # --- what is left ------------------------------------------------------------------------

    def _after(
        self, events: pl.DataFrame, last: pl.DataFrame, emitted: pl.DataFrame, incoming: Incoming
    ) -> pl.DataFrame:
        """The windows that had events, with their new state; _DUE is when the clock calls."""
        is_over = pl.col(WINDOW_END) - 1 <= incoming.watermark
        was_over = pl.col(WINDOW_END) - 1 <= incoming.before
        in_phase = (pl.col(ROLE) == ROW) & ((pl.col(STAMP) >= pl.col(WINDOW_END) - 1) == is_over)
        began = pl.coalesce(
            pl.when(is_over == was_over).then(_SINCE),
            pl.when(_IN_PHASE).then(pl.lit(incoming.clock, pl.Int64)),
        )
        first, end = run_bounds(longs(events, CELL))
        flags = events.select((pl.col(ROLE) != STORED), in_phase.fill_null(False).alias(_IN_PHASE))
        now = events.select(CELL, *self._window, *self._born, _SINCE, ROLE)[first].with_columns(
            (pl.col(ROLE) != STORED).alias(_NEW),
            (~events[REQUESTS])[end - 1],
            *(pl.Series(flag.name, _any(flag.to_numpy(), first)) for flag in flags),
        )
        now = now.with_columns(began.alias(_SINCE))
        latest = run_bounds(longs(emitted, CELL))[1] - 1
        results = emitted.select(CELL, EMITTED, *self._outputs)[latest]
        every = self._every(incoming.watermark)
        passed = (incoming.clock - pl.col(_SINCE)) // every
        due = pl.when(REQUESTS).then(pl.col(_SINCE) + (passed + 1) * every)
        # Both have the cells in order.
        now = now.hstack(last.drop(CELL)).filter(ROLE)
        return now.join(results, on=CELL, how="left").with_columns(due.alias(_DUE))

    def _written(self, table: KeyedTable, after: pl.DataFrame, incoming: Incoming) -> KeyedTable:
        until = self._until
        if self.idle_ms is not None:
            until = pl.lit(incoming.clock + self.idle_ms, pl.Int64)
        gone = self._expired(incoming.watermark, incoming)
        records = after.select(
            *(*self._window, *self.aggregates.names, *self._outputs),
            pl.col(EMITTED).fill_null(False),
            _SINCE,
            until.alias(TIME),
            *self._born,
        )
        if self.panes.endless and self.aggregates.retracts:
            records = self._newest(records, gone)  # a group may have ended and begun again
        else:
            records = records.filter(pl.col(TIME) > gone)
        table = table.without_before(min(gone, AFTER_ALL - 1) + 1)
        return table.append(records, self.compaction, lambda rows, _: self._newest(rows, gone))

    def _living(self, windows: KeyedTable, gone: int) -> OfLiving:
        if self.idle_ms is None:
            return lambda values: values.filter(pl.col(TIME) > gone)

        def of_windows(values: pl.DataFrame) -> pl.DataFrame:
            if not windows.segments:
                return values.clear()
            like = windows.segments[0].rows().clear()
            found = windows.probe(distinct(longs(values, KEY_HASH)), like)
            living = self._newest(found, gone).select(BORN, WINDOW_END)
            return values.join(living, on=living.columns, how="semi", maintain_order="left")

        return of_windows

    def _expired(self, watermark: int, incoming: Incoming) -> int:
        """Windows are kept until a TIME: those up to this one are removed."""
        return watermark if self.idle_ms is None else incoming.clock

    def _newest(self, records: pl.DataFrame, gone: int) -> pl.DataFrame:
        newest = last_of_each(records, self._window, HASH_OF_WINDOW)
        return newest.filter(pl.col(TIME) > gone)


def _any(flags: Flags, first: Longs) -> Flags:
    """Per run of rows, each from its first one to the next, whether any has the flag."""
    return np.logical_or.reduceat(flags, first) if first.size else flags
