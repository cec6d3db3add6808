"""The output of an interval join: pairs, rows padded with NULLs, unmatched rows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import polars as pl

from tidemark.kernels.columns import HASH, SEQUENCE, TIME
from tidemark.kernels.interval_clean_up import CleanUp
from tidemark.kernels.interval_ranges import Flags
from tidemark.kernels.joined import of_the_user
from tidemark.kernels.pieces import TooManyPairs
from tidemark.kernels.state import State
from tidemark.kernels.tables import Longs, ascends, distinct, longs, stable_order

How = Literal["inner", "left", "right", "full", "semi", "anti"]

MATCHED = "_tm_matched"  # whether a cached row had found a match when it was cached
EXPIRES = "_tm_expires"
NEEDED = "_tm_needed"  # until when a note about a row must be kept


def plain(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with the user's columns only."""
    return of_the_user(rows).drop(MATCHED, EXPIRES, strict=False)


def beside(left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    """Rows next to each other. One side may have no columns, and then no number of rows."""
    return pl.DataFrame([*left.get_columns(), *right.get_columns()])


def taken(rows: pl.DataFrame, positions: Longs) -> pl.DataFrame:
    """The rows at some positions. Rows without any columns need not be gathered."""
    return rows[positions] if rows.columns else rows


def wanted(rows: pl.DataFrame, names: Collection[str]) -> pl.DataFrame:
    """The existing columns among these; all if none are given."""
    return rows.select(n for n in rows.columns if n in names) if names else rows


@dataclass(slots=True)
class Output:
    """Collects rows that are emitted, each with the position in the sequence that causes it. More
    pairs than `at_most` are too many.
    """

    left: pl.DataFrame  # empty, with the wanted ones of the user's columns of that side
    right: pl.DataFrame
    how: How
    at_most: int | None = None
    parts: list[pl.DataFrame] = field(default_factory=list)
    places: list[Longs] = field(default_factory=list)
    pairs: int = 0

    def add_pairs(self, rows: pl.DataFrame, places: Longs) -> None:
        self.pairs += rows.height
        if self.at_most is not None and self.pairs > self.at_most:
            raise TooManyPairs
        self.add(rows, places)

    def add(self, rows: pl.DataFrame, places: Longs) -> None:
        if rows.height:
            self.parts.append(rows)
            self.places.append(places)

    def alone(self, side: str, rows: pl.DataFrame, places: Longs) -> None:
        """Unmatched rows: next to NULLs, or without the other side in a semi or anti join."""
        own, other = (self.left, self.right) if side == "left" else (self.right, self.left)
        shown = rows.select(own.columns)
        if self.how not in ("semi", "anti"):
            nulls = other.clear(rows.height)
            shown = beside(shown, nulls) if side == "left" else beside(nulls, shown)
        self.add(shown, places)

    def frame(self) -> pl.DataFrame:
        one_sided = self.how in ("semi", "anti")
        empty = self.left if one_sided else beside(self.left, self.right)
        return pl.concat([empty, *self.parts])

    def settle(self) -> None:
        """Sort what was added since the last call by its causes."""
        if self.places:
            settled = len(self.parts) - len(self.places)
            rows, places = pl.concat(self.parts[settled:]), np.concatenate(self.places)
            self.parts[settled:] = [rows if ascends(places) else rows[stable_order(places)]]
            self.places.clear()


@dataclass(frozen=True, slots=True)
class Partners:
    """Which cached rows of one side have found a match, or have been padded.

    A cached row has a flag if it had matched when it was cached; for others there is a note.
    """

    clean_up: CleanUp

    @property
    def _notes(self) -> str:
        return f"{self.clean_up.side}_matched"

    @property
    def _waiting(self) -> str:
        return f"{self.clean_up.side}_unmatched"

    def noted(self, state: State, rows: pl.DataFrame) -> Flags:
        """Per row whether there is a note about it."""
        like = rows.clear().select(HASH, *self.clean_up.keys, TIME, SEQUENCE)
        like = like.with_columns(pl.lit(0, pl.Int64).alias(NEEDED))
        notes = state.keyed(self._notes).probe(distinct(longs(rows, HASH)), like)
        return np.isin(longs(rows, SEQUENCE), longs(notes, SEQUENCE))

    def note(self, state: State, rows: pl.DataFrame, clock: int) -> State:
        """Record that cached rows need not be padded any more."""
        if rows.is_empty():
            return state
        _, timer = self.clean_up.floors(state, rows, clock)
        notes = rows.select(HASH, *self.clean_up.keys, TIME, SEQUENCE)
        notes = notes.with_columns(pl.Series(NEEDED, timer)).unique(SEQUENCE)
        table = state.keyed(self._notes).append(
            notes,
            self.clean_up.compaction,
            lambda merged, _: self._worth_keeping(state, merged, clock),
        )
        return state.with_tables(**{self._notes: table})

    def _worth_keeping(self, state: State, notes: pl.DataFrame, clock: int) -> pl.DataFrame:
        """A row is needed while it is cached, and until the time that it waits for has come."""
        return notes.filter(self.clean_up.alive(state, notes, clock) | (pl.col(NEEDED) > clock))

    def wait(self, state: State, rows: pl.DataFrame) -> State:
        """Put unmatched rows where they wait for their clean-up."""
        expires = (pl.col(TIME) + self.clean_up.size + 1).alias(EXPIRES)
        return self._pushed(state, rows.with_columns(expires))

    def _pushed(self, state: State, rows: pl.DataFrame) -> State:
        queue = state.queue(self._waiting).push(rows, EXPIRES, self.clean_up.compaction)
        return state.with_tables(**{self._waiting: queue})

    def cleaned_up(
        self, state: State, rows: pl.DataFrame, clock: int
    ) -> tuple[pl.DataFrame, State]:
        """The rows that are removed by the time of a clock without ever having matched.

        `rows` are any of the side's. A row that outlives its expiry continues to wait, until the
        timer of its key fires.
        """
        like = rows.clear().with_columns(pl.lit(0, pl.Int64).alias(EXPIRES))
        due, queue = state.queue(self._waiting).take(clock, EXPIRES, like)
        state = state.with_tables(**{self._waiting: queue})
        if due.is_empty():
            return due, state
        due = due.filter(~self.noted(state, due))
        floor, timer = self.clean_up.floors(state, due, clock)
        alive = longs(due, TIME) + self.clean_up.size >= floor
        state = self._pushed(state, due.with_columns(pl.Series(EXPIRES, timer)).filter(alive))
        return due.filter(~alive), state

    def next(self, state: State) -> int | None:
        return state.queue(self._waiting).next

    def waiting(self, state: State) -> int:
        return state.queue(self._waiting).height
