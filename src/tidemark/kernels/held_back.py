"""Operators whose input comes from operators that emit rows behind the watermark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from tidemark.kernels.columns import AFTER_ALL, BEFORE_ALL, STAMP
from tidemark.kernels.cuts import Cut, cut_of
from tidemark.kernels.pieces import limited
from tidemark.kernels.protocol import Kernel, Step
from tidemark.kernels.state import State


@dataclass(frozen=True, slots=True)
class HeldBack:
    """Runs a kernel with a watermark that is held back by `by` milliseconds: rows that an operator
    below has kept for this long are not late.
    """

    kernel: Kernel
    by: int

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        stamp = pl.col(STAMP)
        extreme = stamp.is_in([BEFORE_ALL, AFTER_ALL])
        behind = pl.when(extreme).then(stamp).otherwise(stamp - self.by).alias(STAMP)
        frames = [frame.with_columns(behind) for frame in inputs]
        if watermark not in (BEFORE_ALL, AFTER_ALL):
            watermark -= self.by
        step = self.kernel.step(state, frames, watermark, processing_time)
        time = step.next_event_time
        return replace(step, next_event_time=None if time is None else time + self.by)

    def cut(self, inputs: Sequence[pl.DataFrame]) -> Cut:
        return cut_of(self.kernel, inputs)

    def limited(self, pairs: int | None) -> HeldBack:
        return replace(self, kernel=limited(self.kernel, pairs))


def held_back(kernel: Kernel, by: int) -> Kernel:
    return HeldBack(kernel, by) if by else kernel
