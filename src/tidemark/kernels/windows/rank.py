"""The first rows of each key and window, by some order: window Top-N and deduplication."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from tidemark.kernels.arrivals import unnumbered
from tidemark.kernels.columns import HASH, SEQUENCE, STAMP
from tidemark.kernels.contenders import Contenders
from tidemark.kernels.joined import user_columns
from tidemark.kernels.order import Order, in_order
from tidemark.kernels.protocol import Metrics, Step
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.windows.incoming import Incoming
from tidemark.kernels.windows.spec import Numbering

_TABLE = "rows"


@dataclass(frozen=True, slots=True)
class WindowRankKernel:
    """The rows `low` to `high` of each key and window by `order`, counted from 1 as `by` says, with
    their number in `rank`.

    Rows have their window in columns, as milliseconds in `start` and `end`. They are emitted when
    the watermark reaches the window's last millisecond; later ones are dropped. Among equals, the
    first to arrive comes first, or the last, if `newest_first`.
    """

    keys: tuple[str, ...]
    start: str
    end: str
    order: tuple[Order, ...]
    low: int
    high: int
    rank: str
    newest_first: bool = False
    compaction: Compaction = field(default_factory=Compaction)
    by: Numbering = "ROW_NUMBER"

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        incoming = Incoming.of(state, inputs[0], watermark, processing_time)
        is_late = pl.col(STAMP) >= pl.col(self.end) - 1
        rows = incoming.rows.filter(~is_late).drop(STAMP)
        late = unnumbered(state, incoming.rows.filter(is_late).drop(HASH))
        # A row that is not among the first of a step cannot be among the first of all.
        first = self._ranked(rows).drop(self.rank)
        waiting = state.queue(_TABLE).push(first, self.end, self.compaction)
        due, waiting = waiting.take(incoming.ended, self.end, first.clear())
        counted = self._ranked(due).filter(pl.col(self.rank) >= self.low)
        output = user_columns(counted.sort(self.end, maintain_order=True))
        state = replace(
            state.with_tables(**{_TABLE: waiting}),
            watermark=incoming.watermark,
            sequence=incoming.end,
        )
        came, lost = (incoming.rows.height,), (late.height,)
        metrics = Metrics.of(state, came, lost, output.height, waiting.height)
        until = None if waiting.next is None else waiting.next - 1
        return Step(state, output, metrics, until, late=(late,))

    @property
    def contenders(self) -> Contenders:
        """What is enough of all rows of a batch."""
        keys = (*self.keys, self.start, self.end)
        return Contenders(keys, self.order, self.high, self.by, self.newest_first)

    def _ranked(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The first `high` rows of each key and window, in order, with their ranks."""
        group = [HASH, *self.keys, self.start, self.end]
        newest = self.newest_first
        return ranked(rows, group, self.order, self.high, self.rank, self.by, newest_first=newest)


def ranked(
    rows: pl.DataFrame,
    group: Sequence[str],
    order: Sequence[Order],
    high: int,
    rank: str,
    by: Numbering = "ROW_NUMBER",
    *,
    newest_first: bool = False,
) -> pl.DataFrame:
    """The rows in order, of each group the first `high` ones, with their numbers in `rank`."""
    ordered = in_order(rows, (*order, Order(SEQUENCE, descending=newest_first)))
    place = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    numbered = ordered.with_columns(place.over(group).alias(rank))
    if by != "ROW_NUMBER":
        numbered = numbered.with_columns(_equal_for_peers(group, order, rank, by))
    return numbered.filter(pl.col(rank) <= high)


def _equal_for_peers(
    group: Sequence[str], order: Sequence[Order], rank: str, by: Numbering
) -> pl.Expr:
    """The numbers, of which equal rows get the first one, with or without gaps."""
    first_of_peers = pl.col(rank).min().over([*group, *(one.column for one in order)])
    if by == "RANK":
        return first_of_peers.alias(rank)
    is_first = (pl.col(rank) == first_of_peers).cast(pl.Int64)
    return is_first.cum_sum().over(group).alias(rank)
