"""Late rows as an output of the operator that drops them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from tidemark.kernels.columns import ARRIVAL, KIND, STAMP, TIME
from tidemark.kernels.cuts import Cut, cut_of
from tidemark.kernels.late_rows import LATE_KIND, LATE_TIME, LATE_WATERMARK
from tidemark.kernels.pieces import limited
from tidemark.kernels.protocol import Kernel, Step
from tidemark.kernels.state import State


@dataclass(frozen=True, slots=True)
class HandingOut:
    """Runs a kernel and hands out the rows that it drops because they are late: the columns
    `beside`, which the kernel does not see, the time of the row, the watermark when it arrived, and
    its kind if rows have kinds.

    `beside` is by the numbers of the inputs whose late rows are handed out. Its columns are never
    kept. Time and watermark are those of this input, whatever clock the kernel inside uses.
    """

    kernel: Kernel
    beside: Mapping[int, tuple[str, ...]]

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        step = self.kernel.step(state, self._seen(inputs), watermark, processing_time)
        assert step.late is not None, "the kernel counts late rows, and does not show them"
        late = {
            number: _handed_out(inputs[number], columns, step.late[number][ARRIVAL])
            for number, columns in self.beside.items()
        }
        return replace(step, handed_out=late)

    def cut(self, inputs: Sequence[pl.DataFrame]) -> Cut:
        return cut_of(self.kernel, self._seen(inputs))

    def limited(self, pairs: int | None) -> HandingOut:
        return replace(self, kernel=limited(self.kernel, pairs))

    def _seen(self, inputs: Sequence[pl.DataFrame]) -> list[pl.DataFrame]:
        """What the kernel sees of the rows."""
        return [rows.drop(self.beside.get(number, ())) for number, rows in enumerate(inputs)]


def _handed_out(rows: pl.DataFrame, columns: Sequence[str], late: pl.Series) -> pl.DataFrame:
    dropped = rows.filter(pl.col(ARRIVAL).is_in(late.implode()))
    kinds = [pl.col(KIND).alias(LATE_KIND)] if KIND in rows.columns else []
    return dropped.select(
        *columns,
        pl.col(TIME).alias(LATE_TIME),
        pl.col(STAMP).alias(LATE_WATERMARK),
        *kinds,
    )
