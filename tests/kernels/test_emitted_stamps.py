"""The watermarks before the rows that operators emit: held against rows and watermarks that arrive
one by one."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.drive import restarted
from tests.kernels.over.calls import call
from tests.searching import searched
from tidemark.kernels.columns import AFTER_ALL, ARRIVAL, BEFORE_ALL, HASH, KIND, SEEN, STAMP, TIME
from tidemark.kernels.cuts import Nowhere, cut_of
from tidemark.kernels.keep_first import KeepFirstKernel
from tidemark.kernels.keep_last import KeepLastKernel
from tidemark.kernels.match_recognize.kernel import MatchRecognizeKernel
from tidemark.kernels.match_recognize.spec import (
    MatchTime,
    Pick,
    RowCondition,
    Skip,
    Variable,
)
from tidemark.kernels.normalize import NormalizeKernel
from tidemark.kernels.order import Order
from tidemark.kernels.over.by_time import OverByTimeKernel
from tidemark.kernels.over.spec import OverFrame
from tidemark.kernels.protocol import Kernel
from tidemark.kernels.stamped import Stamped
from tidemark.kernels.state import State
from tidemark.kernels.top_n.kernel import TopNKernel

KEYS = ("k",)
BY_VALUE = (Order("v", descending=True),)
KERNELS: dict[str, Callable[[], Any]] = {
    "over rows": lambda: OverByTimeKernel(KEYS, (call("SUM", OverFrame(-1, 0, by_rows=True)),)),
    "over a range": lambda: OverByTimeKernel(KEYS, (call("SUM", OverFrame(-3, 0)),)),
    "over all rows so far": lambda: OverByTimeKernel(KEYS, (call("SUM"),)),
    "keep first": lambda: KeepFirstKernel(KEYS),
    "keep last": lambda: KeepLastKernel(KEYS),
    "first two": lambda: TopNKernel(KEYS, BY_VALUE, 1, 2),
    "first two by rank": lambda: TopNKernel(KEYS, BY_VALUE, 1, 2, rank="rank"),
    "second of changes": lambda: TopNKernel(KEYS, BY_VALUE, 2, 2, input="retractions"),
    "upserts": lambda: NormalizeKernel(KEYS, ("k", "v", "id")),
    "match": lambda: _match(None),
    "match within": lambda: _match(4),
}
CHANGES = ("second of changes", "upserts")


def _match(within: int | None) -> MatchRecognizeKernel:
    variables = (
        Variable("A", RowCondition("low")),
        Variable("B", RowCondition("low"), 0, None),
        Variable("C", RowCondition("high")),
    )
    measures = (("time", MatchTime()), ("last", Pick("id", 1)))
    return MatchRecognizeKernel(KEYS, variables, Skip("past last row"), measures, within)


@dataclass(frozen=True)
class Row:
    """A row and the watermark before it; as an upsert, it may delete."""

    key: str
    time: int
    value: int
    stamp: int
    deletes: bool = False


def frame(rows: list[tuple[int, Row]], *, changes: bool) -> pl.DataFrame:
    """Numbered rows as a kernel gets them."""
    types = {"k": pl.String, KIND: pl.String, "low": pl.Boolean, "high": pl.Boolean}
    longs = ("id", "v", HASH, TIME, ARRIVAL, STAMP)
    made = pl.DataFrame(
        [
            {
                "k": row.key,
                KIND: "-D" if row.deletes else "+I",
                "low": row.value < 3,
                "high": row.value >= 3,
                "id": number,
                "v": row.value,
                HASH: ord(row.key) % 2,
                TIME: row.time,
                ARRIVAL: place,
                STAMP: row.stamp,
            }
            for place, (number, row) in enumerate(rows)
        ],
        schema={**types, **dict.fromkeys(longs, pl.Int64)},
    )
    return made if changes else made.drop(KIND)


@dataclass
class Driven:
    """A kernel, fed step by step, and what it has emitted."""

    kernel: Kernel
    changes: bool
    state: State = field(default_factory=State)
    emitted: list[dict[str, Any]] = field(default_factory=list)

    def step(self, rows: list[tuple[int, Row]], watermark: int, seen: int | None = None) -> None:
        """A step; its output has met the watermark `seen`, unless the kernel says which one."""
        given_ = frame(rows, changes=self.changes)
        step = self.kernel.step(self.state, [given_], watermark, 0)
        self.state = restarted(step.state)
        found = step.output if seen is None else step.output.with_columns(pl.lit(seen).alias(SEEN))
        self.emitted += found.to_dicts()

    def advance(self, watermark: int) -> None:
        if watermark > self.state.watermark:
            self.step([], watermark, self.state.watermark)


def one_by_one(kernel: Kernel, rows: list[Row], *, changes: bool) -> list[dict[str, Any]]:
    driven = Driven(kernel, changes)
    for number, row in enumerate(rows):
        driven.advance(row.stamp)
        driven.step([(number, row)], row.stamp, row.stamp)
    driven.advance(AFTER_ALL)
    return driven.emitted


def in_steps(
    kernel: Kernel, rows: list[Row], cuts: list[int], *, changes: bool
) -> list[dict[str, Any]]:
    driven = Driven(kernel, changes)
    numbered = list(enumerate(rows))
    bounds = sorted({0, *(cut % (len(rows) + 1) for cut in cuts), len(rows)})
    for begin, end in itertools.pairwise(bounds):
        # Whether the step before has ended with the watermark of the next row makes no difference.
        after = rows[end].stamp if end < len(rows) and end % 2 else rows[end - 1].stamp
        driven.step(numbered[begin:end], after)
    driven.step([], AFTER_ALL)
    return driven.emitted


@st.composite
def histories(draw: st.DrawFn) -> list[Row]:
    """Rows of which some are behind the watermark, which is that of the rows before them."""
    rows: list[Row] = []
    stamp, now = BEFORE_ALL, 10
    for _ in range(draw(st.integers(0, 14))):
        now += draw(st.sampled_from([0, 0, 1, 2, 5]))
        time = max(0, now - draw(st.sampled_from([0, 0, 0, 1, 3, 8])))
        row = Row(draw(st.sampled_from("abc")), time, draw(st.integers(0, 4)), stamp)
        rows.append(replace(row, deletes=draw(st.integers(0, 4)) == 0))
        stamp = max(stamp, time - draw(st.sampled_from([0, 0, 2])))
    return rows


def ordered(emitted: list[dict[str, Any]]) -> list[str]:
    """What comes at equal times of different keys has no order."""
    return sorted(repr(sorted(row.items())) for row in emitted)


@pytest.mark.parametrize("name", KERNELS)
@searched(24)
@given(rows=histories(), cuts=st.lists(st.integers(0, 20), max_size=3))
def test_rows_have_the_watermark_before_which_they_would_come_alone(
    name: str, rows: list[Row], cuts: list[int]
):
    kernel, changes = KERNELS[name](), name in CHANGES
    if name == "second of changes":
        rows = [replace(row, deletes=False) for row in rows]

    found = in_steps(replace(kernel, stamps=True), rows, cuts, changes=changes)

    assert ordered(found) == ordered(one_by_one(kernel, rows, changes=changes))


def test_rows_of_another_operator_come_in_the_order_of_the_watermarks_before_them():
    """They are from several key groups, each of which emits its rows in order."""
    kernel = Stamped(KeepLastKernel(KEYS, stamps=True), emitted=True)
    late, early = Row("a", 5, 2, BEFORE_ALL), Row("a", 5, 1, BEFORE_ALL)
    seen = pl.Series(SEEN, [7, 3], pl.Int64)
    rows = frame([(0, late), (1, early)], changes=False).with_columns(seen)

    step = kernel.step(State(), [rows], 9, 0)

    assert step.output.select(KIND, "v", SEEN).rows() == [("+I", 1, 3), ("-U", 1, 7), ("+U", 2, 7)]
    assert cut_of(kernel, [rows]) == Nowhere()
