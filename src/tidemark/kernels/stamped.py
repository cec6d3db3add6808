"""Lateness row by row: rows that have the watermark before them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from tidemark.kernels.columns import ARRIVAL, SEEN, STAMP
from tidemark.kernels.cuts import ByArrival, Cut, Nowhere
from tidemark.kernels.protocol import Kernel, Step
from tidemark.kernels.sorting import ascends, stable_order
from tidemark.kernels.state import State
from tidemark.kernels.tables import longs


@dataclass(frozen=True, slots=True)
class Stamped:
    """A kernel of one input whose rows see the watermark as if each had arrived alone.

    Only the rows of one source, read in one partition, know the watermark before them, and what
    operators emit because of them. Rows that are `emitted` by another operator come from several
    key groups; their order is that of these watermarks.
    """

    kernel: Kernel
    emitted: bool = False

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        [rows] = inputs
        stamped = rows.with_columns(pl.max_horizontal(STAMP, SEEN).alias(STAMP)).drop(SEEN)
        if self.emitted and not ascends(longs(stamped, STAMP)):
            place = pl.Series(ARRIVAL, np.arange(stamped.height), pl.Int64)
            stamped = stamped[stable_order(longs(stamped, STAMP))].with_columns(place)
        return self.kernel.step(state, [stamped], watermark, processing_time)

    def cut(self, inputs: Sequence[pl.DataFrame]) -> Cut:
        """Which of the emitted rows come first is known when all are there."""
        return Nowhere() if self.emitted else ByArrival()
