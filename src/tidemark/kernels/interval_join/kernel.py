"""The interval join of SQL: pairs of rows with equal keys whose times are within bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import polars as pl

from tidemark.kernels.arrivals import Arrivals, arrange
from tidemark.kernels.columns import AFTER_ALL, KIND, SEQUENCE, STAMP, TIME
from tidemark.kernels.cuts import BY_TIME, ByArrival, ByTime, Cut
from tidemark.kernels.interval_join.clean_up import END, IntervalCleanUp, clock_of
from tidemark.kernels.interval_join.matches import plain
from tidemark.kernels.interval_join.sides import Arrived, Search, Side
from tidemark.kernels.join_output import How, Output, beside, taken, wanted
from tidemark.kernels.protocol import Metrics, Step
from tidemark.kernels.ranges import Pairs, equal_keys
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.tables import earliest, longs

_HOLDS = "_tm_holds"


@dataclass(frozen=True, slots=True)
class IntervalJoinKernel:
    """Join rows if the right time is in [left time + lower, left time + upper].

    A pair is emitted when the later of its rows arrives. No row is too late to search for matches;
    it is cached for later rows while the clock has not passed the end of its range. The clock is
    the watermark just before a row, or processing time; it starts at 1970, as in Flink. For how
    long cached rows are found, and when unmatched ones are emitted, is decided in `clean_up`, to
    which `slack` is added.

    `semi` emits a left row at its first match, `anti` when it expires unmatched. `condition` is
    tested on the joined columns; NULL counts as false. `nulls_equal` is, for each key, whether NULL
    equals NULL; by default it does not. Of the joined columns, only those `wanted` are emitted, if
    any are named.
    """

    left_keys: tuple[str, ...]
    right_keys: tuple[str, ...]
    lower: int
    upper: int
    how: How = "inner"
    condition: pl.Expr | None = field(default=None, compare=False)
    nulls_equal: tuple[bool, ...] | None = None
    time: Literal["event", "processing"] = "event"
    slack: int = 0
    wanted: tuple[str, ...] = ()
    compaction: Compaction = field(default_factory=Compaction)
    pairs_at_once: int | None = None

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        arrivals = self._arranged(state, inputs, watermark, processing_time)
        sides = self._sides()
        left, right = (wanted(plain(frame), self.wanted).clear() for frame in arrivals.frames)
        output = Output(left, right, self.how, self.pairs_at_once)
        before, clock = state, clock_of(state.watermark)
        moments = list(slices(state, arrivals))
        for number, (watermark, frames) in enumerate(moments, 1):
            clock = clock_of(watermark)
            more = arrivals.watermark < AFTER_ALL or _has_rows(moments[number:])
            state = self._moment(state, sides, clock, frames, output, more)
        for side in sides:
            state = side.clean_up.tidied(state, before, clock)
        state = replace(state, watermark=arrivals.watermark, sequence=arrivals.end)
        made = output.frame()
        waiting = sum(side.match_notes.waiting(state) for side in sides)
        metrics = Metrics.of(state, arrivals.rows_in, arrivals.late, made.height, waiting)
        if self.time == "processing":
            return Step(state, made, metrics)
        wake = earliest(*(time for side in sides for time in side.wakes(state)))
        return Step(state, made, metrics, wake)

    def cut(self, inputs: Sequence[pl.DataFrame]) -> Cut:
        """The clock starts at 1970: until then, caching a row does not depend on other rows."""
        return ByTime(BY_TIME.times, together=0) if self.time == "event" else ByArrival()

    def limited(self, pairs: int | None) -> IntervalJoinKernel:
        return replace(self, pairs_at_once=pairs)

    def _arranged(
        self, state: State, inputs: Sequence[pl.DataFrame], watermark: int, now: int
    ) -> Arrivals:
        frames = [frame.drop(KIND, strict=False) for frame in inputs]
        if self.time == "event":
            return arrange(state, frames, watermark)
        now = max(now, state.watermark)
        times = [pl.lit(now, pl.Int64).alias(name) for name in (TIME, STAMP)]
        # Nothing waits for the time of day once all inputs have ended.
        until = AFTER_ALL if watermark == AFTER_ALL else now
        arrivals = arrange(state, [frame.with_columns(times) for frame in frames], until)
        return replace(arrivals, late=(0, 0))

    def _sides(self) -> tuple[Side, Side]:
        left = IntervalCleanUp("left", self.left_keys, self.upper, self.slack, self.compaction)
        right = IntervalCleanUp("right", self.right_keys, -self.lower, self.slack, self.compaction)
        return (
            Side(left, pads=self.how in ("left", "full", "anti"), first_only=self.how == "semi"),
            Side(right, pads=self.how in ("right", "full")),
        )

    def _moment(
        self,
        state: State,
        sides: tuple[Side, Side],
        clock: int,
        frames: Sequence[pl.DataFrame],
        output: Output,
        more_follows: bool,
    ) -> State:
        """The clock advances to a time, then rows arrive at that time."""
        for side, rows in zip(sides, frames, strict=True):
            state = side.tick(state, rows, clock, output)
        left, right = (
            Arrived.at(clock, side, self._worth_caching(side, rows))
            for side, rows in zip(sides, frames, strict=True)
        )
        searches = [
            Search.of(state, mine, theirs, clock, self._never_null(mine.side), self.pairs_at_once)
            for mine, theirs in ((left, right), (right, left))
        ]
        for search in searches:
            state = self._match(state, search, clock, output)
        for search in searches:
            state = search.sweep(state, clock, output)
        for arrived in (left, right):
            state = arrived.settle(state, clock, output, more_follows)
        output.settle()
        return state

    def _worth_caching(self, side: Side, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows that cannot match matter only if unmatched rows are emitted."""
        return rows.drop_nulls(self._never_null(side)) if self.how == "inner" else rows

    def _never_null(self, side: Side) -> list[str]:
        """The keys in which NULL equals nothing."""
        equal = self._nulls_equal()
        return [key for key, both in zip(side.keys, equal, strict=True) if not both]

    def _nulls_equal(self) -> tuple[bool, ...]:
        return self.nulls_equal or (False,) * len(self.left_keys)

    def _match(self, state: State, search: Search, clock: int, output: Output) -> State:
        """Emit the pairs that rows find, and record which rows have matched."""
        mine, theirs = search.mine, search.theirs
        places = longs(mine.rows, SEQUENCE)
        for found in search.pairs(state):
            pairs, joined = self._tested(mine, theirs.side, found)
            if joined is not None:
                output.add_pairs(joined, places[pairs.mine])
            if mine.side.notes_matches:
                mine.matched[pairs.mine] = True
            if pairs.rows is theirs.cached:
                theirs.mark(pairs.theirs)
            elif theirs.side.notes_matches:
                state = theirs.side.found(state, pairs, places, clock, output)
        return state

    def _tested(self, mine: Arrived, side: Side, pairs: Pairs) -> tuple[Pairs, pl.DataFrame | None]:
        """The pairs with equal keys that meet the condition; and their rows, if wanted."""
        equal = equal_keys(pairs, mine.rows, mine.side.keys, side.keys, self._nulls_equal())
        pairs = pairs.where(equal)
        comes_out = self.how not in ("semi", "anti")
        if not comes_out and self.condition is None:
            return pairs, None
        rows = [plain(mine.rows), plain(pairs.rows)]
        if self.condition is None:
            rows = [wanted(of_side, self.wanted) for of_side in rows]
        places = (pairs.mine, pairs.theirs)
        joined = [taken(of, at) for of, at in zip(rows, places, strict=True)]
        together = beside(*(joined if mine.side.name == "left" else joined[::-1]))
        if self.condition is not None:
            tested = together.with_columns(self.condition.fill_null(False).alias(_HOLDS))
            holds = tested[_HOLDS].to_numpy()
            pairs, together = pairs.where(holds), wanted(together.filter(holds), self.wanted)
        return pairs, together if comes_out else None


def slices(state: State, arrivals: Arrivals) -> Iterator[tuple[int, tuple[pl.DataFrame, ...]]]:
    """The watermarks of a step, at most `END`, each with the rows that arrive at it.

    There are few: usually, all rows of a micro-batch have the same watermark.
    """
    watermarks = [state.watermark, *arrivals.advances.watermark.tolist()]
    bounds = [
        [0, *np.searchsorted(longs(rows, SEQUENCE), arrivals.advances.sequence), rows.height]
        for rows in arrivals.frames
    ]
    for number, watermark in enumerate(watermarks):
        frames = tuple(
            rows[int(bound[number]) : int(bound[number + 1])]
            for rows, bound in zip(arrivals.frames, bounds, strict=True)
        )
        if number or any(rows.height for rows in frames):
            yield min(watermark, END), frames


def _has_rows(moments: Sequence[tuple[int, tuple[pl.DataFrame, ...]]]) -> bool:
    return any(rows.height for _, frames in moments for rows in frames)
