"""Batches of a kernel, in one step or in many, without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import polars as pl
import pyarrow as pa

from tidemark.kernels.columns import HASH, KIND, TIME
from tidemark.kernels.cuts import Cut, cut_of
from tidemark.kernels.pieces import limited
from tidemark.kernels.protocol import Kernel, Metrics, Step
from tidemark.kernels.state import State
from tidemark.runtime.batch import Batch, Tally
from tidemark.runtime.bucket import Bucket, InputShape, Packed
from tidemark.runtime.payloads import encode

LEFT = pa.schema(dict.fromkeys(["a", "x", "tag", "a_start", "a_end"], pa.int64()))
LEFT = LEFT.set(2, pa.field("tag", pa.string()))
RIGHT = pa.schema(dict.fromkeys(["b", "y", "b_start", "b_end"], pa.int64()))
SIDES = LEFT, RIGHT
# Bytes: about 48 of a row, and what an Arrow file has around them.
ONE_STEP, SMALL_STEPS, TINY_STEPS = 1 << 40, 16_000, 4_000
# The processing time of all rows.
NOW = 1_000_000

# Key and time; what else there is in a row is its place.
Rows = list[tuple[int | None, int]]


def rows_of(schema: pa.Schema, rows: Rows, kinds: Sequence[str] = ()) -> pl.DataFrame:
    """Rows as a kernel gets them; each is in a window of ten milliseconds, and says so. Their kinds
    are the given ones, again and again."""
    key, value = schema.names[:2]
    start = pl.col(TIME) // 10 * 10
    frame = pl.DataFrame(
        {
            key: [row[0] for row in rows],
            value: range(len(rows)),
            # Hashes of keys differ in their lower and in their upper bits.
            HASH: [(row[0] or 0) * 0x9E3779B97F4A7C15 % (1 << 63) for row in rows],
            TIME: [row[1] for row in rows],
        },
        schema=dict.fromkeys([key, value, HASH, TIME], pl.Int64),
    ).with_columns(
        pl.col(value).cast(pl.String).alias("tag"),
        start.alias(f"{key}_start"),
        (start + 10).alias(f"{key}_end"),
    )
    if kinds:
        repeated = [kinds[place % len(kinds)] for place in range(len(rows))]
        frame = frame.with_columns(pl.Series(KIND, repeated, pl.String))
    return frame.select(*schema.names, *([KIND] if kinds else []), HASH, TIME)


def packed_of(side: int, rows: pl.DataFrame, many: int = 40) -> list[Packed]:
    """A packed row for every few rows, which come in any order."""
    slices = [(place, rows[place : place + many]) for place in range(0, rows.height, many)]
    return [(side, 0, place, encode(some)) for place, some in reversed(slices)]


@dataclass
class Watched:
    """A kernel, how many rows it was given in each step, and how many it kept then."""

    kernel: Kernel
    heights: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)

    def step(
        self, state: State, inputs: Sequence[pl.DataFrame], watermark: int, processing_time: int
    ) -> Step:
        step = self.kernel.step(state, inputs, watermark, processing_time)
        self.heights.append(sum(frame.height for frame in inputs))
        self.kept.append(step.state.height)
        return step

    def cut(self, inputs: Sequence[pl.DataFrame]) -> Cut:
        return cut_of(self.kernel, inputs)

    def limited(self, pairs: int | None) -> Watched:
        return replace(self, kernel=limited(self.kernel, pairs))


@dataclass(frozen=True)
class Outcome:
    """All output of a batch, also as it came out, its metrics, and the kernel that was watched."""

    rows: pl.DataFrame
    pieces: list[pl.DataFrame]
    metrics: Metrics
    steps: Watched


def outcome(
    kernel: Kernel,
    columns: tuple[str, ...],
    sides: Sequence[Rows],
    step_bytes: int = ONE_STEP,
    pairs: int = ONE_STEP,
    kinds: Sequence[Sequence[str]] = ((), ()),
) -> Outcome:
    watched = Watched(kernel)
    schemas = [
        schema.append(pa.field(KIND, pa.string())) if of_side else schema
        for schema, of_side in zip(SIDES, kinds, strict=True)
    ][: len(sides)]
    packed = [
        row
        for side, rows in enumerate(sides)
        for row in packed_of(side, rows_of(SIDES[side], rows, kinds[side]))
    ]
    bucket = Bucket(watched, tuple(map(InputShape.of, schemas)), columns)
    tally = Tally()
    steps = Batch(bucket, NOW, step_bytes, pairs).steps(packed, tally)
    pieces = [step.output for step in steps]
    return Outcome(pl.concat(pieces), pieces, tally.read(), watched)
