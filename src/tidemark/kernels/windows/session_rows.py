"""Rows of sessions: each row when its session is over, with the session's start and end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import polars as pl

from tidemark.kernels.co_group.kernel import CoGroupKernel
from tidemark.kernels.co_group.sessions import SharedSessions
from tidemark.kernels.columns import AFTER_ALL, KIND
from tidemark.kernels.protocol import Step
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.windows.incoming import in_processing_time
from tidemark.kernels.windows.spec import WINDOW_END

# Kinds are kept with the rows as a column of the user's.
_KIND: Final = "_tm_row_kind"


@dataclass(frozen=True, slots=True)
class SessionRows:
    """Emits the rows of each session when the watermark reaches its last millisecond, in order of
    arrival, the session that ends first before the others.

    Rows open and merge sessions as in `SharedSessions`, with a single side here; late ones are
    dropped and counted. Kinds have no meaning here: a retraction is emitted after the row it
    retracts, as a row like any other, if both are in one session.

    With `processing_time`, a row's time is its arrival, and the clock is used as the watermark.
    """

    keys: tuple[str, ...]
    gap: int
    processing_time: bool = False
    compaction: Compaction = field(default_factory=Compaction)

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        rows = inputs[0].rename({KIND: _KIND}, strict=False)
        if self.processing_time:
            rows, watermark = in_processing_time(state, rows, watermark, processing_time)
        sessions = CoGroupKernel(
            SharedSessions(self.keys, self.keys, self.gap), _alone, self.compaction
        )
        step = sessions.step(state, [rows, rows.clear()], watermark, processing_time)
        came, late = step.metrics.rows_in[:1], step.metrics.late[:1]
        dropped = step.late and (step.late[0].rename({_KIND: KIND}, strict=False),)
        step = replace(step, metrics=replace(step.metrics, rows_in=came, late=late), late=dropped)
        if not self.processing_time or step.next_event_time is None:
            return step
        return replace(step, next_event_time=AFTER_ALL)  # the clock ends sessions, or the input


def _alone(rows: pl.DataFrame, _: pl.DataFrame) -> pl.DataFrame:
    return rows.sort(WINDOW_END, maintain_order=True).rename({_KIND: KIND}, strict=False)
