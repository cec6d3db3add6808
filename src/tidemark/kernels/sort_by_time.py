"""A stream in the order of its times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.arrivals import Advances, Arrivals, arrange
from tidemark.kernels.columns import BEFORE_ALL, HASH, SEQUENCE, TIME
from tidemark.kernels.joined import user_columns
from tidemark.kernels.order import Order, in_order
from tidemark.kernels.protocol import Metrics, Step
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, longs

_MOMENT: Final = "_tm_moment"


@dataclass(frozen=True, slots=True)
class SortByTimeKernel:
    """Emit rows when the watermark reaches them: by time, then by `order`, then as they came.

    A row is late if its time is not after that of the last emitted one. A row that is only behind
    the watermark is emitted when the watermark advances next.
    """

    order: tuple[Order, ...] = ()
    compaction: Compaction = field(default_factory=Compaction)

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        arrivals = arrange(state, inputs, watermark)
        [rows] = arrivals.frames
        waiting = state.queue("waiting")
        due, waiting = waiting.take(arrivals.watermark, TIME, rows.clear())
        known = pl.concat([due, rows])
        moment = arrivals.advances.firing(longs(known, SEQUENCE), longs(known, TIME))
        last = _last_before(known, moment, arrivals.advances, _last_emitted(state))
        is_new = longs(known, SEQUENCE) >= state.sequence
        is_late = is_new & (longs(known, TIME) <= last)
        known = known.with_columns(pl.Series(_MOMENT, moment))
        fires = moment < len(arrivals.advances)
        emitted = self._sorted(known.filter(pl.Series(fires & ~is_late)))
        rest = known.filter(pl.Series(~fires & ~is_late)).drop(_MOMENT)
        waiting = waiting.push(rest, TIME, self.compaction)
        state = self._after(state, arrivals, emitted).with_tables(waiting=waiting)
        output = user_columns(emitted.drop(_MOMENT))
        late = (int(is_late.sum()),)
        metrics = Metrics.of(state, arrivals.rows_in, late, output.height, waiting.height)
        return Step(state, output, metrics, waiting.next)

    def _sorted(self, rows: pl.DataFrame) -> pl.DataFrame:
        by = (Order(_MOMENT), Order(TIME), *self.order, Order(SEQUENCE))
        return in_order(rows, by)

    def _after(self, state: State, arrivals: Arrivals, emitted: pl.DataFrame) -> State:
        """The state with the time of the row that was emitted last."""
        last = emitted.select(HASH, TIME).tail(1)
        table = state.keyed("last").append(last, self.compaction, lambda rows, _: rows.tail(1))
        state = state.with_tables(last=table)
        return replace(state, watermark=arrivals.watermark, sequence=arrivals.end)


def _last_emitted(state: State) -> int:
    """The time of the row that was emitted last."""
    segments = state.keyed("last").segments
    return max((segment.latest for segment in segments), default=BEFORE_ALL)


def _last_before(rows: pl.DataFrame, moment: Longs, advances: Advances, last: int) -> Longs:
    """Per row the time of the last row that was emitted before it came.

    Late rows count like others: they are not after what was emitted before them.
    """
    latest = np.full(len(advances) + 1, last, dtype=np.int64)
    fires = moment < len(advances)
    np.maximum.at(latest, moment[fires] + 1, longs(rows, TIME)[fires])
    latest = np.maximum.accumulate(latest)
    passed = np.searchsorted(advances.sequence, longs(rows, SEQUENCE), side="right")
    return np.asarray(latest[passed], dtype=np.int64)
