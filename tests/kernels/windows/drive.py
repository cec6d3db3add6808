"""Feeding windows by hand, and side by side with the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from tidemark.kernels.columns import ARRIVAL, BEFORE_ALL, HASH, KIND, STAMP, TIME
from tidemark.kernels.protocol import Step
from tidemark.kernels.state import State
from tidemark.kernels.windows.aggregate import WindowAggregateKernel
from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START, AggregateSpec

from ..drive import restarted as restarted
from . import reference
from .reference import Emitted, Row

LONG, TEXT = pl.Int64(), pl.String()

CALLS = {
    "count": (AggregateSpec("COUNT", (), "n", LONG), reference.count),
    "sum": (AggregateSpec("SUM", ("v",), "s", LONG), reference.total),
    "min": (AggregateSpec("MIN", ("v",), "lo", LONG), reference.least),
    "max": (AggregateSpec("MAX", ("v",), "hi", LONG), reference.greatest),
    "distinct": (AggregateSpec("COUNT", ("v",), "d", LONG, distinct=True), reference.distinct),
    "distinct sum": (
        AggregateSpec("SUM", ("v",), "ds", LONG, distinct=True),
        reference.distinct_total,
    ),
    "distinct passing": (
        AggregateSpec("COUNT", ("v",), "dp", LONG, distinct=True, filter="f"),
        reference.distinct_passing,
    ),
    "filtered": (AggregateSpec("SUM", ("v",), "fs", LONG, filter="f"), reference.filtered),
    "list": (AggregateSpec("LISTAGG", ("v",), "l", TEXT), reference.listed),
}

SCHEMA = {
    "k": pl.String,
    "v": pl.Int64,
    "f": pl.Boolean,
    "s": pl.Int64,
    "e": pl.Int64,
    HASH: pl.Int64,
    TIME: pl.Int64,
    ARRIVAL: pl.Int64,
    STAMP: pl.Int64,
}


def frame(rows: Sequence[tuple[Row, int]], hash_values: int, kinds: bool) -> pl.DataFrame:
    """Rows with the watermark before each, as a kernel gets them."""
    data = [
        (r.key, r.value, r.passes, *r.window, _hash(r.key, hash_values), r.time, place, stamp)
        for place, (r, stamp) in enumerate(rows)
    ]
    made = pl.DataFrame(data, schema=SCHEMA, orient="row")
    return (
        made.with_columns(pl.Series(KIND, [r.kind for r, _ in rows], pl.String)) if kinds else made
    )


def _hash(key: str | None, hash_values: int) -> int:
    return (0 if key is None else 1 + int.from_bytes(key.encode(), "big")) % hash_values


@dataclass
class Driver:
    """A kernel with its state, fed step by step."""

    kernel: WindowAggregateKernel
    hash_values: int = 3
    state: State = field(default_factory=State)
    last: Step | None = None

    def step(
        self, rows: Sequence[tuple[Row, int]], watermark: int, clock: int = 0
    ) -> list[Emitted]:
        given = frame(rows, self.hash_values, self.kernel.retracts)
        if self.kernel.combined:
            given = self.kernel.combine(given.drop(ARRIVAL)).with_row_index(ARRIVAL)
            given = given.with_columns(pl.col(ARRIVAL).cast(pl.Int64))
        step = self.kernel.step(self.state, [given], watermark, clock)
        self.state, self.last = step.state, step
        output = step.output
        if not self.kernel.changelog_output:
            assert KIND not in output.columns
            output = output.with_columns(pl.lit("+I").alias(KIND))
        names = [call.output for call in self.kernel.calls]
        return list(output.select(KIND, "k", WINDOW_START, WINDOW_END, *names).iter_rows())

    def feed(self, rows: str = "", watermark: int = BEFORE_ALL, at: int = 0) -> list[str]:
        """A micro-batch, written as "key time [value [kind]]" with commas between rows, and the
        watermark after it. Answers are written the same way."""
        stamp = self.state.watermark
        told = self.step([(row, stamp) for row in parse(rows)], watermark, at)
        return [
            " ".join("-" if part is None else str(part) for part in (*line[1:], line[0]))
            if self.kernel.changelog_output
            else " ".join("-" if part is None else str(part) for part in line[1:])
            for line in told
        ]

    @property
    def late(self) -> int:
        assert self.last is not None
        return self.last.metrics.late[0]

    def restart(self) -> None:
        self.state = restarted(self.state)


def parse(text: str) -> list[Row]:
    rows = []
    for line in filter(None, map(str.strip, text.split(","))):
        key, time, *rest = line.split()
        value = int(rest[0]) if rest and rest[0] != "null" else None
        kind = rest[1] if len(rest) > 1 else "+I"
        rows.append(Row(None if key == "null" else key, int(time), value, kind))
    return rows
