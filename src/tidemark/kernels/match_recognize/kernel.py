"""MATCH_RECOGNIZE over one key group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.arrivals import unnumbered
from tidemark.kernels.columns import AFTER_ALL, BEFORE_ALL, HASH, SEEN, SEQUENCE, STAMP, TIME
from tidemark.kernels.keys import Keys
from tidemark.kernels.match_recognize.ahead import LookingAhead
from tidemark.kernels.match_recognize.attempts import Attempts, Flags
from tidemark.kernels.match_recognize.automaton import FINAL, Automaton
from tidemark.kernels.match_recognize.kept import NEEDED, NUMBER, Keeping, Kept
from tidemark.kernels.match_recognize.preferred_search import PreferredSearch
from tidemark.kernels.match_recognize.results import EmittedMatches, Numbering, Results
from tidemark.kernels.match_recognize.search import FoundMatches, PatternSearch
from tidemark.kernels.match_recognize.sequences import Sequences, sequences_of
from tidemark.kernels.match_recognize.skipping import Decided, decide
from tidemark.kernels.match_recognize.spec import (
    EmittedAt,
    MatchCondition,
    OfMatch,
    Pick,
    Shape,
    Skip,
    Value,
    Variable,
    VariableSubset,
)
from tidemark.kernels.match_recognize.unmatched import PassedRows
from tidemark.kernels.order import Order, in_order
from tidemark.kernels.protocol import Metrics, Step
from tidemark.kernels.segments import Compaction
from tidemark.kernels.sorting import stable_order, stable_order_by
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, TimeQueue, distinct, earliest, longs
from tidemark.kernels.windows.incoming import Incoming

_KEY: Final = "_tm_key_number"
_EARLIEST: Final = -(2**62)


@dataclass(frozen=True)
class MatchRecognizeKernel:
    """One row for each match, or `all_rows` of it: the keys, and the `measures` under their names.

    Without a `shape` the variables follow each other in the pattern, and rows match as in Flink;
    with one, they match as the SQL standard says. Only then empty matches can be shown, and besides
    all rows of matches those of none.

    Rows wait for the watermark and are then processed by time, further `order` and arrival; those
    at or behind it are late. In `processing_time` they are processed as they arrive. With `stamps`,
    matches have the watermark before the advance that emits them in SEEN.
    """

    keys: tuple[str, ...]
    variables: tuple[Variable, ...]
    skip: Skip
    measures: tuple[tuple[str, Value], ...]
    within_ms: int | None = None
    order: tuple[Order, ...] = ()
    processing_time: bool = False
    shape: Shape | None = None
    subsets: tuple[VariableSubset, ...] = ()
    all_rows: bool = False
    shows_empty: bool = False
    shows_unmatched: bool = False
    stamps: bool = False
    compaction: Compaction = field(default_factory=Compaction)

    @cached_property
    def _search(self) -> PatternSearch | PreferredSearch:
        subsets = tuple(subset.variables for subset in self.subsets)
        if self.shape is not None:
            return PreferredSearch(self.variables, self.shape, subsets, self.within_ms)
        automaton = Automaton.of(self.variables)
        return PatternSearch(self.variables, automaton, subsets, self.within_ms)

    @cached_property
    def _results(self) -> Results:
        stamps = ((SEEN, EmittedAt()),) if self.stamps else ()
        return Results(self.keys, (*self.measures, *stamps), self.all_rows)

    @cached_property
    def _picks(self) -> list[Pick]:
        """The single rows that conditions and measures read."""
        values = [v.value if isinstance(v, OfMatch) else v for _, v in self.measures]
        for variable in self.variables:
            if isinstance(variable.condition, MatchCondition):
                values += variable.condition.values
        return [value for value in values if isinstance(value, Pick)]

    @cached_property
    def _back(self) -> int:
        """How many rows the pattern, conditions and measures look back."""
        return max(self._search.back, *(pick.back for pick in self._picks), 0)

    @cached_property
    def _ahead(self) -> LookingAhead | None:
        """How many rows they look ahead, and at which columns."""
        values = {(pick.column, -pick.back): None for pick in self._picks if pick.back < 0}
        rows = max(self._search.ahead, *(ahead for _, ahead in values), 0)
        return LookingAhead(self.keys, rows, tuple(values), self.compaction) if rows else None

    @property
    def _ends_with_input(self) -> bool:
        """Whether more is found at the end of the input."""
        return self._search.ends_with_input or self._ahead is not None

    def _keeping(self) -> Keeping:
        """For one step: its attempts may share what they note of their rows."""
        return Keeping(
            self.keys, self._search.noting(), self.within_ms, self._back, self.compaction
        )

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
        numbers = pl.int_range(processed, processed + due.height, dtype=pl.Int64, eager=True)
        due = due.drop(SEQUENCE).with_columns(numbers.alias(NUMBER))
        ends = self._ends_with_input and incoming.watermark == AFTER_ALL
        if self._ahead is not None:
            due, state = self._ahead.released(state, due, ends)
        output = self._output_of_nothing(due)
        if due.height or over.height or ends:
            watermarks = np.unique(np.append(incoming.stamps, incoming.watermark))
            output, state = self._processed(state, due, over, watermarks)
            if self.stamps:
                place = np.searchsorted(watermarks, longs(output, SEEN))
                before = np.append(incoming.before, watermarks)[place]
                output = output.with_columns(pl.Series(SEEN, before, pl.Int64))
        metrics = Metrics.of(
            state, (incoming.rows.height,), (late.height,), output.height, waiting.height
        )
        # What is open at the end of the input is decided then.
        end = AFTER_ALL - 1 if self._ends_with_input and not ends else None
        until = earliest(waiting.next, state.queue("timers").next, end)
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
        return in_order(due, (Order(TIME), *self.order, Order(SEQUENCE))), waiting

    # --- the due rows, after those that are kept of their keys ----------------------------------

    def _processed(
        self,
        state: State,
        due: pl.DataFrame,
        over: pl.DataFrame,
        watermarks: Longs,
    ) -> tuple[pl.DataFrame, State]:
        keeping = self._keeping()
        touched = [longs(due, HASH), longs(over, HASH)]
        if self._ends_with_input and watermarks[-1] == AFTER_ALL:
            touched.append(keeping.hashes(state))
        kept = keeping.read(state, distinct(np.concatenate(touched)), due.clear())
        rows = pl.concat([kept.rows, due])
        keys, [of_rows, _of_attempts] = Keys.numbering(self.keys, rows, kept.attempts)
        order = stable_order_by(of_rows, longs(rows, NUMBER))
        rows, key = rows[order], of_rows[order]
        sequences = sequences_of(rows, key, TIME)
        is_new = order >= kept.rows.height
        open_, waits = self._continued(keeping, kept, longs(rows, NUMBER), is_new)
        found = self._search.over(sequences, open_)
        found, looked_until = self._timed(found, sequences, watermarks)
        matches, undecided = _best(waits, found)
        if self.shows_empty and self._search.may_be_empty:
            empty = self._empty_matches(keeping, open_, found, matches)
            matches = Attempts.together([matches, empty])
        still_open = Attempts.together([found.open, undecided])
        decided = decide(self.skip, self._names, sequences.end, matches, still_open)
        emitted = self._emitted(decided, sequences, key, looked_until)
        if self._results.numbers_matches:
            numbering = Numbering(self.keys, self.compaction)
            counted, state = numbering.numbered(state, keys.frame, key[emitted.matches.start])
            emitted = replace(emitted, numbers=counted)
        if self.shows_unmatched:
            passed = PassedRows(self.keys, self.compaction)
            undecided_rows = np.concatenate([decided.open.start, decided.waiting.start])
            numbers = longs(rows, NUMBER)
            place, state = passed.unmatched(
                state, keys.frame, key, numbers, emitted.matches, undecided_rows
            )
            unmatched = keeping.noting.beginning(place, FINAL)
            emitted = emitted.with_unmatched(unmatched, sequences.known[place])
        output = self._results.of(emitted, sequences)
        left = Attempts.together([decided.open, decided.waiting.in_state(FINAL)])
        state = keeping.write(
            state,
            kept,
            self._touched(keys, rows, key, decided),
            left,
            rows[NUMBER].gather(left.start),
            key[left.start],
            due,
            state.watermark if self._ahead is None else BEFORE_ALL,
        )
        return output, self._with_timers(state, keys, decided, sequences, key)

    @property
    def _names(self) -> tuple[str, ...]:
        names = [variable.name for variable in self.variables]
        return (*names, *(subset.name for subset in self.subsets))

    def _continued(
        self, keeping: Keeping, kept: Kept, number: Longs, is_new: Flags
    ) -> tuple[Attempts, Attempts]:
        """The attempts to continue, with one for each new row, and the matches that wait."""
        by_number = np.argsort(number)
        position = by_number[np.searchsorted(number[by_number], kept.first_rows)]
        known = keeping.attempts_of(kept, position)
        waits = known.state == FINAL
        fresh = keeping.noting.beginning(np.flatnonzero(is_new), self._search.start)
        attempts = Attempts.together([known[~waits], fresh])
        return attempts[stable_order(attempts.start)], known[waits]

    def _timed(
        self, found: FoundMatches, sequences: Sequences, watermarks: Longs
    ) -> tuple[FoundMatches, Longs]:
        """What was found without the attempts that the watermark ends; and for each first row the
        time until which it might have matched. `watermarks` are those of the step, ascending.
        """
        some = np.flatnonzero(found.looked >= 0)
        until = np.full(found.looked.size, _EARLIEST)
        until[some] = sequences.known[found.looked[some]]
        ended_by_rows = self._ahead is not None and watermarks[-1] != AFTER_ALL
        if ended_by_rows:
            # A row before the watermark may still wait for those after it.
            return found, until
        if self.within_ms is None:
            if not self._search.ends_with_input or watermarks[-1] != AFTER_ALL:
                return found, until
            until[found.open.start] = sequences.time[sequences.end[found.open.start] - 1]
            return replace(found, open=found.open[:0]), until
        limit = sequences.time + self.within_ms
        expired = some[until[some] >= limit[some]] if self._ahead is None else some[:0]
        # A row ends an attempt, or the watermark does that reaches the limit before the row comes.
        until[expired] = np.minimum(until[expired], _first_from(watermarks, limit[expired]))
        start = found.open.start
        ended = limit[start] <= watermarks[-1]
        until[start[ended]] = _first_from(watermarks, limit[start[ended]])
        return replace(found, open=found.open[~ended]), until

    def _empty_matches(
        self, keeping: Keeping, tried: Attempts, found: FoundMatches, matches: Attempts
    ) -> Attempts:
        """The rows from which nothing has matched, and nothing can any more."""
        others = np.concatenate([found.open.start, matches.start])
        return keeping.noting.beginning(np.setdiff1d(tried.start, others), FINAL)

    # --- results --------------------------------------------------------------------------------

    def _emitted(
        self, decided: Decided, sequences: Sequences, key: Longs, until: Longs
    ) -> EmittedMatches:
        matches = decided.emitted
        until = np.where(decided.skipped, _EARLIEST, until)
        last = sequences.known[np.maximum(matches.next - 1, matches.start)]
        blocked = pl.DataFrame({_KEY: key, "until": until})
        blocked = blocked.select(pl.col("until").cum_max().over(_KEY))
        times = np.maximum(longs(blocked, "until")[matches.start], last)
        order = stable_order(times)
        return EmittedMatches(matches[order], times[order], order)

    def _output_of_nothing(self, due: pl.DataFrame) -> pl.DataFrame:
        none = np.zeros(0, dtype=np.int64)
        matches = self._search.noting().beginning(none, FINAL)
        return self._results.of(
            EmittedMatches(matches, none, none), sequences_of(due.clear(), none, TIME)
        )

    # --- state ----------------------------------------------------------------------------------

    def _touched(
        self, keys: Keys, rows: pl.DataFrame, key: Longs, decided: Decided
    ) -> pl.DataFrame:
        """The keys of the step with the times of their last rows."""
        latest = np.full(len(keys), _EARLIEST)
        np.maximum.at(latest, key, longs(rows, TIME))
        touched = keys.frame.with_columns(pl.Series(TIME, latest, pl.Int64))
        if not self._back:
            return touched
        first, end = np.full(len(keys), key.size), np.zeros(len(keys), dtype=np.int64)
        np.minimum.at(first, key, np.arange(key.size))
        np.maximum.at(end, key, np.arange(key.size) + 1)
        begin = end.copy()
        for attempts in (decided.open, decided.waiting):
            np.minimum.at(begin, key[attempts.start], attempts.start)
        needed = np.maximum(begin - self._back, first)
        return touched.with_columns(pl.Series(NEEDED, longs(rows, NUMBER)[needed], pl.Int64))

    def _with_timers(
        self,
        state: State,
        keys: Keys,
        decided: Decided,
        sequences: Sequences,
        key: Longs,
    ) -> State:
        """A match that waits is looked at again when the first open attempt of its key ends."""
        undecided = decided.open[decided.open.state == FINAL]
        waiting = np.append(decided.waiting.start, undecided.start)
        if self.shows_empty or self.shows_unmatched:
            waiting = np.append(waiting, decided.open.start)
        if self.within_ms is None or self._ahead is not None or not waiting.size:
            return state
        waits = np.isin(key[decided.open.start], key[waiting])
        first = decided.open.start[waits]
        ends = np.full(len(keys), 2**62)
        np.minimum.at(ends, key[first], sequences.time[first] + self.within_ms)
        some = np.flatnonzero(ends < 2**62)
        timers = keys.frame[some].with_columns(pl.Series(TIME, ends[some], pl.Int64))
        queue = state.queue("timers").push(_timers(timers), TIME, self.compaction)
        return state.with_tables(timers=queue)


def _first_from(watermarks: Longs, time: Longs) -> Longs:
    """The first watermark that reaches each time; at the end of all input the time itself."""
    reaches = watermarks[np.searchsorted(watermarks, time)]
    return np.where(reaches == AFTER_ALL, time, reaches)


def _timers(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select(HASH, TIME)


def _best(waits: Attempts, found: FoundMatches) -> tuple[Attempts, Attempts]:
    """The matches, and those for which an open attempt may still find a better one. A match that
    was found now is better than one from the same row that has waited.
    """
    waits = waits[~np.isin(waits.start, found.matches.start)]
    matches = Attempts.together([waits, found.matches])
    undecided = np.isin(matches.start, found.open.start)
    return matches[~undecided], matches[undecided]
