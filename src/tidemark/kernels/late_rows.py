"""Late rows, reported instead of dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from tidemark.kernels.columns import KIND, STAMP, TIME
from tidemark.kernels.protocol import Kernel, Metrics, Step
from tidemark.kernels.state import State
from tidemark.kernels.windows.incoming import Incoming
from tidemark.kernels.windows.panes import panes_of
from tidemark.kernels.windows.spec import Cumulating, Given, Sliding

LATE_TIME: Final = "_tm_late_time"  # Int64; the row's time
LATE_WATERMARK: Final = "_tm_late_watermark"  # Int64; the watermark when it arrived
LATE_KIND: Final = "_tm_late_kind"  # the row's kind, if the input has kinds


@dataclass(frozen=True, slots=True)
class LateRowsKernel:
    """The rows of its first input that a kernel drops, instead of the kernel's output.

    They have the columns of the input, their time and the watermark when they arrived, both
    unshifted, whatever clock the kernel inside uses. Further inputs of a kernel with one input only
    contribute to the watermark, which is that of all inputs.
    """

    kernel: Kernel

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        rows = inputs[0]
        met = [pl.col(TIME).alias(LATE_TIME), pl.col(STAMP).alias(LATE_WATERMARK)]
        kinds = [pl.col(KIND).alias(LATE_KIND)] if KIND in rows.columns else []
        rows_with_times = [rows.with_columns(*met, *kinds), *inputs[1:]]
        step = self.kernel.step(state, rows_with_times, watermark, processing_time)
        assert step.late is not None
        output = step.late[0].drop(TIME, STAMP, KIND, strict=False)
        # Nothing is dropped here, however much is late.
        came = tuple(frame.height for frame in inputs)
        metrics = replace(step.metrics, rows_in=came, late=(0,) * len(came), rows_out=output.height)
        return replace(step, output=output, metrics=metrics, late=None)


@dataclass(frozen=True, slots=True)
class DropLateRows:
    """Drops rows whose windows have all been closed for `lateness_ms`; without windows, rows that
    are at least `lateness_ms` behind the watermark. It has no output for other rows, keeps no
    state, and ignores further inputs.

    A kernel that aggregates, ranks or joins the rows of such windows drops the same rows.
    """

    assigner: Sliding | Cumulating | Given | None
    lateness_ms: int = 0

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        incoming = Incoming.of(state, inputs[0], watermark, processing_time)
        late = self._late(incoming.rows)
        after = replace(state, watermark=incoming.watermark, sequence=incoming.end)
        metrics = Metrics.of(after, (incoming.rows.height,), (late.height,), 0, 0)
        return Step(after, late.clear(), metrics, late=(late,))

    def _late(self, rows: pl.DataFrame) -> pl.DataFrame:
        if self.assigner is None:
            return rows.filter(pl.col(TIME) + self.lateness_ms <= pl.col(STAMP))
        panes = panes_of(self.assigner)
        return panes.of_rows(rows).filter(panes.closed(self.lateness_ms))
