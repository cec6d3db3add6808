"""What happens to windows in one step, in order, and what is told of it."""

from __future__ import annotations

from typing import Final

import polars as pl

from tidemark.kernels.columns import KIND
from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START

CELL: Final = "_tm_cell"  # Int64; the window of a key, as a number
ORDER: Final = "_tm_order"  # Int64; when the event happens, in the sequence of the step
ROLE: Final = "_tm_role"  # Int64; one of these:
STORED, CALL, ROW, END = range(4)  # what was known, a call by the clock, a row, the window's end
TELLS: Final = "_tm_tells"  # Boolean; whether the event asks for the result
TOLD: Final = "_tm_told"  # Boolean; whether a result is out now

_BEFORE = "_tm_before_"
_RANK = "_tm_rank"
_HALF = "_tm_half"


def in_cells(events: pl.DataFrame, window: list[str]) -> pl.DataFrame:
    """The events cell by cell, in order. Calls and ends of windows that are not there (no row
    has come so far, or the window is gone) are no events."""
    cell = pl.col(CELL).first().over(window).cast(pl.Int64)
    numbered = events.with_row_index(CELL).with_columns(cell)
    ordered = numbered.sort(CELL, ORDER, maintain_order=True)
    there = pl.col(ROLE).is_in([STORED, ROW]).cum_sum().over(CELL) > 0
    return ordered.filter(there)


def telling(events: pl.DataFrame, results: tuple[pl.Expr, ...], has_rows: pl.Expr) -> pl.DataFrame:
    """Per cell what was told before and, event by event, what is to be told; in order.

    A result takes the place of what was told last. Without rows left there is none.
    """
    names = [CELL, ORDER, ROLE, TOLD, *(result.meta.output_name() for result in results)]
    before = events.filter(pl.col(ROLE) == STORED)
    asked = events.filter(TELLS).with_columns(*results, has_rows.alias(TOLD))
    keys = [name for name in events.columns if name not in names]
    both = pl.concat([before.select(*names, *keys), asked.select(*names, *keys)])
    return both.sort(CELL, ORDER, maintain_order=True)


def changes(told: pl.DataFrame, keys: tuple[str, ...], outputs: list[str]) -> pl.DataFrame:
    """The changelog of what is told: nothing where a result is as it was.

    Of one moment the earliest window comes first, of one row the latest, as in Flink.
    """
    earlier = pl.col(TOLD, *outputs).shift(1).over(CELL).name.prefix(_BEFORE)
    pairs = told.with_columns(earlier).filter(pl.col(ROLE) != STORED)
    was, is_ = pl.col(_BEFORE + TOLD).fill_null(False), pl.col(TOLD)
    differs = pl.any_horizontal(pl.col(n).ne_missing(pl.col(_BEFORE + n)) for n in outputs)
    end = pl.col(WINDOW_END)
    pairs = pairs.with_columns(pl.when(pl.col(ROLE) == ROW).then(-end).otherwise(end).alias(_RANK))
    places = [ORDER, _RANK, CELL, _HALF]
    taken_back = pairs.filter(was & (~is_ | differs)).select(
        *keys,
        *(pl.col(_BEFORE + name).alias(name) for name in outputs),
        *(WINDOW_START, WINDOW_END, ORDER, _RANK, CELL),
        pl.when(is_).then(pl.lit("-U")).otherwise(pl.lit("-D")).alias(KIND),
        pl.lit(0).alias(_HALF),
    )
    added = pairs.filter(is_ & (~was | differs)).select(
        *keys,
        *outputs,
        *(WINDOW_START, WINDOW_END, ORDER, _RANK, CELL),
        pl.when(was).then(pl.lit("+U")).otherwise(pl.lit("+I")).alias(KIND),
        pl.lit(1).alias(_HALF),
    )
    return pl.concat([taken_back, added]).sort(places).drop(places)
