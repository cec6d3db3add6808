"""The regular join of SQL: pairs of rows with equal keys, as long as neither is retracted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.arrivals import end_of, number
from tidemark.kernels.columns import TIME
from tidemark.kernels.cuts import ByArrival, Cut, Nowhere
from tidemark.kernels.join_output import How
from tidemark.kernels.kinds import kinds_of
from tidemark.kernels.protocol import Metrics, Step
from tidemark.kernels.ranges import Flags, Pairs
from tidemark.kernels.regular_join.changes import LEFT, RIGHT, Changes, MatchEvents
from tidemark.kernels.regular_join.in_the_end import joined_in_the_end
from tidemark.kernels.regular_join.lifetimes import PARTNERS, JoinInput, Present
from tidemark.kernels.regular_join.matching import Matching, plain
from tidemark.kernels.regular_join.sides import StoredSide
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, longs

_BOTH: Final = (LEFT, RIGHT)


@dataclass(frozen=True, slots=True)
class RegularJoinKernel:
    """Join each row with the existing rows of the other side when it arrives, and retract the pairs
    when it is retracted.

    A row of an outer side is padded with NULLs while it is unmatched: the padded row is emitted
    first, retracted at the first match, and emitted again when the last match is retracted. `semi`
    emits a left row while it is matched, `anti` while it is unmatched. Row kinds are Flink's: if a
    side can be padded, its changes are inserts and deletes; otherwise, pairs have the kind of the
    row that causes them. Retracting a row that does not exist still retracts its pairs, as in
    Flink.

    `condition` is tested on the joined columns; NULL counts as false. `nulls_equal` is, for each
    key, whether NULL equals NULL; by default it does not. Of the joined columns, only those
    `wanted` are emitted, if any are named. With `ttls`, rows of a side silently expire this many
    milliseconds after they were last written. With `at_end`, all rows arrive in one step, and only
    those that remain at its end are joined.
    """

    left: JoinInput
    right: JoinInput
    how: How = "inner"
    condition: pl.Expr | None = field(default=None, compare=False)
    nulls_equal: tuple[bool, ...] | None = None
    wanted: tuple[str, ...] = ()
    ttls: tuple[int | None, int | None] = (None, None)
    at_end: bool = False
    compaction: Compaction = field(default_factory=Compaction)
    pairs_at_once: int | None = None

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        numbered = number(state, inputs)
        end = end_of(state, numbered)
        rows = [frame.drop(TIME) for frame in numbered]
        if self.at_end:
            pieces = joined_in_the_end(
                (self.left, self.right),
                (rows[LEFT], rows[RIGHT]),
                self.how,
                self._matching,
                (self._shown(rows[LEFT]), self._shown(rows[RIGHT])),
                self.pairs_at_once,
            )
            output, more = next(pieces), pieces if self.pairs_at_once else None
        else:
            changes, more = self._changes(rows), None
            state = self._follow(state, rows, changes, processing_time)
            output = changes.frame()
        state = replace(state, watermark=max(state.watermark, watermark), sequence=end)
        metrics = Metrics.of(state, tuple(f.height for f in inputs), (0, 0), output.height, 0)
        return Step(state, output, metrics, more=more)

    def cut(self, inputs: Sequence[pl.DataFrame]) -> Cut:
        return Nowhere() if self.at_end else ByArrival()

    def limited(self, pairs: int | None) -> RegularJoinKernel:
        return replace(self, pairs_at_once=pairs)

    def _changes(self, rows: Sequence[pl.DataFrame]) -> Changes:
        return Changes((self._shown(rows[LEFT]), self._shown(rows[RIGHT])), self.how)

    def _shown(self, rows: pl.DataFrame) -> pl.DataFrame:
        """An empty frame with the columns of a side that are emitted."""
        empty = plain(rows).clear()
        return empty.select(n for n in empty.columns if not self.wanted or n in self.wanted)

    def _sides(self) -> tuple[StoredSide, StoredSide]:
        counts = self.how in ("left", "full", "semi", "anti"), self.how in ("right", "full")
        return (
            StoredSide("left", self.left, counts[LEFT], self.ttls[LEFT], self.compaction),
            StoredSide("right", self.right, counts[RIGHT], self.ttls[RIGHT], self.compaction),
        )

    # --- one after the other ---------------------------------------------------------------

    def _follow(
        self, state: State, rows: Sequence[pl.DataFrame], changes: Changes, now: int
    ) -> State:
        """The changes that the rows cause as they arrive one by one."""
        sides = self._sides()
        matchable = [self._matchable(side, rows[side], changes) for side in _BOTH]
        present = [
            sides[mine].present(state, matchable[mine], matchable[1 - mine], now) for mine in _BOTH
        ]
        pairs = [
            present[mine].among(present[1 - mine], at_most=self.pairs_at_once) for mine in _BOTH
        ]
        found = [self._tested(mine, present[mine].events, pairs[mine]) for mine in _BOTH]
        for mine in _BOTH:
            changes.arrived(mine, present[mine], found[mine])
        for mine in _BOTH:
            other = 1 - mine
            partners, touched = None, np.zeros(present[mine].lives.height, dtype=bool)
            if sides[mine].counts:
                match_events = MatchEvents.of(
                    present[mine], found[mine], present[other], found[other]
                )
                changes.met(mine, present[mine], present[other], match_events)
                partners, touched = self._known_partners(match_events, present[mine], mine)
            state = sides[mine].write(state, present[mine], partners, touched, now)
        return state

    def _known_partners(
        self, match_events: MatchEvents, present: Present, mine: int
    ) -> tuple[Longs, Flags]:
        """The number of matches to keep for each row, and for which rows it has changed."""
        if self.ttls[mine] is not None:
            return match_events.end, match_events.touched
        retracts = (self.left, self.right)[1 - mine].retracts
        # If the other side never retracts rows, it is enough to know whether there is a match.
        partners = match_events.end if retracts else np.minimum(match_events.end, 1)
        return partners, partners != longs(present.lives, PARTNERS)

    def _matchable(self, side: int, rows: pl.DataFrame, changes: Changes) -> pl.DataFrame:
        """The rows without those that can never match, which need not be kept."""
        known = self._matching.matchable(side, rows)
        if known is None:
            return rows
        lonely = rows.filter(~known)
        changes.themselves(side, lonely, kinds_of(lonely), np.zeros(lonely.height, dtype=bool))
        return rows.filter(known)

    @property
    def _matching(self) -> Matching:
        nulls_equal = self.nulls_equal or (False,) * len(self.left.keys)
        return Matching((self.left.keys, self.right.keys), nulls_equal, self.condition)

    def _tested(self, mine: int, rows: pl.DataFrame, pairs: Pairs) -> Pairs:
        """The pairs with equal keys that meet the condition."""
        return self._matching.met(mine, rows, pairs)
