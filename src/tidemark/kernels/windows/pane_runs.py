"""Windows over panes as runs: if the panes of a key are in order, each window consists of
adjacent ones, and no pane has to be repeated for every window that it is in.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from tidemark.kernels.aggregates import Aggregates
from tidemark.kernels.columns import HASH
from tidemark.kernels.sorting import stable_order_by
from tidemark.kernels.tables import Longs, longs, up_to_each
from tidemark.kernels.windows.key_numbers import key_numbers
from tidemark.kernels.windows.panes import LAST, PANE, Panes
from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START

_FIRST: Final = "_tm_first"
_SINCE: Final = "_tm_since"


def windows_of_runs(
    parts: pl.DataFrame,
    keys: tuple[str, ...],
    panes: Panes,
    aggregates: Aggregates,
    after: int,
    ended: int,
) -> pl.DataFrame | None:
    """The windows of partial panes that end behind a watermark, up to `ended`. None if
    accumulators are more than numbers, or times too far apart to be numbered.
    """
    number = key_numbers(parts, keys)
    order = stable_order_by(number, longs(parts, PANE))
    parts, number = parts[order], number[order]
    runs = parts.select(panes.first.alias(_FIRST), panes.end_after(after).alias(_SINCE), LAST)
    first, last = longs(runs, _FIRST), longs(runs, LAST)
    place, end = _ends(number, longs(runs, _SINCE), last, ended, panes.every)
    until = _until(number, first, last, place, end)
    if until is None:
        return None
    merged = aggregates.merged_runs(parts, place, until)
    if merged is None:
        return None
    windows = parts.select(HASH, *keys)[place].hstack(merged)
    return windows.with_columns(pl.Series(WINDOW_END, end)).with_columns(
        panes.window_start.alias(WINDOW_START)
    )


def _ends(number: Longs, since: Longs, last: Longs, ended: int, every: int) -> tuple[Longs, Longs]:
    """The position of the first pane of each window, and the window's end."""
    # Up to the last window of the pane before, that one comes before this.
    covered = np.where(number[1:] == number[:-1], last[:-1] + every, since[1:])
    since = np.concatenate([since[:1], np.maximum(since[1:], covered)])
    counts = np.maximum((np.minimum(last, ended) - since) // every + 1, 0)
    place = np.repeat(np.arange(number.size), counts)
    return place, since[place] + up_to_each(counts) * every


def _until(number: Longs, first: Longs, last: Longs, place: Longs, end: Longs) -> Longs | None:
    """The pane after which each window ends: the key's next one belongs to later windows only."""
    if not number.size:
        return number
    base = int(first.min())
    width = int(last.max()) - base + 1
    if (int(number[-1]) + 1) * width >> 62:
        return None
    return np.searchsorted(
        number * width + (first - base), number[place] * width + (end - base), "right"
    )
