"""Groups that end with their last row.

As in Flink, a group does not exist before its first row, and not after its last one is retracted.
What is retracted in between, such as a row that was there before the job began, has no effect; the
next row that comes begins the group anew.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from tidemark.kernels.aggregates import ROWS
from tidemark.kernels.tables import Longs, longs, run_bounds
from tidemark.kernels.windows.events import CELL, ROLE, STORED, Flags


def of_living_groups(events: pl.DataFrame) -> pl.DataFrame:
    """The events without those of groups that do not exist. A group that begins again has a cell
    of its own. Events of a cell are adjacent, in order.
    """
    balance = _balance(events)
    lowest = _lowest(events, balance)
    rows = balance - lowest
    has_ended = (events[ROLE] == STORED).to_numpy() & (rows == 0)
    exists = ~(has_ended | _falls(events, lowest))
    return _with_lives(events.filter(exists), rows[exists])


def _balance(events: pl.DataFrame) -> Longs:
    """Per event, how many rows were added up to it, less those that were retracted."""
    change = events[ROWS].fill_null(0).to_numpy()
    first, end = run_bounds(longs(events, CELL))
    total = np.cumsum(change)
    return np.asarray(total - np.repeat((total - change)[first], end - first))


def _lowest(events: pl.DataFrame, balance: Longs) -> Longs:
    """The lowest balance up to each event, at most zero: so many retractions had no row."""
    if balance.min(initial=0) >= 0:
        return np.zeros_like(balance)
    below = pl.DataFrame({CELL: events[CELL], ROWS: np.minimum(balance, 0)})
    return below.select(pl.col(ROWS).cum_min().over(CELL)).to_series().to_numpy()


def _falls(events: pl.DataFrame, lowest: Longs) -> Flags:
    """Whether an event retracts a row that its group does not have."""
    before = np.append(0, lowest[:-1])[: lowest.size]
    return np.asarray(lowest < np.where(_begins(longs(events, CELL)), 0, before))


def _with_lives(events: pl.DataFrame, rows: Longs) -> pl.DataFrame:
    """With another cell after each event that leaves no rows."""
    ended = np.append(False, rows[:-1] == 0)[: rows.size]
    lives = np.cumsum(_begins(longs(events, CELL)) | ended)
    return events.with_columns(pl.Series(CELL, lives, pl.Int64))


def _begins(cell: Longs) -> Flags:
    return np.append(True, cell[1:] != cell[:-1])[: cell.size]
