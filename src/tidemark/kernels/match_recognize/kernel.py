"""MATCH_RECOGNIZE over one key group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.arrivals import unnumbered
from tidemark.kernels.columns import AFTER_ALL, HASH, SEQUENCE, STAMP, TIME
from tidemark.kernels.keys import Keys
from tidemark.kernels.match_recognize.automaton import FINAL, Automaton
from tidemark.kernels.match_recognize.kept import NUMBER, Keeping, Kept
from tidemark.kernels.match_recognize.search import FoundMatches, PatternSearch
from tidemark.kernels.match_recognize.sequences import Attempts, Sequences, sequences_of
from tidemark.kernels.match_recognize.skipping import Decided, decide
from tidemark.kernels.match_recognize.spec import MatchTime, Skip, Value, Variable
from tidemark.kernels.protocol import Metrics, Step
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, TimeQueue, distinct, earliest, longs, stable_order_by
from tidemark.kernels.windows.incoming import Incoming
from tidemark.kernels.windows.rank import Order

_KEY: Final = "_tm_key_number"
_EARLIEST: Final = -(2**62)


@dataclass(frozen=True)
class MatchRecognizeKernel:
    """One row for each match: the keys, and the `measures` under their names.

    Rows wait for the watermark and are then processed by time, further `order` and arrival; those
    at or behind it are late. In `processing_time` they are processed as they arrive.
    """

    keys: tuple[str, ...]
    variables: tuple[Variable, ...]
    skip: Skip
    measures: tuple[tuple[str, Value], ...]
    within_ms: int | None = None
    order: tuple[Order, ...] = ()
    processing_time: bool = False
    compaction: Compaction = field(default_factory=Compaction)

    @cached_property
    def _search(self) -> PatternSearch:
        return PatternSearch(self.variables, Automaton.of(self.variables), self.within_ms)

    @property
    def _keeping(self) -> Keeping:
        return Keeping(self.keys, len(self.variables), self.within_ms, self.compaction)

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        of = Incoming.in_processing_time if self.processing_time else Incoming.of
        incoming = of(state, inputs[0], watermark, processing_time)
        is_late = pl.col(TIME) <= pl.col(STAMP)
        late = unnumbered(state, incoming.rows.filter(is_late).drop(HASH))
        rows = incoming.rows.filter(~is_late).drop(STAMP)
        due, waiting = self._due(state, rows, incoming)
        processed = state.sequence - state.queue("waiting").height
        timers = state.queue("timers")
        over, timers = timers.take(incoming.watermark, TIME, _timers(due.clear()))
        state = replace(
            state.with_tables(waiting=waiting, timers=timers),
            watermark=incoming.watermark,
            sequence=incoming.end,
        )
        output = self._output_of_nothing(due)
        if due.height or over.height:
            watermarks = np.unique(np.append(incoming.stamps, incoming.watermark))
            output, state = self._processed(state, due, over, processed, watermarks)
        metrics = Metrics.of(
            state, (incoming.rows.height,), (late.height,), output.height, waiting.height
        )
        until = earliest(waiting.next, state.queue("timers").next)
        return Step(state, output, metrics, until, late=(late,))

    def _due(
        self, state: State, rows: pl.DataFrame, incoming: Incoming
    ) -> tuple[pl.DataFrame, TimeQueue]:
        """The rows to process now, in order, and those that wait."""
        waiting = state.queue("waiting")
        due = rows
        if not self.processing_time:
            waiting = waiting.push(rows, TIME, self.compaction)
            due, waiting = waiting.take(incoming.watermark, TIME, rows.clear())
        by = (*self.order, Order(SEQUENCE))
        ordered = due.sort(
            [TIME, *(each.column for each in by)],
            descending=[False, *(each.descending for each in by)],
            nulls_last=[False, *(each.nulls_last for each in by)],
        )
        return ordered, waiting

    # --- the due rows, after those that are kept of their keys ----------------------------------

    def _processed(
        self,
        state: State,
        due: pl.DataFrame,
        over: pl.DataFrame,
        processed: int,
        watermarks: Longs,
    ) -> tuple[pl.DataFrame, State]:
        numbers = pl.int_range(processed, processed + due.height, dtype=pl.Int64, eager=True)
        due = due.drop(SEQUENCE).with_columns(numbers.alias(NUMBER))
        hashes = distinct(np.concatenate([longs(due, HASH), longs(over, HASH)]))
        kept = self._keeping.read(state, hashes, due.clear())
        rows = pl.concat([kept.rows, due])
        keys, [of_rows, _of_attempts] = Keys.numbering(self.keys, rows, kept.attempts)
        order = stable_order_by(of_rows, longs(rows, NUMBER))
        rows, key = rows[order], of_rows[order]
        sequences = sequences_of(rows, key, TIME)
        open_, waits = self._continued(kept, rows, longs(rows, NUMBER) >= processed)
        found = self._search.over(sequences, open_)
        found, looked_until = self._timed(found, sequences, watermarks)
        matches = Attempts.together([waits, found.matches])
        decided = decide(self.skip, self.variables, sequences.end, matches, found.open)
        output = self._output(decided, sequences, key, looked_until)
        touched = self._touched(keys, rows, key, kept)
        left = Attempts.together([decided.open, _waiting(decided.waiting)])
        state = self._keeping.write(
            state,
            kept,
            touched,
            left,
            rows[NUMBER].gather(left.start),
            key[left.start],
            due,
            state.watermark,
        )
        return output, self._with_timers(state, touched, decided, sequences, key)

    def _continued(
        self, kept: Kept, rows: pl.DataFrame, is_new: np.typing.NDArray[np.bool_]
    ) -> tuple[Attempts, Attempts]:
        """The attempts to continue, with one for each new row, and the matches that wait."""
        number = longs(rows, NUMBER)
        by_number = np.argsort(number)
        real = kept.attempts.filter(pl.col("_tm_state") >= FINAL)
        first = longs(real, "_tm_start")
        position = by_number[np.searchsorted(number[by_number], first)]
        known = self._keeping.attempts_of(real, position)
        waits = known.state == FINAL
        fresh = Attempts.beginning(
            np.flatnonzero(is_new), self._search.automaton.start, len(self.variables)
        )
        attempts = Attempts.together([known[~waits], fresh])
        return attempts[np.argsort(attempts.start, kind="stable")], known[waits]

    def _timed(
        self, found: FoundMatches, sequences: Sequences, watermarks: Longs
    ) -> tuple[FoundMatches, Longs]:
        """What was found without the attempts that the watermark ends; and for each first row the
        time until which it might have matched. `watermarks` are those of the step, ascending.
        """
        some = np.flatnonzero(found.looked >= 0)
        until = np.full(found.looked.size, _EARLIEST)
        until[some] = sequences.time[found.looked[some]]
        if self.within_ms is None:
            return found, until
        limit = sequences.time + self.within_ms
        expired = some[until[some] >= limit[some]]
        # A row ends an attempt, or the watermark does that reaches the limit before the row comes.
        until[expired] = np.minimum(until[expired], _first_from(watermarks, limit[expired]))
        start = found.open.start
        ended = limit[start] <= watermarks[-1]
        until[start[ended]] = _first_from(watermarks, limit[start[ended]])
        return replace(found, open=found.open[~ended]), until

    # --- results --------------------------------------------------------------------------------

    def _output(
        self, decided: Decided, sequences: Sequences, key: Longs, until: Longs
    ) -> pl.DataFrame:
        matches = decided.emitted
        until = np.where(decided.skipped, _EARLIEST, until)
        last = sequences.time[matches.next - 1]
        blocked = pl.DataFrame({_KEY: key, "until": until})
        blocked = blocked.select(pl.col("until").cum_max().over(_KEY))
        emitted = np.maximum(longs(blocked, "until")[matches.start], last)
        order = np.argsort(emitted, kind="stable")
        matches, emitted = matches[order], emitted[order]
        plain = [value for _, value in self.measures if not isinstance(value, MatchTime)]
        values = iter(sequences.values(matches, plain).get_columns())
        columns = [sequences.rows[key].gather(matches.start) for key in self.keys]
        for name, value in self.measures:
            if isinstance(value, MatchTime):
                time = pl.Series(emitted * 1000).cast(pl.Datetime("us", value.zone))
                columns.append(time.alias(name))
            else:
                columns.append(next(values).alias(name))
        return pl.DataFrame(columns)

    def _output_of_nothing(self, due: pl.DataFrame) -> pl.DataFrame:
        like = due.drop(SEQUENCE).with_columns(pl.lit(0, pl.Int64).alias(NUMBER)).clear()
        none = np.zeros(0, dtype=np.int64)
        no_attempts = Attempts.beginning(none, FINAL, len(self.variables))
        nothing = Decided(no_attempts, no_attempts, no_attempts, none.astype(np.bool_))
        return self._output(nothing, sequences_of(like, none, TIME), none, none)

    # --- state ----------------------------------------------------------------------------------

    def _touched(self, keys: Keys, rows: pl.DataFrame, key: Longs, kept: Kept) -> pl.DataFrame:
        """The keys of the step with the times of their last rows."""
        latest = np.full(len(keys), _EARLIEST)
        np.maximum.at(latest, key, longs(rows, TIME))
        return keys.frame.with_columns(pl.Series(TIME, latest, pl.Int64))

    def _with_timers(
        self,
        state: State,
        touched: pl.DataFrame,
        decided: Decided,
        sequences: Sequences,
        key: Longs,
    ) -> State:
        """A match that waits is looked at again when the first open attempt of its key ends."""
        if self.within_ms is None or not len(decided.waiting):
            return state
        waits = np.isin(key[decided.open.start], key[decided.waiting.start])
        first = decided.open.start[waits]
        ends = np.full(touched.height, 2**62)
        np.minimum.at(ends, key[first], sequences.time[first] + self.within_ms)
        some = np.flatnonzero(ends < 2**62)
        timers = touched[some].with_columns(pl.Series(TIME, ends[some], pl.Int64))
        queue = state.queue("timers").push(_timers(timers), TIME, self.compaction)
        return state.with_tables(timers=queue)


def _first_from(watermarks: Longs, time: Longs) -> Longs:
    """The first watermark that reaches each time; at the end of all input the time itself."""
    reaches = watermarks[np.searchsorted(watermarks, time)]
    return np.where(reaches == AFTER_ALL, time, reaches)


def _timers(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select(HASH, TIME)


def _waiting(matches: Attempts) -> Attempts:
    return replace(matches, state=np.full(len(matches), FINAL, dtype=np.int64))
