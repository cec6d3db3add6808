"""Waits for the right side's first rows before left rows are joined with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from tidemark.kernels.arrivals import end_of, number
from tidemark.kernels.columns import AFTER_ALL, ARRIVAL, HASH, SEQUENCE, STAMP
from tidemark.kernels.protocol import Kernel, Metrics, Step
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.tables import earliest

_STARTED = "_tm_started"
_SILENT_SINCE = "_tm_silent_since"
_LOADED = "_tm_loaded"


@dataclass(frozen=True, slots=True)
class AfterLoading:
    """Holds back left rows until the right side has been loaded, then works like `join`.

    It has been loaded when no right row has arrived for `idle_ms`, or when the watermark has
    reached the time of the first step: later rows are changes, not initial data.
    """

    join: Kernel
    idle_ms: int
    compaction: Compaction = field(default_factory=Compaction)

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step:
        left, right = inputs
        phase = _Phase.of(state, processing_time)
        if phase.loaded:
            return self.join.step(state, inputs, watermark, processing_time)
        if processing_time >= phase.silent_since + self.idle_ms:
            first = self._released(state, inputs, watermark, processing_time)
            state = phase.ended().noted_in(first.state, self.compaction)
            second = self.join.step(state, inputs, watermark, processing_time)
            return _as_one(inputs, first, second)
        first = self.join.step(state, [left.clear(), right], watermark, processing_time)
        state = self._held(first.state, state, inputs)
        if right.height:
            phase = replace(phase, silent_since=processing_time)
        if watermark >= phase.started:
            second = self._released(state, inputs, watermark, processing_time)
            state = phase.ended().noted_in(second.state, self.compaction)
            return _as_one(inputs, first, replace(second, state=state))
        state = phase.noted_in(state, self.compaction)
        return self._waiting(replace(first, state=state), inputs, phase)

    def _held(self, after: State, before: State, inputs: Sequence[pl.DataFrame]) -> State:
        """The state with the left rows of a step, in order of arrival."""
        numbered = number(before, inputs)
        held = after.queue("held").push(numbered[0], SEQUENCE, self.compaction)
        return replace(after.with_tables(held=held), sequence=end_of(before, numbered))

    def _released(
        self, state: State, inputs: Sequence[pl.DataFrame], watermark: int, processing_time: int
    ) -> Step:
        """All left rows that are held back, joined as if they arrived now."""
        left, right = inputs
        like = number(state, [left.clear()])[0]
        held, queue = state.queue("held").take(AFTER_ALL, SEQUENCE, like)
        arriving = held.drop(SEQUENCE).with_columns(
            pl.Series(ARRIVAL, np.arange(held.height), pl.Int64),
            pl.lit(watermark, pl.Int64).alias(STAMP),
        )
        frames = [arriving.select(left.columns), right.clear()]
        return self.join.step(state.with_tables(held=queue), frames, watermark, processing_time)

    def _waiting(self, step: Step, inputs: Sequence[pl.DataFrame], phase: _Phase) -> Step:
        """The step while loading: it must be called again when the watermark ends the loading."""
        held = step.state.queue("held").height
        rows_in = tuple(frame.height for frame in inputs)
        before = step.metrics
        step = replace(
            step, metrics=Metrics.of(step.state, rows_in, before.late, before.rows_out, held)
        )
        if not held:
            return step
        return replace(step, next_event_time=earliest(step.next_event_time, phase.started))


@dataclass(frozen=True, slots=True)
class _Phase:
    """The progress of loading; times are processing times."""

    started: int
    silent_since: int
    loaded: bool = False

    @classmethod
    def of(cls, state: State, now: int) -> _Phase:
        segments = state.keyed("load_phase").segments
        if not segments:
            return cls(now, now)
        row = segments[-1].rows().row(-1, named=True)
        return cls(row[_STARTED], row[_SILENT_SINCE], row[_LOADED])

    def ended(self) -> _Phase:
        return replace(self, loaded=True)

    def noted_in(self, state: State, compaction: Compaction) -> State:
        table = state.keyed("load_phase")
        if table.segments and _Phase.of(state, 0) == self:
            return state
        row = {
            HASH: 0,
            _STARTED: self.started,
            _SILENT_SINCE: self.silent_since,
            _LOADED: self.loaded,
        }
        noted = table.append(pl.DataFrame([row]), compaction, lambda rows, _: rows.tail(1))
        return state.with_tables(load_phase=noted)


def _as_one(inputs: Sequence[pl.DataFrame], first: Step, second: Step) -> Step:
    """Two steps of a join, reported as one."""
    output = pl.concat([first.output, second.output])
    rows_in = tuple(frame.height for frame in inputs)
    metrics = Metrics.of(second.state, rows_in, second.metrics.late, output.height, 0)
    return replace(second, output=output, metrics=metrics)
