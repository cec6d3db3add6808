"""What every kernel is, seen from its host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import polars as pl

from tidemark.kernels.state import State


@dataclass(frozen=True, slots=True)
class Metrics:
    """What a step did and what it left behind, as numbers.

    `rows_in` and `late` have one entry per input; the rest describes the whole step.
    """

    rows_in: tuple[int, ...]
    late: tuple[int, ...]
    rows_out: int
    waiting: int
    state_rows: int
    state_bytes: int
    segments: int
    watermark: int

    @classmethod
    def of(
        cls,
        state: State,
        rows_in: tuple[int, ...],
        late: tuple[int, ...],
        rows_out: int,
        waiting: int,
    ) -> Metrics:
        return cls(
            rows_in=rows_in,
            late=late,
            rows_out=rows_out,
            waiting=waiting,
            state_rows=state.height,
            state_bytes=state.size,
            segments=sum(1 for _ in state.segments()),
            watermark=state.watermark,
        )


@dataclass(frozen=True, slots=True)
class Step:
    """The outcome of one step.

    `next_event_time` is when the kernel wants to be called again although no row comes: at
    the first watermark that reaches it. Of the clock it asks nothing: a host shows it often.
    `late` holds, for each input, the rows that were dropped because they came too late, with the
    user's columns, TIME, ARRIVAL and, as STAMP, the watermark each met. `handed_out` is what of
    them leaves the operator; see `HandingOut`.
    """

    state: State
    output: pl.DataFrame
    metrics: Metrics
    next_event_time: int | None = None
    late: tuple[pl.DataFrame, ...] | None = None
    handed_out: pl.DataFrame | None = None


class Kernel(Protocol):
    """One stateful operator over one bucket of keys.

    `inputs` holds a frame per input, also when it is empty, with the user's columns and
    those of `columns`: HASH, TIME, ARRIVAL and STAMP always, KIND where an input does more
    than insert. Rows of a frame are in arrival order, and ARRIVAL says how those of several
    inputs interleave.

    STAMP is the operator's watermark just before the row; it never falls along ARRIVAL. After
    the last row the watermark moves to `watermark`. The answer is that of rows and watermarks
    coming one by one in this order, however they are cut into steps. Where rows of a
    micro-batch know no more than the batch's watermark, all have the same stamp.

    Names of columns differ between the inputs.
    """

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step: ...
