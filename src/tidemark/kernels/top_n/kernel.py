"""Top-N: the first rows of each key by some order, as a changelog."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import numpy as np
import polars as pl

from tidemark.kernels.columns import AFTER_ALL, HASH, KIND, SEQUENCE, STAMP, TIME
from tidemark.kernels.cuts import ByArrival, Cut, Nowhere
from tidemark.kernels.joined import user_columns
from tidemark.kernels.order import Order
from tidemark.kernels.protocol import Metrics, Step
from tidemark.kernels.regular_join.lifetimes import JoinInput, Present, left_in_the_end
from tidemark.kernels.regular_join.sides import StoredSide
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, distinct, longs
from tidemark.kernels.top_n.arrivals import SINCE, RankArrivals, RankedRows
from tidemark.kernels.top_n.candidates import may_be_first
from tidemark.kernels.top_n.changes import RankChanges, of_ranks, of_rows
from tidemark.kernels.top_n.side_by_side import SideBySide
from tidemark.kernels.windows.incoming import Incoming
from tidemark.kernels.windows.rank import ranked
from tidemark.kernels.windows.spec import Numbering

# What the input does: it only inserts; it also retracts rows; or it updates rows of `unique`
# columns, which never make a row's place worse.
Input = Literal["inserts", "retractions", "updates"]
_RANK: Final = "_tm_rank"


@dataclass(frozen=True, slots=True)
class TopNKernel:
    """Emit the rows `low` to `high` of each key by `order`, counted from 1, whenever they change.
    Among equals, the first to arrive comes first.

    With the number of each row in the column `rank`, or without the first rows, a row that changes
    its rank replaces the one that had it. Otherwise a row that comes pushes out the last one, which
    is deleted, and a row that goes lets in the next one. All of that is Flink's.

    Retractions need all rows in state, otherwise only the first `high` ones are kept. With `ttl`,
    rows silently expire this many milliseconds after they were last written.
    With `at_end`, all rows arrive in one step, and those that are the first ones at its end are
    emitted, in order. With `stamps`, changes have the watermark before the row that arrives in
    SEEN. With `upserts`, updates come without the rows that they replace.
    """

    keys: tuple[str, ...]
    order: tuple[Order, ...]
    low: int
    high: int
    input: Input = "inserts"
    rank: str | None = None
    unique: tuple[str, ...] = ()
    ttl: int | None = None
    at_end: bool = False
    by: Numbering = "ROW_NUMBER"  # others only at the end
    stamps: bool = False
    compaction: Compaction = field(default_factory=Compaction)
    upserts: bool = False

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        incoming = Incoming.of(state, inputs[0], watermark, processing_time)
        if self.at_end:
            output = self._in_the_end(incoming.rows.drop(TIME, STAMP))
        else:
            state, output = self._follow(state, incoming)
        state = replace(state, watermark=incoming.watermark, sequence=incoming.end)
        metrics = Metrics.of(state, (incoming.rows.height,), (0,), output.height, 0)
        return Step(state, output, metrics)

    def cut(self, inputs: Sequence[pl.DataFrame]) -> Cut:
        return Nowhere() if self.at_end else ByArrival()

    def _in_the_end(self, rows: pl.DataFrame) -> pl.DataFrame:
        left = left_in_the_end(JoinInput(self.keys, retracts=True), rows)
        group, rank = [HASH, *self.keys], self.rank or _RANK
        first = ranked(left, group, self.order, self.high, rank, self.by)
        wanted = first.filter(pl.col(rank) >= self.low)
        return user_columns(wanted if self.rank else wanted.drop(_RANK))

    def _follow(self, state: State, incoming: Incoming) -> tuple[State, pl.DataFrame]:
        """The changes that the rows cause as they arrive one by one."""
        now = incoming.clock
        rows = incoming.rows.drop(TIME, STAMP)
        present = self._present(state, rows if self.high else rows.clear(), now)
        sorted_ = RankedRows.of(present, self.keys, self.order)
        changes, sequence = self._changes(sorted_)
        if self.upserts:
            changes = changes.upserts()
        output = self._output(sorted_, changes)
        if self.stamps:
            output = output.with_columns(incoming.before_causes(sequence[changes.arrival]))
        return self._written(state, present, sorted_, now), output

    # --- rows and their state --------------------------------------------------------------------

    @property
    def _side(self) -> StoredSide:
        unique = (*self.keys, *self.unique) if self.input == "updates" else ()
        rows = JoinInput(self.keys, retracts=True, unique=unique)
        return StoredSide("rows", rows, False, self.ttl, self.compaction)

    def _present(self, state: State, rows: pl.DataFrame, now: int) -> Present:
        """The arriving rows that matter, and all rows of their keys."""
        if self.input == "inserts":
            stored = self._side.stored(state, rows, distinct(longs(rows, HASH)), now)
            if self.order and self.high:
                rows = rows.filter(may_be_first(stored, rows, self.keys, self.order, self.high))
            return Present.of(self._side.input, stored, rows)
        if self.input == "retractions":
            return self._side.present(state, rows, rows, now)
        if KIND in rows.columns:
            rows = rows.filter(pl.col(KIND) != "-U")  # the row that follows replaces it anyway
        rows = rows.with_columns(pl.col(SEQUENCE).alias(SINCE))
        present = self._side.present(state, rows, rows, now)
        return replace(present, lives=self._in_place(present.lives))

    def _in_place(self, lives: pl.DataFrame) -> pl.DataFrame:
        """The rows, of which those that replace one with the same order stay in its place."""
        row = [*self.keys, *self.unique]
        by = [one.column for one in self.order]
        moved = pl.any_horizontal(pl.col(one).ne_missing(pl.col(one).shift(1)) for one in by)
        moved = moved | (pl.int_range(pl.len()) == 0)
        since = pl.when(moved.over(row)).then(SINCE)
        return lives.with_columns(since.alias(SINCE)).with_columns(
            pl.col(SINCE).forward_fill().over(row)
        )

    def _written(self, state: State, present: Present, rows: RankedRows, now: int) -> State:
        """The state with the rows that must be kept."""
        if self.input != "retractions":
            died = np.zeros_like(present.died)
            died[rows.place[rows.remaining(self.high)]] = AFTER_ALL
            present = replace(present, died=died)
        touched = np.zeros(present.died.size, dtype=bool)
        return self._side.write(state, present, None, touched, now)

    # --- output ----------------------------------------------------------------------------------

    def _changes(self, rows: RankedRows) -> tuple[RankChanges, Longs]:
        """The changes, and where in the sequence each arrival is."""
        by_rank = self.rank is not None or self.low > 1
        replaces = self.high == 1 and self.input != "retractions"
        side_by_side = SideBySide.of(rows, self.high)
        if side_by_side is not None:
            found = (
                side_by_side.of_ranks(self.low)
                if by_rank
                else side_by_side.of_rows(replaces=replaces)
            )
            return found, side_by_side.sequence
        arrivals = RankArrivals.of(rows)
        found = (
            of_ranks(arrivals, self.low, self.high)
            if by_rank
            else of_rows(arrivals, self.high, replaces=replaces)
        )
        return found, arrivals.sequence

    def _output(self, rows: RankedRows, changes: RankChanges) -> pl.DataFrame:
        shown = user_columns(rows.frame).drop(SINCE, strict=False)[changes.row]
        if self.rank is not None:
            shown = shown.with_columns(pl.Series(self.rank, changes.rank, pl.Int64))
        return shown.with_columns(changes.kinds())
