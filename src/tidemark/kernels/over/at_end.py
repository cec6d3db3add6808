"""OVER in any order, in a batch: when all rows are there, each is emitted with its results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from tidemark.kernels.arrivals import end_of, number
from tidemark.kernels.columns import AFTER_ALL, SEQUENCE
from tidemark.kernels.cuts import Cut, Nowhere
from tidemark.kernels.joined import user_columns
from tidemark.kernels.order import Order
from tidemark.kernels.over.spec import OverCall
from tidemark.kernels.over.whole import with_results
from tidemark.kernels.protocol import Metrics, Step
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State

_ROWS = "rows"


@dataclass(frozen=True, slots=True)
class OverAtEndKernel:
    """Emit all rows with the results of their calls when the input has ended, those of a partition
    in its order.

    Rows are ordered by `order`, equal ones as they arrived. A distance in a frame is that of the
    only column of the order.
    """

    keys: tuple[str, ...]
    order: tuple[Order, ...]
    calls: tuple[OverCall, ...]
    compaction: Compaction = field(default_factory=Compaction)

    def cut(self, inputs: Sequence[pl.DataFrame]) -> Cut:
        return Nowhere()

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        [arrived] = number(state, inputs)
        kept = state.queue(_ROWS)
        if watermark == AFTER_ALL:
            earlier, kept = kept.take(AFTER_ALL, SEQUENCE, arrived.clear())
            rows = pl.concat([earlier.sort(SEQUENCE), arrived]) if earlier.height else arrived
            output = self._results(rows)
        else:
            kept = kept.push(arrived, SEQUENCE, self.compaction)
            output = self._results(arrived.clear())
        state = replace(
            state.with_tables(**{_ROWS: kept}),
            watermark=max(state.watermark, watermark),
            sequence=end_of(state, [arrived]),
        )
        metrics = Metrics.of(state, (arrived.height,), (0,), output.height, kept.height)
        return Step(state, output, metrics, AFTER_ALL if kept.height else None)

    def _results(self, rows: pl.DataFrame) -> pl.DataFrame:
        return user_columns(with_results(rows, self.keys, self.order, self.calls))
