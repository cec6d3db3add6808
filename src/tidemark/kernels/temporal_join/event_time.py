"""The event-time temporal join: each left row with the version that was valid at its time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import polars as pl

from tidemark.kernels.arrivals import Advances, Arrivals, arrange, unnumbered
from tidemark.kernels.columns import AFTER_ALL, BEFORE_ALL, HASH, KIND, SEQUENCE, TIME
from tidemark.kernels.cuts import BY_TIME, ByArrival, Cut
from tidemark.kernels.history import FLOOR, PURGED, living_versions, newest_records, recall
from tidemark.kernels.joined import JoinType
from tidemark.kernels.keys import Keys
from tidemark.kernels.protocol import Metrics, Step
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.tables import KeyedTable, TimeQueue, distinct, earliest, longs
from tidemark.kernels.temporal_join.clean_up import CleanUp, Retention
from tidemark.kernels.temporal_join.due_rows import DueRows
from tidemark.kernels.temporal_join.versions import as_versions


@dataclass(frozen=True, slots=True)
class TemporalJoinKernel:
    """Join each left row with the right version that was valid at its event time.

    A version is valid from its own time until the next one of its key. Left rows wait for the
    watermark because their version may still arrive; then they are emitted in order of arrival,
    with their own row kind. Once a key has fired, only the newest of its versions behind the
    watermark is kept, which late rows can still match.

    `update_before` says what a `-U` row of the right side does: nothing, or end the version of
    its time as a `-D` does. With `drops_late`, left rows at or behind the watermark are dropped.
    """

    left_keys: tuple[str, ...]
    right_keys: tuple[str, ...]
    how: JoinType = "inner"
    update_before: Literal["ignored", "ends version"] = "ignored"
    retention: Retention | None = None
    drops_late: bool = False
    compaction: Compaction = field(default_factory=Compaction)

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        arrivals = arrange(state, inputs, watermark)
        left, late = self._by_lateness(state, arrivals)
        dropped = tuple(unnumbered(state, rows) for rows in (late, arrivals.frames[1].clear()))
        ignored = ("-U",) if self.update_before == "ignored" else ()
        right = as_versions(arrivals.frames[1], ignored)
        clean_up = self.retention and CleanUp(self.retention, self.right_keys, self.compaction)
        if clean_up:
            state = self._purged(state, clean_up, right, processing_time)
        due, state = self._take_due(state, arrivals, left, right)
        output = due.joined(self.how)
        state = self._remember(state, due, right)
        if clean_up:
            state = due.note_accesses(state, clean_up, left, self.left_keys, right, processing_time)
        state = replace(state, watermark=arrivals.watermark, sequence=arrivals.end)
        waiting = state.queue("waiting").height
        counted = self._late(state, arrivals)
        metrics = Metrics.of(state, arrivals.rows_in, counted, output.height, waiting)
        return Step(state, output, metrics, _next_firing(state), late=dropped)

    def cut(self, inputs: Sequence[pl.DataFrame]) -> Cut:
        """Changes of left rows are emitted in order of arrival."""
        changes = KIND in inputs[0].columns
        return ByArrival() if changes or self.retention else BY_TIME

    def _by_lateness(self, state: State, arrivals: Arrivals) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The left rows to join, and those to drop."""
        left = arrivals.frames[0]
        if not self.drops_late or not arrivals.late[0]:
            return left, left.clear()
        met = arrivals.advances.met_by(longs(left, SEQUENCE), state.watermark)
        late = longs(left, TIME) <= met
        return left.filter(~late), left.filter(late)

    def _late(self, state: State, arrivals: Arrivals) -> tuple[int, ...]:
        """How many rows are late. A retraction has the time of the version before: it is not."""
        late, right = arrivals.late, arrivals.frames[1]
        if not late[1] or KIND not in right.columns:
            return late
        retracted = right.filter(pl.col(KIND) == "-U")
        met = arrivals.advances.met_by(longs(retracted, SEQUENCE), state.watermark)
        return late[0], late[1] - int((longs(retracted, TIME) <= met).sum())

    def _take_due(
        self, state: State, arrivals: Arrivals, left: pl.DataFrame, right: pl.DataFrame
    ) -> tuple[DueRows, State]:
        """All rows that are handled in this step; the rest of the new ones starts to wait."""
        advances = arrivals.advances
        until = arrivals.watermark if len(advances) else BEFORE_ALL
        requests = right.select(HASH, *self.right_keys, TIME, SEQUENCE)
        due_left, waiting = self._exchange(state.queue("waiting"), left, advances, until)
        due_requests, pending = self._exchange(state.queue("requests"), requests, advances, until)
        # Clean-up needs the keys of all rows, to know which were accessed.
        accessed = [self._right_named(left), right] if self.retention else []
        keys, (left_key, request_key, *_) = Keys.numbering(
            self.right_keys, self._right_named(due_left), due_requests, *accessed
        )
        # What arrived after the last firing of this step matters to the next step only.
        visible = advances.sequence[-1] if len(advances) else 0
        past = recall(state, keys, right.filter(pl.col(SEQUENCE) < visible))
        due = DueRows.of(advances, keys, past, (due_left, left_key), (due_requests, request_key))
        return due, state.with_tables(waiting=waiting, requests=pending)

    def _right_named(self, left: pl.DataFrame) -> pl.DataFrame:
        keys = zip(self.left_keys, self.right_keys, strict=True)
        return left.select(HASH, *(pl.col(mine).alias(theirs) for mine, theirs in keys))

    def _exchange(
        self, queue: TimeQueue, rows: pl.DataFrame, advances: Advances, until: int
    ) -> tuple[pl.DataFrame, TimeQueue]:
        """Put new rows into a queue and take those that are due, without storing them first."""
        taken, rest = queue.take(until, TIME, rows.clear())
        due = advances.firing(longs(rows, SEQUENCE), longs(rows, TIME)) < len(advances)
        return (
            pl.concat([taken, rows.filter(due)]),
            rest.push(rows.filter(~due), TIME, self.compaction),
        )

    def _purged(self, state: State, clean_up: CleanUp, right: pl.DataFrame, now: int) -> State:
        """The state after the clean-up timers that have fired, which remove everything of a key."""
        gone, state = clean_up.expired(state, right, now)
        records = gone.with_columns(
            pl.lit(state.sequence, pl.Int64).alias(SEQUENCE),
            pl.lit(BEFORE_ALL, pl.Int64).alias(FLOOR),
            pl.lit(state.sequence, pl.Int64).alias(PURGED),
        )
        return state.with_tables(firings=self._with_records(state, records))

    def _with_records(self, state: State, records: pl.DataFrame) -> KeyedTable:
        return state.keyed("firings").append(
            records,
            self.compaction,
            lambda rows, oldest: self._records_worth_keeping(state, rows, oldest),
        )

    def _records_worth_keeping(
        self, state: State, records: pl.DataFrame, oldest: bool
    ) -> pl.DataFrame:
        """The newest record of each key; of purged keys only while purged rows are stored."""
        newest = newest_records(records, self.right_keys)
        only_purged = (pl.col(SEQUENCE) == pl.col(PURGED)) & (pl.col(FLOOR) == BEFORE_ALL)
        purged = newest.filter(only_purged) if oldest and self.retention else newest.clear()
        if purged.is_empty():
            return newest
        hashes = distinct(longs(purged, HASH))
        versions = state.keyed("versions").hashes_among(hashes)
        waiting = state.queue("waiting").smallest(SEQUENCE)
        needed = pl.col(HASH).is_in(versions.implode()) | (pl.col(PURGED) > waiting)
        return newest.filter(~only_purged | needed)

    def _remember(self, state: State, due: DueRows, right: pl.DataFrame) -> State:
        firings = self._with_records(state, due.records())
        versions = state.keyed("versions").append(
            right,
            self.compaction,
            lambda rows, _: living_versions(firings, self.right_keys, rows),
        )
        return state.with_tables(firings=firings, versions=versions)


def _next_firing(state: State) -> int | None:
    time = earliest(state.queue("waiting").next, state.queue("requests").next)
    if time is None or state.watermark == AFTER_ALL:
        return None
    return max(time, state.watermark + 1)
