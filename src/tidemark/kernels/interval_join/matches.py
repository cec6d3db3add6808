"""Which rows of an interval join have found a match."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from tidemark.kernels.columns import HASH, SEQUENCE, TIME
from tidemark.kernels.interval_join.clean_up import IntervalCleanUp
from tidemark.kernels.joined import user_columns
from tidemark.kernels.ranges import Flags
from tidemark.kernels.state import State
from tidemark.kernels.tables import distinct, longs

MATCHED = "_tm_matched"  # whether a cached row had found a match when it was cached
EXPIRES = "_tm_expires"
NEEDED = "_tm_needed"  # until when a note about a row must be kept


def plain(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with the user's columns only."""
    return user_columns(rows).drop(MATCHED, EXPIRES, strict=False)


@dataclass(frozen=True, slots=True)
class MatchNotes:
    """Which cached rows of one side have found a match, or have been padded.

    A cached row has a flag if it had matched when it was cached; for others there is a note.
    """

    clean_up: IntervalCleanUp

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
