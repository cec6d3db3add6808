"""The interval join of the stream API: drops late rows and keeps others only as long as needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from tidemark.kernels.arrivals import arrange, unnumbered
from tidemark.kernels.columns import HASH, KIND, SEQUENCE, STAMP, TIME
from tidemark.kernels.cuts import BY_TIME, Cut
from tidemark.kernels.interval_join.kernel import slices
from tidemark.kernels.interval_join.matches import plain
from tidemark.kernels.join_output import Output
from tidemark.kernels.protocol import Metrics, Step
from tidemark.kernels.ranges import Pairs, Ranges, by_key_and_time, equal_keys
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.tables import longs

UNTIL = "_tm_until"  # the first watermark at which a row is gone


@dataclass(frozen=True, slots=True)
class StreamIntervalJoinKernel:
    """The pairs of rows with the right time in [left time + lower, left time + upper].

    A row behind the watermark is dropped and counted. Others are kept, each by its own time, while
    a row that is not late may still match them. NULL keys match nothing.
    """

    left_keys: tuple[str, ...]
    right_keys: tuple[str, ...]
    lower: int
    upper: int
    compaction: Compaction = field(default_factory=Compaction)
    pairs_at_once: int | None = None

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        arrivals = arrange(state, [rows.drop(KIND, strict=False) for rows in inputs], watermark)
        left, right = (plain(rows).clear() for rows in arrivals.frames)
        output, late = (
            Output(left, right, "inner", self.pairs_at_once),
            [_late(f, 0).clear() for f in arrivals.frames],
        )
        before = state
        for now, frames in slices(state, arrivals):
            in_time = [rows.filter(pl.col(TIME) >= now) for rows in frames]
            late = [pl.concat([f, _late(r, now)]) for f, r in zip(late, frames, strict=True)]
            state = self._together(state, now, in_time, output)
        state = self._tidied(state, before, arrivals.watermark)
        state = replace(state, watermark=arrivals.watermark, sequence=arrivals.end)
        made = output.frame()
        lost = (late[0].height, late[1].height)
        metrics = Metrics.of(state, arrivals.rows_in, lost, made.height, 0)
        return Step(state, made, metrics, late=tuple(unnumbered(before, rows) for rows in late))

    def cut(self, inputs: Sequence[pl.DataFrame]) -> Cut:
        return BY_TIME

    def limited(self, pairs: int | None) -> StreamIntervalJoinKernel:
        return replace(self, pairs_at_once=pairs)

    def _together(
        self, state: State, now: int, frames: Sequence[pl.DataFrame], output: Output
    ) -> State:
        """Rows that arrive at one watermark search for matches, then wait for more."""
        names = ("left", "right")
        sizes = (max(self.upper, 0), max(-self.lower, 0))
        keys = (self.left_keys, self.right_keys)
        came = [
            _kept(by_key_and_time(rows.drop_nulls(key)), size, now)
            for rows, key, size in zip(frames, keys, sizes, strict=True)
        ]
        for mine, theirs, (back, ahead) in (
            (0, 1, (self.lower, self.upper)),
            (1, 0, (-self.upper, -self.lower)),
        ):
            rows, times = came[mine], longs(came[mine], TIME)
            ranges = Ranges(longs(rows, HASH), times + back, times + ahead, self.pairs_at_once)
            for pairs in self._found(state, ranges, rows, came[theirs], names[theirs], now):
                equal = equal_keys(pairs, rows, keys[mine], keys[theirs])
                pairs = pairs.where(equal)
                both = [_plain(rows)[pairs.mine], _plain(pairs.rows)[pairs.theirs]]
                left, right = both if mine == 0 else both[::-1]
                output.add_pairs(left.hstack(right), longs(rows, SEQUENCE)[pairs.mine])
        output.settle()
        for name, rows, size in zip(names, came, sizes, strict=True):
            table = state.keyed(name).without_before(now - size)
            table = table.append(
                rows, self.compaction, lambda old, _: old.filter(pl.col(UNTIL) > now).sort(TIME)
            )
            state = state.with_tables(**{name: table})
        return state

    def _tidied(self, state: State, before: State, now: int) -> State:
        """The state at the end of a step, without rows that arrived and expired in it."""
        tables = {
            name: state.keyed(name).tidied(
                before.keyed(name), lambda rows: rows.filter(pl.col(UNTIL) > now)
            )
            for name in ("left", "right")
        }
        return state.with_tables(**tables)

    def _found(
        self,
        state: State,
        ranges: Ranges,
        rows: pl.DataFrame,
        others: pl.DataFrame,
        table: str,
        now: int,
    ) -> Iterator[Pairs]:
        """Rows of earlier steps that are still kept, and earlier rows of this step."""
        for pairs in ranges.within(state.keyed(table)):
            yield pairs.where(longs(pairs.rows, UNTIL)[pairs.theirs] > now)
        pairs = ranges.among(others)
        earlier = longs(others, SEQUENCE)[pairs.theirs] < longs(rows, SEQUENCE)[pairs.mine]
        yield pairs.where(earlier)


def _late(rows: pl.DataFrame, now: int) -> pl.DataFrame:
    """The rows behind the watermark, with the watermark."""
    late = rows.filter(pl.col(TIME) < now).drop(HASH)
    return late.with_columns(pl.lit(now, pl.Int64).alias(STAMP))


def _kept(rows: pl.DataFrame, size: int, now: int) -> pl.DataFrame:
    """A row stays until the watermark reaches the end of its range, and at least until it moves."""
    until = np.maximum(longs(rows, TIME) + size, now + 1)
    return rows.with_columns(pl.Series(UNTIL, until))


def _plain(rows: pl.DataFrame) -> pl.DataFrame:
    return plain(rows).drop(UNTIL)
