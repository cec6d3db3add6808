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


@dataclass(frozen=True, slots=True)
class Step:
    """The outcome of one step.

    `next_event_time` is when the kernel wants to be called again although no row comes: at
    the first watermark that reaches it. `next_processing_time` is the same for the clock.
    """

    state: State
    output: pl.DataFrame
    metrics: Metrics
    next_event_time: int | None = None
    next_processing_time: int | None = None


class Kernel(Protocol):
    """One stateful operator over one bucket of keys.

    `inputs` holds a frame per input, also when it is empty, with the user's columns and
    those of `columns`: HASH and TIME always, KIND where an input does more than insert.
    Rows of a frame are in arrival order.

    How rows and watermarks interleave is said by two more columns, which all inputs have or
    none has. STAMP is the operator's watermark just before the row and ARRIVAL the row's
    place among all rows of the step: then the step answers as if every row had come alone,
    however rows are cut into steps. Without them the watermark advances first and all rows
    come after it, the inputs' from the last to the first (a join's right side before its
    left): what a micro-batch knows. In both cases the step ends at `watermark`.

    Names of columns differ between the inputs.
    """

    def step(
        self,
        state: State,
        inputs: Sequence[pl.DataFrame],
        watermark: int,
        processing_time: int,
    ) -> Step: ...


@dataclass(frozen=True, slots=True)
class Retention:
    """How long the state of a key that nobody asks for is kept, in milliseconds.

    A key has at most one clean-up timer, so a busy key moves it at most once per
    `longest - shortest`.
    """

    shortest: int
    longest: int

    @classmethod
    def of(cls, ttl: int) -> Retention:
        """The two bounds `table.exec.state.ttl` stands for."""
        return cls(ttl, ttl * 3 // 2)
