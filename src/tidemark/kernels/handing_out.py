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
class OutletColumns:
    """Where late rows of an input leave an operator, with these of its columns. With `only`, these
    are the rows for which this BOOLEAN column is true. Their time is in the column `time`, a
    timestamp, if it is not that of the input. The kernel does not see any of the columns.
    """

    input: int
    columns: tuple[str, ...]
    only: str | None = None
    time: str | None = None

    @property
    def hidden(self) -> tuple[str, ...]:
        return self.columns if self.only is None else (*self.columns, self.only)


@dataclass(frozen=True, slots=True)
class HandingOut:
    """Runs a kernel and hands out the rows that it drops because they are late: columns which the
    kernel neither sees nor keeps, the time of the row, the watermark when it arrived, and its kind
    if rows have kinds.

    The watermark is that of the input, whatever clock the kernel inside uses, and so is the time.
    Late rows are by the number of their outlet.
    """

    kernel: Kernel
    outlets: Mapping[int, OutletColumns]

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
            number: _handed_out(inputs[outlet.input], outlet, step.late[outlet.input][ARRIVAL])
            for number, outlet in self.outlets.items()
        }
        return replace(step, handed_out=late)

    def cut(self, inputs: Sequence[pl.DataFrame]) -> Cut:
        return cut_of(self.kernel, self._seen(inputs))

    def limited(self, pairs: int | None) -> HandingOut:
        return replace(self, kernel=limited(self.kernel, pairs))

    def _seen(self, inputs: Sequence[pl.DataFrame]) -> list[pl.DataFrame]:
        """What the kernel sees of the rows."""
        seen = list(inputs)
        for outlet in self.outlets.values():
            seen[outlet.input] = seen[outlet.input].drop(outlet.hidden)
        return seen


def _handed_out(rows: pl.DataFrame, outlet: OutletColumns, late: pl.Series) -> pl.DataFrame:
    dropped = rows.filter(pl.col(ARRIVAL).is_in(late.implode()))
    if outlet.only is not None:
        dropped = dropped.filter(outlet.only)
    kinds = [pl.col(KIND).alias(LATE_KIND)] if KIND in rows.columns else []
    return dropped.select(
        *outlet.columns,
        _time_of(outlet).alias(LATE_TIME),
        pl.col(STAMP).alias(LATE_WATERMARK),
        *kinds,
    )


def _time_of(outlet: OutletColumns) -> pl.Expr:
    """The time of late rows, in milliseconds."""
    return pl.col(TIME) if outlet.time is None else pl.col(outlet.time).dt.epoch("us") // 1000
