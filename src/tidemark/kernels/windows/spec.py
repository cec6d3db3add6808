"""The specification of windows: how rows are assigned, what is computed, when it is emitted.

All times and lengths are milliseconds. Windows are `[start, end)`; a window without an end in time
(a count window) has none in the output either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    # Only for the type checker: plans contain these values, and planning does not load Polars.
    import polars as pl

WINDOW_START: Final = "_tm_window_start"  # Int64; the window's first millisecond
WINDOW_END: Final = "_tm_window_end"  # Int64; the first millisecond after it

# What the rows of a ranking are numbered by. Only ROW_NUMBER tells equal ones apart.
Numbering = Literal["ROW_NUMBER", "RANK", "DENSE_RANK"]

# Checkpoints are checked against hashes of plans, which contain windows by class and field name: do
# not rename those of `Assigner`, or no job resumes.


@dataclass(frozen=True, slots=True)
class Sliding:
    """A window of `size` every `slide`; a tumbling window if the two are equal.

    Starts are the multiples of `slide`, shifted by `offset`, even before 1970.
    """

    size: int
    slide: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Cumulating:
    """Windows that start together and end one `step` after the other, up to `size`."""

    size: int
    step: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Session:
    """A row opens `[time, time + gap)`; windows of a key that overlap or touch are merged."""

    gap: int


@dataclass(frozen=True, slots=True)
class Given:
    """Each row has its window in two Int64 columns with these names. Windows that are `endless`
    emit nothing when the watermark reaches their end.
    """

    start: str
    end: str
    endless: bool = False


@dataclass(frozen=True, slots=True)
class CountSliding:
    """`size` rows of a key, from every `slide`-th row on; emitted when the last of them has
    arrived.
    """

    size: int
    slide: int


Assigner = Sliding | Cumulating | Session | Given | CountSliding


# Functions of which sums of numbers are enough, one per value.
SUMS: Final = ("COUNT", "SUM", "AVG", "VAR_POP", "VAR_SAMP", "STDDEV_POP", "STDDEV_SAMP")


@dataclass(frozen=True, slots=True)
class AggregateSpec:
    """One aggregate call, with Flink's name of the function in capitals.

    `arguments` and `filter` name input columns; COUNT without an argument counts rows. `dtype` is
    the type of the result, and of the computation. `implementation` is a user-defined function: it
    takes a frame with the arguments of a group's rows and returns the result
    (`aggregates.users.RowByRow` makes one of an object that accumulates).
    """

    function: str
    arguments: tuple[str, ...]
    output: str
    dtype: pl.DataType
    distinct: bool = False
    filter: str | None = None
    separator: str | None = None
    implementation: Callable[[pl.DataFrame], Any] | None = None
    percentages: tuple[float, ...] = ()  # of PERCENTILE


@dataclass(frozen=True, slots=True)
class Firing:
    """When a window emits its result besides at its end: for each row, or periodically by the
    clock.
    """

    each_row: bool = False
    every_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Emit:
    """What is emitted before the watermark reaches the end of a window, and after it."""

    early: Firing | None = None
    late: Firing | None = None


NOTHING_BESIDES: Final = Emit()
