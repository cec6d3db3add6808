"""OVER in the order of time: each row is emitted with its results when the watermark reaches it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from tidemark.kernels.arrivals import Advances, unnumbered
from tidemark.kernels.columns import HASH, SEQUENCE, STAMP, TIME
from tidemark.kernels.joined import user_columns
from tidemark.kernels.keys import Keys
from tidemark.kernels.over.growing import Growing
from tidemark.kernels.over.grown import Grown
from tidemark.kernels.over.kept_lifetimes import LIFE
from tidemark.kernels.over.lateness import latest_fired
from tidemark.kernels.over.mortal import MortalPartitions, unrecorded
from tidemark.kernels.over.partitions import RowPartitions, changes
from tidemark.kernels.over.past import WRITTEN, PastRows, Reach, newest_times
from tidemark.kernels.over.sorted_rows import PARTITION, SortedRows
from tidemark.kernels.over.spec import SHIFTS, OverCall
from tidemark.kernels.protocol import Metrics, Step
from tidemark.kernels.ranges import Flags
from tidemark.kernels.segments import Compaction
from tidemark.kernels.sorting import ascends, stable_order, stable_order_by
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, TimeQueue, longs
from tidemark.kernels.windows.incoming import Incoming

_GROWN, _PAST, _RANGED, _WAITING = "grown", "past", "ranged", "waiting"


@dataclass(frozen=True, slots=True)
class OverByTimeKernel:
    """Emit each row with the results of its calls when the watermark reaches it, in the order of
    times, equal ones as they arrived.

    If a frame is unbounded, rows at or behind the watermark are late. Otherwise a row is late if
    one of its partition with the same time or a later one was emitted before: rows behind the
    watermark may be accepted, and are emitted when it next advances. With `processing_time`, a
    row's time is now, and nothing is late. With `ttl`, a partition expires when none of its rows
    was emitted for so many milliseconds of processing time.

    A partition of bounded ranges is forgotten some time after its last row, as in Flink
    (`lifetimes.py`). With `stamps`, rows are emitted with the watermark before them, that before
    the advance that emits them, in SEEN; in processing time, they bring it along.

    State: the rows that wait; for unbounded frames the accumulators of each partition; for others
    the emitted rows that they still reach; for ranges the timers of each partition.
    """

    keys: tuple[str, ...]
    calls: tuple[OverCall, ...]
    processing_time: bool = False
    ttl: int | None = None
    stamps: bool = False
    compaction: Compaction = field(default_factory=Compaction)

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        incoming = self._incoming(state, inputs[0], watermark, processing_time)
        due, late, waiting, state = self._due(state, incoming, processing_time)
        if self.stamps and not self.processing_time:
            due = due.with_columns(incoming.before_firing(due))
        output, state = self._emitted(state, due, incoming, processing_time)
        state = replace(
            state.with_tables(**{_WAITING: waiting}),
            watermark=incoming.watermark,
            sequence=incoming.end,
        )
        came, lost = (incoming.rows.height,), (late.height,)
        metrics = Metrics.of(state, came, lost, output.height, waiting.height)
        # What is behind the watermark already is emitted when that next advances.
        then = None if waiting.next is None else max(waiting.next, incoming.watermark + 1)
        return Step(state, output, metrics, then, late=(late,))

    # --- which rows are emitted -----------------------------------------------------------------

    def _incoming(self, state: State, rows: pl.DataFrame, watermark: int, clock: int) -> Incoming:
        if not self.processing_time:
            return Incoming.of(state, rows, watermark, clock)
        now = max(clock, state.watermark + 1)
        before = pl.lit(now - 1, pl.Int64).alias(STAMP)
        timed = rows.with_columns(pl.lit(now, pl.Int64).alias(TIME), before)
        return Incoming.of(state, timed, now, clock)

    def _due(
        self, state: State, incoming: Incoming, now: int
    ) -> tuple[pl.DataFrame, pl.DataFrame, TimeQueue, State]:
        """The rows to emit, in order of arrival if their times are equal; the late ones; those
        that wait; and the state with what is known of partitions then."""
        advances, rows = incoming.advances, incoming.rows.drop(STAMP)
        waiting, taken = state.queue(_WAITING), rows.clear()
        if len(advances):
            taken, waiting = waiting.take(incoming.watermark, TIME, taken)
        fires = advances.firing(longs(rows, SEQUENCE), longs(rows, TIME)) < len(advances)
        if self._has_lifetimes:
            lived = self._mortal.lived(state, incoming, advances, taken)
            taken, due, late, state = lived.taken, lived.rows.drop(STAMP), lived.late, lived.state
        else:
            due, late = rows, self._is_late(state, incoming, advances, taken, now)
        if not fires.all() or late.any():
            due = due.filter(fires & ~late)
        waiting = waiting.push(rows.filter(~fires & ~late), TIME, self.compaction)
        dropped = unnumbered(state, incoming.rows.filter(late).drop(HASH))
        return pl.concat([taken, due]) if taken.height else due, dropped, waiting, state

    def _is_late(
        self, state: State, incoming: Incoming, advances: Advances, taken: pl.DataFrame, now: int
    ) -> Flags:
        rows = incoming.rows
        if self.processing_time:
            return np.zeros(rows.height, dtype=np.bool_)
        if self._is_unbounded:
            return longs(rows, TIME) <= incoming.stamps
        keys, [of_taken, key] = Keys.numbering(self.keys, taken, rows)
        past, of_past = self._recalled(state, keys, rows, incoming.before, now)
        fired = newest_times(past, of_past, len(keys))[key]
        sequence = np.append(longs(taken, SEQUENCE), longs(rows, SEQUENCE))
        time = np.append(longs(taken, TIME), longs(rows, TIME))
        since = latest_fired(advances, np.append(of_taken, key), sequence, time, rows.height)
        return longs(rows, TIME) <= np.maximum(fired, since)

    # --- their results --------------------------------------------------------------------------

    def _emitted(
        self, state: State, due: pl.DataFrame, incoming: Incoming, now: int
    ) -> tuple[pl.DataFrame, State]:
        """The due rows with their results, and the state after them."""
        keys, [key] = Keys.numbering(self._partition, due)
        order = stable_order_by(key, longs(due, TIME))
        used = dict.fromkeys([HASH, *self._partition, *self._used, TIME])
        rows = due.select(*used)[order].with_columns(pl.Series(PARTITION, key[order]))
        results: list[pl.Series] = []
        if self._growing:
            found, state = self._growing_results(state, rows, keys, now)
            results += found
        if self._framed:
            found, state = self._framed_results(state, rows, keys, incoming, now)
            results += found
        back = np.empty_like(order)
        back[order] = np.arange(order.size)
        times = longs(due, TIME)
        by_time = None if ascends(times) else stable_order(times)
        shown = user_columns(due if by_time is None else due[by_time]).drop(LIFE, strict=False)
        places = back if by_time is None else back[by_time]
        return shown.hstack(
            pl.DataFrame(results).select(c.output for c in self.calls)[places]
        ), state

    def _growing_results(
        self, state: State, rows: pl.DataFrame, keys: Keys, now: int
    ) -> tuple[list[pl.Series], State]:
        """Results over all rows so far, and the state with new accumulators."""
        growing, partition = Growing.of(self._growing), longs(rows, PARTITION)
        # In processing time every row comes alone.
        differs = changes(partition) | changes(longs(rows, TIME)) | self.processing_time
        partitions = RowPartitions.of(changes(partition), differs)
        # Rows are numbered as they are emitted: as many as have arrived and do not wait.
        first = state.sequence - state.queue(_WAITING).height
        place = pl.Series(SEQUENCE, first + np.arange(rows.height), pl.Int64)
        lifted = growing.lifted(rows.with_columns(place), partitions)
        kept = Grown(self.keys, growing.names, self.ttl)
        like = kept.records(lifted.clear(), keys, now)
        before = kept.of(state.keyed(_GROWN), keys, like, now)
        records = kept.records(growing.after(lifted, before), keys, now)
        table = kept.unexpired(state.keyed(_GROWN), now).append(
            records, self.compaction, lambda rows, _: kept.newest(rows, now)
        )
        return growing.results(lifted, partitions, before), state.with_tables(**{_GROWN: table})

    def _framed_results(
        self, state: State, rows: pl.DataFrame, keys: Keys, incoming: Incoming, now: int
    ) -> tuple[list[pl.Series], State]:
        """Results over frames that begin at some distance, and the state with the new rows."""
        rows = rows.with_columns(pl.lit(now, pl.Int64).alias(WRITTEN))
        kept = [*self._past.columns(self._used), PARTITION]
        past, of_past = self._recalled(state, keys, rows, incoming.before, now)
        past = past.with_columns(pl.Series(PARTITION, of_past, pl.Int64))
        fresh = np.append(np.zeros(past.height, dtype=np.bool_), np.ones(rows.height, np.bool_))
        both = pl.concat([past.select(kept), rows.select(kept)])
        order = stable_order(longs(both, PARTITION)) if past.height else np.arange(rows.height)
        both, fresh = both[order], fresh[order]
        both = both.with_columns(pl.Series(SEQUENCE, np.arange(both.height), pl.Int64))
        begins, times = changes(longs(both, PARTITION)), longs(both, TIME)
        partitions = RowPartitions.of(begins, begins | changes(times))
        calls = SortedRows(both, partitions, times)
        results = calls.results(self._framed, np.flatnonzero(fresh))
        needed = both.filter(fresh & self._past.reach.needed(partitions, times))

        def settle(rows: pl.DataFrame, _: bool) -> pl.DataFrame:
            if self._has_lifetimes:
                rows = self._mortal.living(state, rows, incoming.watermark)
            return self._past.settled(rows, incoming.before, now)

        name = self._past_name
        table = state.keyed(name).append(needed.drop(PARTITION, SEQUENCE), self.compaction, settle)
        return results, state.with_tables(**{name: table})

    def _recalled(
        self, state: State, keys: Keys, rows: pl.DataFrame, before: int, now: int
    ) -> tuple[pl.DataFrame, Longs]:
        """The rows of the past of these keys, with the numbers of their keys."""
        like = self._past.like(rows, self._used)
        found = state.keyed(self._past_name).probe(keys.hashes, like)
        if self._has_lifetimes:
            found = pl.concat([unrecorded(state.keyed(_PAST), keys, like), found])
        return self._past.of(found, keys, before, now)

    # --- what the calls need --------------------------------------------------------------------

    @property
    def _growing(self) -> tuple[OverCall, ...]:
        return tuple(call for call in self.calls if call.grows)

    @property
    def _framed(self) -> tuple[OverCall, ...]:
        """The calls that need rows of the past."""
        return tuple(call for call in self.calls if not call.grows)

    @property
    def _is_unbounded(self) -> bool:
        """Whether a row counts for all rows after it; LAG goes by a frame without bounds."""
        return any(call.function in SHIFTS or call.grows for call in self.calls)

    @property
    def _past(self) -> PastRows:
        return PastRows(
            self._partition, Reach.of(self._framed), self.ttl, mortal=self._has_lifetimes
        )

    @property
    def _past_name(self) -> str:
        return _RANGED if self._has_lifetimes else _PAST

    @property
    def _partition(self) -> tuple[str, ...]:
        """What tells partitions apart."""
        return (*self.keys, LIFE) if self._has_lifetimes else self.keys

    @property
    def _has_lifetimes(self) -> bool:
        """Whether partitions are forgotten some time after their last row."""
        if self.processing_time or self._is_unbounded:
            return False
        return Reach.of(self._framed).only_ms is not None

    @property
    def _mortal(self) -> MortalPartitions:
        return MortalPartitions(
            self.keys, Reach.of(self._framed), tuple(self._used), self.compaction, _PAST
        )

    @property
    def _used(self) -> list[str]:
        """The columns that results are computed of."""
        return list(dict.fromkeys(name for call in self.calls for name in call.columns))
