"""The events of windows in one step, in order, and the results they emit."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.columns import HASH, KIND
from tidemark.kernels.tables import longs
from tidemark.kernels.windows.key_numbers import key_numbers
from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START

CELL: Final = "_tm_cell"  # Int64; the window of a key, as a number
ORDER: Final = "_tm_order"  # Int64; when the event happens, in the sequence of the step
ROLE: Final = "_tm_role"  # Int64; one of these:
STORED, CALL, ROW, END = range(4)  # what was stored, a call by the clock, a row, the window's end
REQUESTS: Final = "_tm_tells"  # Boolean; whether the event requests the result
EMITTED: Final = "_tm_told"  # Boolean; whether a result is currently emitted

_BEFORE = "_tm_before_"
_RANK = "_tm_rank"
_OUT, _IN = "_tm_out", "_tm_in"  # Boolean; whether a result is retracted, and one is added
_SPREAD = 2654435761  # spreads the windows of a key over hashes


def in_cells(events: pl.DataFrame, window: list[str]) -> pl.DataFrame:
    """The events cell by cell, in order. Calls and ends of windows that do not exist (no row has
    arrived yet, or the window has been removed) are not events.
    """
    names = tuple(name for name in window if name != HASH)
    mixed = pl.col(HASH) * _SPREAD + pl.col(WINDOW_END)
    cell = key_numbers(events.select(mixed.alias(HASH), *names), names)
    order = longs(events, ORDER)
    first = int(order.min(initial=0))
    place = cell * (int(order.max(initial=0)) - first + 1) + order - first
    sorted_ = pl.Series(place).arg_sort()
    ordered = events.with_columns(pl.Series(CELL, cell))[sorted_]
    makes = ordered[ROLE].is_in([STORED, ROW]).to_numpy()
    cell = longs(ordered, CELL)
    starts = np.append(True, cell[1:] != cell[:-1])[: len(cell)]
    made = np.cumsum(makes)
    made_before = np.maximum.accumulate(np.where(starts, made - makes, 0))
    there = made > made_before
    return ordered if there.all() else ordered.filter(pl.Series(there))


def emissions(
    events: pl.DataFrame, results: tuple[pl.Expr, ...], has_rows: pl.Expr
) -> pl.DataFrame:
    """Per cell the result emitted before and, event by event, the result to emit; in order.

    A result replaces the last one emitted. Without remaining rows there is none.
    """
    stored = pl.col(ROLE) == STORED
    emitted = {EMITTED: has_rows, **{result.meta.output_name(): result for result in results}}
    return events.filter(stored | pl.col(REQUESTS)).with_columns(
        pl.when(stored).then(pl.col(name)).otherwise(now).alias(name)
        for name, now in emitted.items()
    )


def changes(
    emitted: pl.DataFrame, keys: tuple[str, ...], outputs: list[str], *, repeated: bool = False
) -> pl.DataFrame:
    """The changelog of the emitted results: nothing if a result has not changed, unless `repeated`.

    At the same moment the earliest window comes first, for the same row the latest, as in Flink.
    """
    same_cell = pl.col(CELL) == pl.col(CELL).shift(1)
    earlier = (
        pl.when(same_cell).then(pl.col(name).shift(1)).alias(_BEFORE + name)
        for name in (EMITTED, *outputs)
    )
    pairs = emitted.with_columns(earlier).filter(pl.col(ROLE) != STORED)
    was, is_ = pl.col(_BEFORE + EMITTED).fill_null(False), pl.col(EMITTED)
    differs = pl.any_horizontal(
        pl.lit(repeated), *(pl.col(n).ne_missing(pl.col(_BEFORE + n)) for n in outputs)
    )
    end = pl.col(WINDOW_END)
    rank = pl.when(pl.col(ROLE) == ROW).then(-end).otherwise(end)
    pairs = pairs.with_columns(
        rank.alias(_RANK), (was & (~is_ | differs)).alias(_OUT), (is_ & (~was | differs)).alias(_IN)
    ).filter(pl.col(_OUT) | pl.col(_IN))
    # One after the other: much faster than by both at once.
    pairs = pairs.sort(_RANK, maintain_order=True).sort(ORDER, maintain_order=True)
    pairs = pairs.with_columns(
        (pl.col(_OUT).cast(pl.Int64) + pl.col(_IN).cast(pl.Int64)).cum_sum().alias(ORDER)
    )
    retracted = pairs.filter(_OUT).select(
        *keys,
        *(pl.col(_BEFORE + name).alias(name) for name in outputs),
        *(WINDOW_START, WINDOW_END),
        pl.when(is_).then(pl.lit("-U")).otherwise(pl.lit("-D")).alias(KIND),
        (pl.col(ORDER) - pl.col(_IN).cast(pl.Int64)).alias(ORDER),
    )
    added = pairs.filter(_IN).select(
        *keys,
        *outputs,
        *(WINDOW_START, WINDOW_END),
        pl.when(was).then(pl.lit("+U")).otherwise(pl.lit("+I")).alias(KIND),
        ORDER,
    )
    return pl.concat([retracted, added]).sort(ORDER).drop(ORDER)
