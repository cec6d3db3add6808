"""What can be said about windows: how rows are assigned, what is computed, when it is told.

All times and lengths are milliseconds. Windows are `[start, end)`; a window without an end in
time (a count window) has none in the output either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    # Only for the type checker: plans hold these values, and planning loads no Polars.
    import polars as pl

WINDOW_START: Final = "_tm_window_start"  # Int64; the window's first millisecond
WINDOW_END: Final = "_tm_window_end"  # Int64; the first millisecond after it


@dataclass(frozen=True, slots=True)
class Sliding:
    """A window of `size` every `slide`; a tumbling window where the two are equal.

    Starts are the multiples of `slide`, moved by `offset`, before 1970 too.
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
    """A row opens `[time, time + gap)`; windows of a key that overlap or touch are one."""

    gap: int


@dataclass(frozen=True, slots=True)
class Given:
    """Each row says itself which window it is in, by the names of two Int64 columns. Windows that
    are `endless` tell nothing when the watermark reaches their end."""

    start: str
    end: str
    endless: bool = False


@dataclass(frozen=True, slots=True)
class CountSliding:
    """`size` rows of a key, from every `slide`-th row on; told when the last of them is there."""

    size: int
    slide: int


Assigner = Sliding | Cumulating | Session | Given | CountSliding


@dataclass(frozen=True, slots=True)
class Call:
    """One aggregate call, by Flink's name of the function in capitals.

    `arguments` and `filter` name input columns; COUNT without an argument counts rows. `dtype`
    is the type of the result, and what the kernel computes in. `implementation` is a function of
    the user's: it is given a frame with the arguments of a group's rows and gives the result
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


@dataclass(frozen=True, slots=True)
class Firing:
    """When a window tells its result besides at its end: at each row, or every so often by
    the clock."""

    each_row: bool = False
    every_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Emit:
    """What happens before the watermark reaches the end of a window, and after it."""

    early: Firing | None = None
    late: Firing | None = None


NOTHING_BESIDES: Final = Emit()
