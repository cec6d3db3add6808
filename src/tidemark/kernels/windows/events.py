"""The events of windows in one step, in order, and the results they emit."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from tidemark.kernels.columns import HASH
from tidemark.kernels.kinds import AFTER, BEFORE, DELETE, INSERT, kind_column
from tidemark.kernels.sorting import ascends, stable_order, stable_order_by
from tidemark.kernels.tables import longs, rows_at
from tidemark.kernels.windows.key_numbers import key_numbers
from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START

CELL: Final = "_tm_cell"  # Int64; the window of a key, as a number
ORDER: Final = "_tm_order"  # Int64; when the event happens, in the sequence of the step
ROLE: Final = "_tm_role"  # Int64; one of these:
STORED, CALL, ROW, END = range(4)  # what was stored, a call by the clock, a row, the window's end
REQUESTS: Final = "_tm_tells"  # Boolean; whether the event requests the result
EMITTED: Final = "_tm_told"  # Boolean; whether a result is currently emitted

_RANK = "_tm_rank"
# The earliest window comes first; of the windows that a row is in, the latest.
_RANK_OF_EVENT: Final = (
    pl.when(pl.col(ROLE) == ROW)
    .then(-pl.col(WINDOW_END))
    .otherwise(pl.col(WINDOW_END))
    .alias(_RANK)
)
Flags = npt.NDArray[np.bool_]

# Spreads the windows of a key over hashes.
HASH_OF_WINDOW: Final = pl.col(HASH) * 2654435761 + pl.col(WINDOW_END)


def in_cells(events: pl.DataFrame, window: list[str]) -> pl.DataFrame:
    """The events cell by cell, in order. Calls and ends of windows that do not exist (no row has
    arrived yet, or the window has been removed) are not events.
    """
    names = tuple(name for name in window if name != HASH)
    cell = key_numbers(events.select(HASH_OF_WINDOW.alias(HASH), *names), names)
    order = longs(events, ORDER)
    first = int(order.min(initial=0))
    place = cell * (int(order.max(initial=0)) - first + 1) + order - first
    numbered = events.with_columns(pl.Series(CELL, cell))
    ordered = numbered.rechunk() if ascends(place) else numbered[stable_order(place)]
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
    emitted: pl.DataFrame,
    keys: tuple[str, ...],
    outputs: list[str],
    *,
    repeated: bool = False,
    upserts: bool = False,
) -> pl.DataFrame:
    """The changelog of the emitted results: nothing if a result has not changed, unless `repeated`.
    With `upserts`, an update comes without the result that it replaces.

    At the same moment the earliest window comes first, for the same row the latest, as in Flink.
    """
    was, is_, differs = _flags(emitted, outputs, repeated)
    takes = was & ~is_ if upserts else was & (~is_ | differs)
    adds = is_ & (~was | differs)
    place = np.flatnonzero(takes | adds)
    order = longs(emitted, ORDER)[place]
    if not (order[1:] > order[:-1]).all():
        rank = longs(emitted.select(_RANK_OF_EVENT), _RANK)[place]
        place = place[stable_order_by(order - order.min(initial=0), rank)]
    # Of each event the earlier result, which is the row before, and the result.
    counts = takes[place].astype(np.int64) + adds[place]
    event = np.repeat(place, counts)
    taken = np.zeros(event.size, dtype=np.bool_)
    taken[(np.cumsum(counts) - counts)[takes[place]]] = True
    ends = np.where(is_, np.int8(BEFORE), np.int8(DELETE))
    begins = np.where(was, np.int8(AFTER), np.int8(INSERT))
    kinds = np.where(taken, ends[event], begins[event])
    rows = emitted.select(*keys, *outputs, WINDOW_START, WINDOW_END)
    return rows_at(rows, event - taken).with_columns(kind_column(kinds))


def _flags(emitted: pl.DataFrame, outputs: list[str], repeated: bool) -> tuple[Flags, Flags, Flags]:
    """Per event whether there was a result before, whether there is one now, and whether the two
    differ, or it is `repeated`; nothing for what was stored.
    """
    goes_on = (pl.col(CELL) == pl.col(CELL).shift(1)).fill_null(False)
    happens = pl.col(ROLE) != STORED
    flags = emitted.select(
        was=happens & goes_on & pl.col(EMITTED).shift(1).fill_null(False),
        is_=happens & pl.col(EMITTED),
        differs=pl.any_horizontal(
            pl.lit(repeated), *(pl.col(n).ne_missing(pl.col(n).shift(1)) for n in outputs)
        ),
    )
    was, is_, differs = (column.to_numpy() for column in flags)
    return was, is_, differs
