"""The sides of an interval join: rows search for matches on the other side, then wait for more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from tidemark.kernels.columns import HASH, SEQUENCE, TIME
from tidemark.kernels.interval_join.clean_up import FLOOR, IntervalCleanUp
from tidemark.kernels.interval_join.matches import MATCHED, MatchNotes
from tidemark.kernels.join_output import Output
from tidemark.kernels.keys import Keys, has_null
from tidemark.kernels.ranges import (
    Flags,
    Pairs,
    Ranges,
    order_by_key_and_time,
    taken_in_order,
)
from tidemark.kernels.sorting import stable_order
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, longs


@dataclass(frozen=True, slots=True)
class Side:
    """A side's cache. If it `pads`, rows that never match are emitted in the end; with
    `first_only`, rows are emitted without the other side at their first match.
    """

    clean_up: IntervalCleanUp
    pads: bool = False
    first_only: bool = False

    @property
    def name(self) -> str:
        return self.clean_up.side

    @property
    def keys(self) -> tuple[str, ...]:
        return self.clean_up.keys

    @property
    def size(self) -> int:
        return self.clean_up.size

    @property
    def notes_matches(self) -> bool:
        return self.pads or self.first_only

    @property
    def match_notes(self) -> MatchNotes:
        return MatchNotes(self.clean_up)

    def tick(self, state: State, like: pl.DataFrame, clock: int, output: Output) -> State:
        """The clock advances to a time; `like` has the side's columns."""
        state = self.clean_up.fire(state, like, clock)
        if not self.pads:
            return state
        forgotten, state = self.match_notes.cleaned_up(state, like, clock)
        output.unmatched(self.name, forgotten, np.full(forgotten.height, -1))
        return state

    def found(self, state: State, pairs: Pairs, places: Longs, clock: int, output: Output) -> State:
        """Cached rows have matched: record those for which it is the first time."""
        rows = pairs.rows[pairs.theirs].with_columns(pl.Series(_PLACE, places[pairs.mine]))
        rows = rows.filter(~pl.col(MATCHED)).unique(SEQUENCE, maintain_order=True)
        rows = rows.filter(~self.match_notes.noted(state, rows))
        if self.first_only:
            output.unmatched(self.name, rows.drop(_PLACE), longs(rows, _PLACE))
        return self.match_notes.note(state, rows, clock)

    def wakes(self, state: State) -> tuple[int | None, ...]:
        """When the side must be called although no row arrives."""
        return self.clean_up.next(state), self.match_notes.next(state)


_PLACE = "_tm_place"


@dataclass(frozen=True)
class Arrived:
    """Rows of one side that arrive at one time of the clock, as they came."""

    side: Side
    rows: pl.DataFrame
    order: Longs  # their positions by hash and time
    caches: Flags  # which rows later rows of the other side can still match
    matched: Flags  # which rows have matched so far; filled while searching

    @classmethod
    def at(cls, clock: int, side: Side, rows: pl.DataFrame) -> Arrived:
        caches = longs(rows, TIME) + side.size > clock
        order = order_by_key_and_time(rows)
        return cls(side, rows, order, caches, np.zeros(rows.height, dtype=bool))

    @cached_property
    def cached(self) -> pl.DataFrame:
        """The rows that later rows can match, sorted by hash and time."""
        return taken_in_order(self.rows, self._cached_places)

    @property
    def _cached_places(self) -> Longs:
        return self.order if self.caches.all() else self.order[self.caches[self.order]]

    def mark(self, cached: Longs) -> None:
        """Rows at these positions of `cached` have matched."""
        if self.side.notes_matches:
            self.matched[self._cached_places[cached]] = True

    def settle(self, state: State, clock: int, output: Output, more_follows: bool) -> State:
        """After the search: emit the rows that are done, and cache the others if there may be rows
        of the other side that search them."""
        places = longs(self.rows, SEQUENCE)
        if self.side.pads:
            done = ~self.caches & ~self.matched
            output.unmatched(self.side.name, self.rows.filter(done), places[done])
        if self.side.first_only:
            matched = self.matched.copy()
            output.unmatched(self.side.name, self.rows.filter(matched), places[matched])
        if not more_follows and not self.side.pads:
            return state
        rows = self.cached
        if self.side.notes_matches:
            matched = self.matched[self._cached_places]
            if self.side.pads:
                state = self.side.match_notes.wait(state, rows.filter(~matched))
            rows = rows.with_columns(pl.Series(MATCHED, matched))
        return self.side.clean_up.cache(state, rows, clock) if more_follows else state


@dataclass(frozen=True, slots=True)
class Search:
    """Rows of one side that search the cache of the other.

    `swept` are the records of the other side's running timers at the keys they search.
    """

    mine: Arrived
    theirs: Arrived
    ranges: Ranges
    swept: pl.DataFrame

    @classmethod
    def of(
        cls,
        state: State,
        mine: Arrived,
        theirs: Arrived,
        clock: int,
        never_null: Sequence[str],
        at_most: int | None = None,
    ) -> Search:
        """`never_null` are the keys in which a NULL matches nothing. More matches than `at_most` in
        one place are too many."""
        rows, order, back = mine.rows, mine.order, theirs.side.size
        hashes, times = longs(rows, HASH)[order], longs(rows, TIME)[order]
        # If nothing outlives its expiry, the oldest live row is one that expires now.
        first, last = np.maximum(times, clock) - back, times + mine.side.size
        searches = last > clock - back - 1
        asked = hashes if searches.all() else hashes[searches]
        records = theirs.side.clean_up.running(state, asked, theirs.rows, clock)
        if not records.is_empty():
            records, row = _first_searches(mine, searches, records, theirs.side.keys)
            first[row] = np.maximum(times[row], longs(records, FLOOR)) - back
        finds = searches & ~has_null(rows, never_null)[order]
        if not finds.all():
            last = np.where(finds, last, first - 1)
        return cls(mine, theirs, Ranges(hashes, first, last, at_most, order), records)

    def pairs(self, state: State) -> Iterator[Pairs]:
        """The matches: rows from before, then rows of this step that came earlier."""
        yield from self.ranges.within(state.keyed(self.theirs.side.name))
        came, looked = longs(self.theirs.rows, SEQUENCE), longs(self.mine.rows, SEQUENCE)
        if came.size and looked.size and came[0] < looked[-1]:
            cached = self.theirs.cached
            pairs = self.ranges.among(cached)
            if came[-1] > looked[0]:
                came = longs(cached, SEQUENCE)
                pairs = pairs.where(came[pairs.theirs] < looked[pairs.mine])
            yield pairs

    def sweep(self, state: State, clock: int, output: Output) -> State:
        """Remove the expired rows of the other side that were searched."""
        if self.swept.is_empty():
            return state
        side = self.theirs.side
        if side.pads:
            for rows in side.clean_up.forgotten(state, self.swept, clock):
                rows = rows.filter(~pl.col(MATCHED))
                rows = rows.filter(~side.match_notes.noted(state, rows))
                place = longs(self.mine.rows, SEQUENCE).min()
                output.unmatched(side.name, rows, np.full(rows.height, place))
                state = side.match_notes.note(state, rows, clock)
        return side.clean_up.swept(state, self.swept, clock)


def _first_searches(
    mine: Arrived, searches: Flags, records: pl.DataFrame, keys: tuple[str, ...]
) -> tuple[pl.DataFrame, Longs]:
    """The records whose keys are searched, and for each the first row that does, as a position in
    the order of `searches`, which is that of hash and time."""
    numbered = Keys.of(keys, records)
    number = numbered.number(mine.rows, mine.side.keys)[mine.order]
    looking = np.flatnonzero(searches & (number >= 0))
    looking = looking[stable_order(mine.order[looking])]
    looked_at, first = np.unique(number[looking], return_index=True)
    place = np.empty(len(numbered), dtype=np.int64)
    place[numbered.number(records, keys)] = np.arange(records.height)
    return records[place[looked_at]], looking[first]
