"""The interface of kernels to their host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import polars as pl

from tidemark.kernels.state import State


@dataclass(frozen=True, slots=True)
class Metrics:
    """What a step did and its state afterwards, as numbers.

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
    them leaves the operator, by the number of an outlet; see `HandingOut`. `more` is further
    output, which is made when it is asked for and not in the metrics; only a kernel that was asked
    to make pieces has any.
    """

    state: State
    output: pl.DataFrame
    metrics: Metrics
    next_event_time: int | None = None
    late: tuple[pl.DataFrame, ...] | None = None
    handed_out: Mapping[int, pl.DataFrame] = field(default_factory=dict)
    more: Iterator[pl.DataFrame] | None = None


class Kernel(Protocol):
    """One stateful operator over one key group.

    `inputs` contains a frame per input, even if it is empty, with the user's columns and those of
    `columns`: HASH, TIME, ARRIVAL and STAMP always, KIND if an input does more than insert. Rows of
    a frame are in order of arrival, and ARRIVAL is their order across inputs.

    STAMP is the operator's watermark just before the row; it never decreases along ARRIVAL. After
    the last row the watermark advances to `watermark`. The output is that of rows and watermarks
    arriving one by one in this order, however they are cut into steps. If rows of a micro-batch
    only know the batch's watermark, all have the same stamp.

    Names of columns differ between the inputs.
    """

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step: ...
