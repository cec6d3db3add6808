"""The rows of one side of a regular join, and when each of them lives: from its own arrival to
the arrival of its retraction, as positions in the sequence of all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from tidemark.kernels.columns import AFTER_ALL, HASH, KIND, SEQUENCE, TIME
from tidemark.kernels.joined import user_columns
from tidemark.kernels.kinds import Kinds, accumulates, kinds_of
from tidemark.kernels.ranges import Flags, Pairs, Ranges, by_key_and_time
from tidemark.kernels.sorting import stable_order, stable_order_by
from tidemark.kernels.tables import Longs, longs

PARTNERS = "_tm_partners"  # the current number of matches of a stored row
_GROUP = "_tm_group"
_SIGN = "_tm_sign"
_BALANCE = "_tm_balance"


@dataclass(frozen=True, slots=True)
class JoinInput:
    """What is known about an input of a join: its key columns, whether it retracts rows, and its
    `unique` columns, in which no two of its rows are equal at any time, if there are any.

    If a row arrives with the same unique columns as a row that still exists, it silently replaces
    that one. Otherwise equal rows exist as often as they came.
    """

    keys: tuple[str, ...]
    retracts: bool = False
    unique: tuple[str, ...] = ()

    @property
    def ends(self) -> bool:
        """Whether a row can be removed."""
        return self.retracts or bool(self.unique)


@dataclass(slots=True)
class Present:
    """The rows of a side that matter in a step.

    `events` are those that arrive, sorted by hash, with their `kinds`. `lives` are the stored rows
    and the inserted ones, sorted by hash and birth, each with the position in the sequence before
    which it `died`.
    """

    events: pl.DataFrame
    kinds: Kinds
    lives: pl.DataFrame
    died: Longs
    is_new: Flags

    @classmethod
    def of(cls, input_: JoinInput, stored: pl.DataFrame, rows: pl.DataFrame) -> Present:
        events = rows[stable_order(longs(rows, HASH))]
        kinds = kinds_of(events)
        adds = accumulates(kinds)
        # Existing rows are sorted by when they were created, not by when they were written.
        born = pl.col(SEQUENCE).alias(TIME)
        arrived = events.drop(KIND, strict=False).filter(adds).with_columns(born)
        if PARTNERS in stored.columns:
            # How many matches the arriving ones have is not known before they have searched.
            arrived = arrived.with_columns(pl.lit(-1, pl.Int64).alias(PARTNERS))
        stored = stored.with_columns(born)
        lives = by_key_and_time(pl.concat([stored, arrived.select(stored.columns)]))
        died = np.full(lives.height, AFTER_ALL, dtype=np.int64)
        if input_.ends:
            # Only these can end now.
            causes = events if input_.unique else events.filter(~adds)
            mortal = np.flatnonzero(np.isin(longs(lives, HASH), longs(causes, HASH)))
            died[mortal] = _deaths(input_, lives[mortal], events.filter(~adds))
        is_new = np.isin(longs(lives, SEQUENCE), longs(arrived, SEQUENCE))
        return cls(events, kinds, lives, died, is_new)

    @property
    def adds(self) -> Flags:
        """Which events are inserts that retract nothing."""
        return accumulates(self.kinds)

    @property
    def places(self) -> Longs:
        """The positions of the events in the sequence."""
        return longs(self.events, SEQUENCE)

    def among(self, other: Present, at_most: int | None = None) -> Pairs:
        """The rows of the other side with the same hash that exist when an event arrives. More than
        `at_most` are too many."""
        found = self.searching(at_most).among(other.lives)
        return found.where(other.died[found.theirs] > self.places[found.mine])

    def searching(self, at_most: int | None = None) -> Ranges:
        """What the events search for: rows that were there before them."""
        places = self.places
        start = np.zeros(places.size, dtype=np.int64)
        return Ranges(longs(self.events, HASH), start, places, at_most)


def left_in_the_end(input_: JoinInput, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows that exist after all of the rows have arrived, sorted by hash and birth."""
    present = Present.of(input_, rows.drop(KIND, strict=False).clear(), rows)
    return present.lives.filter(present.died == AFTER_ALL).drop(TIME)


def _deaths(input_: JoinInput, lives: pl.DataFrame, retractions: pl.DataFrame) -> Longs:
    """Per row the position in the sequence at which it ends."""
    names = input_.unique or tuple(user_columns(lives.drop(PARTNERS, strict=False)).columns)
    columns = [HASH, *dict.fromkeys((*input_.keys, *names)), SEQUENCE]
    sign = pl.lit(1, pl.Int64).alias(_SIGN)
    both = pl.concat(
        [lives.select(*columns, sign), retractions.select(*columns, -sign.alias(_SIGN))]
    )
    group = _group_numbers(both, columns[:-1])
    order = stable_order_by(group, longs(both, SEQUENCE))
    histories = _Histories(group[order], longs(both, SEQUENCE)[order], longs(both, _SIGN)[order])
    ends = histories.of_one() if input_.unique else histories.of_equals()
    died = np.empty(both.height, dtype=np.int64)
    died[order] = ends
    return died[: lives.height]


def _group_numbers(rows: pl.DataFrame, columns: Sequence[str]) -> Longs:
    """A number for each row, the same for equal rows; NULL equals NULL."""
    numbered = rows.select(columns).with_row_index(_GROUP)
    return longs(numbered.select(pl.col(_GROUP).first().over(columns)), _GROUP)


@dataclass(frozen=True, slots=True)
class _Histories:
    """Inserts (`sign` 1) and retractions (-1) of rows, ordered by group and by sequence."""

    group: Longs
    sequence: Longs
    sign: Longs

    def of_one(self) -> Longs:
        """When each row ends, if a group has one row at a time: with whatever comes next."""
        ends = np.full(self.group.size, AFTER_ALL, dtype=np.int64)
        same = self.group[1:] == self.group[:-1]
        ends[:-1][same] = self.sequence[1:][same]
        return ends

    def of_equals(self) -> Longs:
        """When each row ends, if a retraction removes the oldest of the existing equal rows, or
        nothing if there are none.
        """
        ends = np.full(self.group.size, AFTER_ALL, dtype=np.int64)
        meets = self._meets()
        inserts, taken = np.flatnonzero(self.sign > 0), np.flatnonzero(meets)
        first = np.searchsorted(self.group[inserts], self.group[taken], side="left")
        ends[inserts[first + _number_in_group(self.group[taken])]] = self.sequence[taken]
        return ends

    def _meets(self) -> npt.NDArray[np.bool_]:
        """Which retractions have a row to remove: not those that lower the balance to a new
        minimum.
        """
        rows = pl.DataFrame({_GROUP: self.group, _SIGN: self.sign})
        rows = rows.with_columns(pl.col(_SIGN).cum_sum().over(_GROUP).alias(_BALANCE))
        lowest = pl.col(_BALANCE).cum_min().shift(1).fill_null(0).over(_GROUP)
        meets = (pl.col(_SIGN) < 0) & (pl.col(_BALANCE) >= pl.min_horizontal(lowest, 0))
        return rows.select(meets.alias(_SIGN))[_SIGN].to_numpy()


def _number_in_group(group: Longs) -> Longs:
    """Per element of an ascending array, the number of equal ones before it."""
    return np.arange(group.size) - np.searchsorted(group, group, side="left")
