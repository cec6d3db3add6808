"""One step of a kernel over one key group, in a stream or in a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import polars as pl
import pyarrow as pa

from tidemark.kernels import decimal_sums
from tidemark.kernels.columns import (
    ARRIVAL,
    BEFORE_ALL,
    HASH,
    STAMP,
    TIME,
)
from tidemark.kernels.pieces import steps_of
from tidemark.kernels.protocol import Kernel, Step
from tidemark.kernels.state import State
from tidemark.runtime.combining import Combine
from tidemark.runtime.payloads import IN_ROWS, Payload, Payloads, unwrapped

# A packed row: the input it belongs to, its source, and its rows; or, without rows, the watermark
# of that source.
Packed = tuple[int, int, int, Payload | None]


@dataclass(frozen=True, slots=True)
class InputShape:
    """What a key group must know about an input, even if it has no rows right now.

    `empty` is a frame of its rows as the kernel gets them, but without STAMP and ARRIVAL. The rows
    of a `chained` input are the output of another stateful operator, which emits them before its
    watermark advances: they have met that of the last micro-batch, unless they say which one. Rows
    of an input with `combine` have the columns of that.
    """

    schema: pa.Schema  # of the user's columns
    empty: pl.DataFrame
    chained: bool = False
    combine: Combine | None = None

    @classmethod
    def of(cls, schema: pa.Schema, chained: bool = False, combine: Combine | None = None) -> Self:
        rows = pl.from_arrow(schema.empty_table())
        assert isinstance(rows, pl.DataFrame)
        rows = rows.with_columns(pl.lit(0, pl.Int64).alias(name) for name in (HASH, TIME))
        return cls(schema, combine.made_of(rows) if combine else rows, chained, combine)

    def is_combined(self, rows: pl.DataFrame) -> bool:
        """Whether packed rows are combined. They are not if that would not have reduced them."""
        return rows.columns != [*self.schema.names, HASH, TIME]


@dataclass(frozen=True, slots=True)
class Bucket:
    """A kernel with its inputs, the wanted columns of its output, and how its output is packed."""

    kernel: Kernel
    shapes: tuple[InputShape, ...]
    output: tuple[str, ...]
    payloads: Payloads = IN_ROWS
    # The columns of the late rows that the kernel hands out, by the number of their outlet.
    late: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    # The input whose watermark is that of the kernel; None if it is the smallest one of all.
    follows: int | None = None

    def step(
        self,
        state: State,
        packed: Iterable[Packed],
        before: int,
        after: int,
        processing_time: int,
        lap: Callable[[str], None] = lambda _: None,
    ) -> Step:
        """Rows of sources arrive at the watermark `before`, which then advances to `after`.

        A table has no watermark before its rows and the last possible one after them. `lap` is
        called when the rows have been unpacked and the kernel starts.
        """
        arriving = self._arriving(state, packed, before)
        lap("decode")
        with decimal_sums.in_words():
            step = self.kernel.step(state, arriving, after, processing_time)
        return self._shown(step)

    def steps(
        self,
        state: State,
        packed: Iterable[Packed],
        after: int,
        processing_time: int,
        pairs: int,
        lap: Callable[[str], None] = lambda _: None,
    ) -> Iterator[Step]:
        """The same for rows of a batch, in as many steps as it takes for none to make more than so
        many pairs at a time."""
        arriving = self._arriving(state, packed, BEFORE_ALL)
        lap("decode")
        with decimal_sums.in_words():
            for step in steps_of(self.kernel, state, arriving, after, processing_time, pairs):
                yield self._shown(step)

    def _arriving(
        self, state: State, packed: Iterable[Packed], before: int
    ) -> Sequence[pl.DataFrame]:
        frames = self._opened(packed)
        return self._in_order(frames, state.watermark, max(state.watermark, before))

    def _shown(self, step: Step) -> Step:
        """With the columns that are wanted."""
        return replace(
            step,
            output=step.output.select(self.output),
            handed_out={n: rows.select(self.late[n]) for n, rows in step.handed_out.items()},
            more=None if step.more is None else (rows.select(self.output) for rows in step.more),
        )

    def watermarks(self, packed: Iterable[Packed], known: Sequence[int]) -> list[int]:
        """The watermark of each input, which was `known` before.

        Every partition reports it to every key group; Spark has it in the next micro-batch.
        """
        now = list(known) or [BEFORE_ALL] * len(self.shapes)
        for number, _, watermark, payload in packed:
            if payload is None and number >= 0:
                now[number] = max(now[number], watermark)
        return now

    def combined(self, watermarks: Sequence[int]) -> int:
        """The watermark of the kernel, as far as it follows from those of its inputs."""
        return min(watermarks) if self.follows is None else watermarks[self.follows]

    def _opened(self, packed: Iterable[Packed]) -> list[pl.DataFrame]:
        """A frame per input, its rows in the order of their source."""
        parts: list[list[Packed]] = [[] for _ in self.shapes]
        for row in packed:
            if row[3] is not None:
                parts[row[0]].append(row)
        return [
            pl.concat([shape.empty, *in_order_of_source(shape, of_input)]).rechunk()
            for shape, of_input in zip(self.shapes, parts, strict=True)
        ]

    @property
    def order(self) -> list[int]:
        """The inputs, in the order in which the kernel gets their rows.

        Rows of other operators precede those of sources. The order between two inputs of the same
        kind is unknown; the later input is first, so that the left rows of a join match rows of the
        same micro-batch.
        """
        numbers = reversed(range(len(self.shapes)))
        return sorted(numbers, key=lambda number: not self.shapes[number].chained)

    def _in_order(
        self, frames: Sequence[pl.DataFrame], so_far: int, now: int
    ) -> list[pl.DataFrame]:
        """Rows of other operators, then the watermark's advance, then rows of sources."""
        result = list(frames)
        place = 0
        for index in self.order:
            frame = frames[index]
            stamp = pl.lit(so_far if self.shapes[index].chained else now, pl.Int64)
            places = np.arange(place, place + frame.height)
            result[index] = frame.with_columns(
                stamp.alias(STAMP), pl.Series(ARRIVAL, places, pl.Int64)
            )
            place += frame.height
        return result


def in_order_of_source(shape: InputShape, packed: Iterable[Packed]) -> Iterator[pl.DataFrame]:
    """The rows of one input, as the kernel gets them."""
    for *_, payload in sorted(packed, key=lambda row: row[1:3]):
        assert payload is not None
        rows = unwrapped(payload)
        combine = None if shape.is_combined(rows) else shape.combine
        yield combine.made_of(rows) if combine else rows
