"""How a batch emits more pairs than memory should hold: in pieces.

A join of which both sides have a key very often makes the product of its rows. One that emits pairs
as rows come refuses a step that would make too many, and the step is done in halves. One that emits
them when a window closes, or in the end, makes them piece by piece as they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

import polars as pl

from tidemark.kernels.columns import ARRIVAL, BEFORE_ALL
from tidemark.kernels.protocol import Kernel, Step
from tidemark.kernels.state import State


class TooManyPairs(Exception):
    """A step would make more pairs than it may. Fewer rows at once make fewer."""


@runtime_checkable
class LimitsPairs(Protocol):
    """A kernel that can be held to so many pairs at a time; None is any number."""

    def limited(self, pairs: int | None) -> Kernel: ...


def limited(kernel: Kernel, pairs: int | None) -> Kernel:
    return kernel.limited(pairs) if isinstance(kernel, LimitsPairs) else kernel


def steps_of(
    kernel: Kernel,
    state: State,
    inputs: Sequence[pl.DataFrame],
    watermark: int,
    processing_time: int,
    pairs: int,
) -> Iterator[Step]:
    """A step, or as many as it takes for none to make more than `pairs`. A row comes alone at
    worst, with all its partners."""
    count = sum(rows.height for rows in inputs)
    try:
        only = limited(kernel, pairs if count > 1 else None)
        step = only.step(state, inputs, watermark, processing_time)
    except TooManyPairs:
        first, rest = _halves(inputs, count // 2)
        for step in steps_of(kernel, state, first, BEFORE_ALL, processing_time, pairs):
            yield step
            state = step.state
        yield from steps_of(kernel, state, rest, watermark, processing_time, pairs)
    else:
        yield step


def _halves(
    inputs: Sequence[pl.DataFrame], count: int
) -> tuple[list[pl.DataFrame], list[pl.DataFrame]]:
    """The rows that come first, and the others, numbered from zero as those of any step."""
    first = pl.col(ARRIVAL) < count
    rest = [rows.filter(~first).with_columns(pl.col(ARRIVAL) - count) for rows in inputs]
    return [rows.filter(first) for rows in inputs], rest
