"""The input and the output of a step of windows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from tidemark.kernels.aggregates import Aggregates
from tidemark.kernels.arrivals import Advances, advances_of, end_of, number
from tidemark.kernels.columns import AFTER_ALL, KIND, SEEN, SEQUENCE, STAMP, TIME
from tidemark.kernels.sorting import ascends, stable_order
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, StateTable, longs
from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START


@dataclass(frozen=True, slots=True)
class Incoming:
    """The rows of a step with their positions in the sequence and their stamps, which never
    decrease; the watermark before and after them; and the clock.
    """

    rows: pl.DataFrame
    stamps: Longs
    before: int
    watermark: int
    end: int
    clock: int

    @classmethod
    def of(cls, state: State, rows: pl.DataFrame, watermark: int, clock: int) -> Incoming:
        [numbered] = number(state, [rows])
        stamps = np.maximum.accumulate(np.maximum(longs(rows, STAMP), state.watermark))
        after = max(state.watermark, watermark, int(stamps[-1]) if stamps.size else watermark)
        stamped = numbered.with_columns(pl.Series(STAMP, stamps, pl.Int64))
        end = end_of(state, [numbered])
        return cls(stamped, stamps, state.watermark, after, end, clock)

    @classmethod
    def in_processing_time(
        cls, state: State, rows: pl.DataFrame, watermark: int, clock: int
    ) -> Incoming:
        return cls.of(state, *in_processing_time(state, rows, watermark, clock), clock)

    @property
    def advances(self) -> Advances:
        """The moments at which the watermark advances."""
        sequence = longs(self.rows, SEQUENCE)
        return advances_of(self.before, sequence, self.stamps, self.end, self.watermark)

    def before_causes(self, sequence: Longs) -> pl.Series:
        """The watermarks before the rows at these positions in the sequence, for what is emitted
        at once because of them."""
        place = np.searchsorted(longs(self.rows, SEQUENCE), sequence)
        return pl.Series(SEEN, self.stamps[place], pl.Int64)

    def before_firing(self, rows: pl.DataFrame) -> pl.Series:
        """The watermarks before the advances that emit these rows."""
        advances = self.advances
        moments = advances.firing(longs(rows, SEQUENCE), longs(rows, TIME))
        return pl.Series(SEEN, advances.before(moments, self.before), pl.Int64)

    @property
    def ended(self) -> int:
        """The end of the last closed window: its last millisecond is the watermark."""
        return min(self.watermark, AFTER_ALL - 1) + 1


def in_processing_time(
    state: State, rows: pl.DataFrame, watermark: int, clock: int
) -> tuple[pl.DataFrame, int]:
    """The rows as if their time were now, and the watermark: a clock is a watermark that is never
    behind.

    Everything that is still open ends with the inputs, as it does in event time.
    """
    now = max(clock, state.watermark + 1)
    timed = rows.with_columns(
        pl.lit(now, pl.Int64).alias(TIME), pl.lit(now - 1, pl.Int64).alias(STAMP)
    )
    return timed, AFTER_ALL if watermark == AFTER_ALL else now - 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """The tables a step has changed, its results, and the late rows."""

    tables: Mapping[str, StateTable]
    output: pl.DataFrame
    late: pl.DataFrame
    next_event_time: int | None = None
    waiting: int = field(default=0)


def results(windows: pl.DataFrame, keys: tuple[str, ...], aggregates: Aggregates) -> pl.DataFrame:
    """The results of closed windows, the earliest end first; none for windows without remaining
    rows.
    """
    if aggregates.retracts:
        windows = windows.filter(aggregates.has_rows)
    output = windows.select(*keys, *aggregates.results, WINDOW_START, WINDOW_END)
    # Row-count windows do not end at a time: they are in order.
    if not output[WINDOW_END].null_count() and not ascends(ends := longs(output, WINDOW_END)):
        output = output[stable_order(ends)]
    return output.with_columns(pl.lit("+I").alias(KIND)) if aggregates.retracts else output
