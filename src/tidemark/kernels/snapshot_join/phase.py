"""The progress of loading the right side, which is kept in the state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from tidemark.kernels.columns import AFTER_ALL, BEFORE_ALL, HASH
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State

_UNTIL: Final = "_tm_until"
_ACTIVE_AT: Final = "_tm_active_at"
_LOADED_AT: Final = "_tm_loaded_at"


@dataclass(frozen=True, slots=True)
class Phase:
    """The watermark `until` which the right side is loaded; when something last came of it, and
    when it had been loaded, by the clock. Both are BEFORE_ALL if that has not happened yet.
    """

    until: int
    active_at: int = BEFORE_ALL
    loaded_at: int = BEFORE_ALL

    @property
    def loaded(self) -> bool:
        return self.loaded_at > BEFORE_ALL

    def is_idle(self, idle_ms: int | None, now: int) -> bool:
        """Whether nothing has come of the right side for so long, after something had."""
        if idle_ms is None or self.active_at == BEFORE_ALL:
            return False
        return now >= self.active_at + idle_ms

    def active(self, now: int) -> Phase:
        return replace(self, active_at=now)

    def ended(self, now: int) -> Phase:
        return replace(self, loaded_at=now)

    @classmethod
    def of(cls, state: State, until: int, *, at_start: bool) -> Phase:
        """The phase that a step begins in. A job that was started again waits for no later time if
        the time is the one `at_start`.
        """
        segments = state.keyed("phase").segments
        if not segments:
            return cls(until)
        row = segments[-1].rows().row(-1, named=True)
        until = min(until, row[_UNTIL]) if at_start else until
        return cls(until, row[_ACTIVE_AT], row[_LOADED_AT])

    def noted_in(self, state: State, compaction: Compaction) -> State:
        table = state.keyed("phase")
        if table.segments and Phase.of(state, AFTER_ALL, at_start=True) == self:
            return state
        row = {
            HASH: 0,
            _UNTIL: self.until,
            _ACTIVE_AT: self.active_at,
            _LOADED_AT: self.loaded_at,
        }
        noted = table.append(pl.DataFrame([row]), compaction, lambda rows, _: rows.tail(1))
        return state.with_tables(phase=noted)
