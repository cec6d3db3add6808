"""The time of windows: their last millisecond, as rows have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from tidemark.kernels.protocol import Kernel, Step
from tidemark.kernels.state import State
from tidemark.kernels.windows.spec import WINDOW_END
from tidemark.kernels.windows.wall_clock import instants

WINDOW_TIME: Final = "_tm_window_time"  # Int64; the window's last millisecond


@dataclass(frozen=True, slots=True)
class WithWindowTime:
    """Adds the time of each window to a kernel's output. Window bounds are local times; with
    `zone`, their time is the instant at which a clock in that zone shows it.
    """

    kernel: Kernel
    zone: str | None = None

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        step = self.kernel.step(state, inputs, watermark, processing_time)
        time = (step.output[WINDOW_END] - 1).alias(WINDOW_TIME)
        if self.zone is not None:
            time = instants(time, self.zone)
        return replace(step, output=step.output.with_columns(time))
