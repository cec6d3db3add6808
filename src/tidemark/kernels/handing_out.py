"""Late rows as an output of the operator that drops them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from tidemark.kernels.columns import ARRIVAL, KIND, STAMP, TIME
from tidemark.kernels.late_rows import LATE_KIND, LATE_TIME, LATE_WATERMARK
from tidemark.kernels.protocol import Kernel, Step
from tidemark.kernels.state import State


@dataclass(frozen=True, slots=True)
class HandingOut:
    """Runs a kernel with one input and hands out the rows that it drops because they are late: the
    columns `beside`, which the kernel does not see, the time of the row, the watermark when it
    arrived, and its kind if rows have kinds.

    The columns `beside` are never kept. Time and watermark are those of this input, whatever clock
    the kernel inside uses.
    """

    kernel: Kernel
    beside: tuple[str, ...]

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        [rows] = inputs
        step = self.kernel.step(state, [rows.drop(self.beside)], watermark, processing_time)
        assert step.late is not None, "the kernel counts late rows, and does not show them"
        [late] = step.late
        return replace(step, handed_out=self._handed_out(rows, late[ARRIVAL]))

    def _handed_out(self, rows: pl.DataFrame, late: pl.Series) -> pl.DataFrame:
        dropped = rows.filter(pl.col(ARRIVAL).is_in(late.implode()))
        kinds = [pl.col(KIND).alias(LATE_KIND)] if KIND in rows.columns else []
        return dropped.select(
            *self.beside,
            pl.col(TIME).alias(LATE_TIME),
            pl.col(STAMP).alias(LATE_WATERMARK),
            *kinds,
        )
