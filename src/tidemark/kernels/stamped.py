"""Lateness row by row: rows that have the watermark before them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from tidemark.kernels.columns import SEEN, STAMP
from tidemark.kernels.protocol import Kernel, Step
from tidemark.kernels.state import State


@dataclass(frozen=True, slots=True)
class Stamped:
    """A kernel whose rows see the watermark as if each had arrived alone.

    Only the rows of one source, read in one partition, know the watermark before them.
    """

    kernel: Kernel

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        seen = pl.max_horizontal(STAMP, SEEN).alias(STAMP)
        stamped = [frame.with_columns(seen).drop(SEEN) for frame in inputs]
        return self.kernel.step(state, stamped, watermark, processing_time)
