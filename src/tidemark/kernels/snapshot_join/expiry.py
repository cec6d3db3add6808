"""Expires idle keys: nothing is kept of a key that neither side has had a row of for some time.

As in Flink, keys expire only once the right side has been loaded, and those that were loaded not
before that time has passed since.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from tidemark.kernels.columns import AFTER_ALL, HASH, TIME
from tidemark.kernels.keys import Keys
from tidemark.kernels.kinds import kinds_of
from tidemark.kernels.regular_join.lifetimes import Present
from tidemark.kernels.regular_join.sides import StoredSide
from tidemark.kernels.snapshot_join.phase import Phase
from tidemark.kernels.state import State
from tidemark.kernels.tables import distinct, longs
from tidemark.kernels.temporal_join.clean_up import NO_TIMER, CleanUp


@dataclass(frozen=True, slots=True)
class Expiry:
    """The clean-up timers of the keys, and the table with the rows of the right side."""

    clean_up: CleanUp
    side: StoredSide

    def expired(self, state: State, changes: pl.DataFrame, phase: Phase, now: int) -> State:
        """The state without the keys whose timer has fired. `changes` are any of the right side."""
        gone, state = self.clean_up.expired(state, changes, now)
        if gone.is_empty():
            return state
        later = self._later(phase, now)
        if later is None:
            return self._without(state, changes.clear(), gone, now)
        keys = Keys.of(self.clean_up.names, gone)
        nothing = np.zeros(len(keys) + 1, dtype=np.int64)
        timers = (nothing + NO_TIMER, nothing), (nothing + later, nothing)
        return self.clean_up.note(state, keys, *timers)

    def _later(self, phase: Phase, now: int) -> int | None:
        """When a timer fires instead that must not fire yet."""
        retention = self.clean_up.retention
        if not phase.loaded:
            return now + retention.longest
        if now < phase.loaded_at + retention.shortest:
            return phase.loaded_at + retention.longest
        return None

    def _without(self, state: State, like: pl.DataFrame, gone: pl.DataFrame, now: int) -> State:
        keys, names = Keys.of(self.clean_up.names, gone), self.clean_up.names
        stored = self.side.stored(state, like.drop(TIME), distinct(longs(gone, HASH)), now)
        mine = keys.number(stored, names) >= 0
        died = np.where(mine, 0, AFTER_ALL)
        none = np.zeros(stored.height, dtype=bool)
        rows = Present(like, kinds_of(like), stored, died, none)
        state = self.side.write(state, rows, None, none, now)
        waiting, queue = state.queue("changes").take(AFTER_ALL, TIME, like)
        kept = waiting.filter(keys.number(waiting, names) < 0)
        queue = queue.push(kept, TIME, self.clean_up.compaction)
        return state.with_tables(changes=queue)

    def accessed(self, state: State, left: pl.DataFrame, changes: pl.DataFrame, now: int) -> State:
        """The state after rows of some keys, the left ones under the names of the right keys."""
        keys = Keys.of(self.clean_up.names, left, changes)
        timers, waiting = self.clean_up.timers(state, keys)
        renewed = self.clean_up.retention.renewed(timers, now)
        return self.clean_up.note(state, keys, (timers, waiting), (renewed, waiting))
