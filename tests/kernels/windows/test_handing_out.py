"""Late rows as an output of the operator that drops them."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.kernels.columns import KIND
from tidemark.kernels.handing_out import HandingOut, OutletColumns
from tidemark.kernels.keep_first import KeepFirstKernel
from tidemark.kernels.late_rows import (
    LATE_KIND,
    LATE_TIME,
    LATE_WATERMARK,
    DropLateRows,
    LateRowsKernel,
)
from tidemark.kernels.order import Order
from tidemark.kernels.protocol import Kernel
from tidemark.kernels.state import State
from tidemark.kernels.windows.aggregate import WindowAggregateKernel
from tidemark.kernels.windows.rank import WindowRankKernel
from tidemark.kernels.windows.session_rows import SessionRows
from tidemark.kernels.windows.spec import Cumulating, Emit, Firing, Given, Session, Sliding
from tidemark.kernels.windows.wall_clock import WallClock

from .drive import CALLS, frame, parse, restarted
from .reference import Row, windows_of

SUM = (CALLS["sum"][0],)
BESIDE = ("_tm_late0", "_tm_late1")


def aggregate(assigner, lateness: int = 0, *, counted: bool = False) -> WindowAggregateKernel:
    emit = Emit(late=Firing(each_row=True)) if lateness else Emit()
    return WindowAggregateKernel(("k",), assigner, SUM, emit, lateness, counted=counted)


HOUR = 3_600_000
# Each operator that can hand out late rows, and one that finds the same rows by itself.
OPERATORS: dict[str, tuple[Kernel, Kernel]] = {
    "tumbling": (aggregate(Sliding(10, 10, -3)), DropLateRows(Sliding(10, 10, -3))),
    "hopping": (aggregate(Sliding(12, 4)), DropLateRows(Sliding(12, 4))),
    "counted": (aggregate(Sliding(12, 4), counted=True), DropLateRows(Sliding(12, 4))),
    "cumulating": (aggregate(Cumulating(12, 4)), DropLateRows(Cumulating(12, 4))),
    "late results": (aggregate(Sliding(10, 10), 7), DropLateRows(Sliding(10, 10), 7)),
    "given": (aggregate(Given("s", "e")), DropLateRows(Given("s", "e"))),
    "sessions": (aggregate(Session(5)), aggregate(Session(5))),
    "rows of sessions": (SessionRows(("k",), 5), aggregate(Session(5))),
    "rank": (
        WindowRankKernel(("k",), "s", "e", (Order("v"),), 1, 2, "n"),
        DropLateRows(Given("s", "e")),
    ),
    "keep first": (KeepFirstKernel(("k",)), DropLateRows(None, lateness_ms=1)),
    "by the wall clock": (
        WallClock(aggregate(Sliding(HOUR, HOUR)), "Asia/Tokyo"),
        WallClock(DropLateRows(Sliding(HOUR, HOUR)), "Asia/Tokyo"),
    ),
}

ROWS = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(-30, 60), st.integers(0, 9)), max_size=12
)


def accompanied(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with values that belong to each, and that no operator asks for."""
    first = pl.format("{}-{}-{}", "k", "v", pl.int_range(pl.len()))
    return rows.with_columns(first.alias(BESIDE[0]), pl.col("v").neg().alias(BESIDE[1]))


@pytest.mark.parametrize("name", OPERATORS)
@searched(15)
@given(batches=st.lists(st.tuples(ROWS, st.integers(-40, 60), st.booleans()), max_size=4))
def test_what_an_operator_drops_it_hands_out_and_nothing_else_changes(name, batches):
    operator, rule = OPERATORS[name]
    kernels = [HandingOut(operator, {0: OutletColumns(0, BESIDE)}), operator, LateRowsKernel(rule)]
    states, watermark = [State() for _ in kernels], -100

    for made, step_by, restarts in batches:
        rows = [Row(k, t, v, window=(t // 10 * 10, t // 10 * 10 + 10)) for k, t, v in made]
        arriving = accompanied(frame([(row, watermark) for row in rows], 3, kinds=False))
        watermark = max(watermark, step_by)
        inputs = [arriving, arriving.drop(BESIDE), arriving]
        steps = [
            kernel.step(state, [given_rows], watermark, 0)
            for kernel, state, given_rows in zip(kernels, states, inputs, strict=True)
        ]
        states = [restarted(s.state) if restarts else s.state for s in steps]
        handing, plain, told = steps
        assert handing.output.equals(plain.output)
        assert handing.metrics == plain.metrics
        expected = told.output.select(*BESIDE, LATE_TIME, LATE_WATERMARK)
        assert handing.handed_out[0].equals(expected)
        assert handing.metrics.late == (expected.height,)


@pytest.mark.parametrize("assigner", [Sliding(12, 4, 1), Cumulating(12, 4)])
@searched(15)
@given(batches=st.lists(st.tuples(ROWS, st.integers(-40, 60), st.booleans()), max_size=4))
def test_a_row_in_several_windows_is_handed_out_after_the_last_one(assigner, batches):
    rank = WindowRankKernel(("k",), "s", "e", (Order("v"),), 1, 2, "n")
    only = OutletColumns(0, BESIDE, "last")
    kernels = [HandingOut(rank, {3: only}), LateRowsKernel(DropLateRows(Given("s", "e")))]
    states, watermark = [State() for _ in kernels], -100

    for made, step_by, restarts in batches:
        placed = [
            (Row(k, t, v, window=window), number == 0)
            for k, t, v in made
            for number, window in reversed([*enumerate(windows_of(assigner, t))])
        ]
        arriving = accompanied(frame([(row, watermark) for row, _ in placed], 3, kinds=False))
        last = pl.Series("last", [last for _, last in placed], pl.Boolean)
        watermark = max(watermark, step_by)
        inputs = [arriving.with_columns(last), arriving.filter(last)]
        steps = [
            kernel.step(state, [rows], watermark, 0)
            for kernel, state, rows in zip(kernels, states, inputs, strict=True)
        ]
        states = [restarted(s.state) if restarts else s.state for s in steps]
        expected = steps[1].output.select(*BESIDE, LATE_TIME, LATE_WATERMARK)
        assert steps[0].handed_out[3].equals(expected)


@searched(15)
@given(rows=ROWS, first=st.lists(st.booleans(), min_size=12, max_size=12))
def test_each_outlet_of_an_input_has_the_late_rows_of_its_own_table(rows, first):
    made = accompanied(frame([(Row(k, t, v), 20) for k, t, v in rows], 3, kinds=False))
    mine = pl.Series("mine", first[: len(rows)], pl.Boolean)
    outlets = {0: OutletColumns(0, BESIDE[:1], "mine"), 1: OutletColumns(0, BESIDE[1:], "theirs")}
    arriving = made.with_columns(mine, (~mine).alias("theirs"))

    step = HandingOut(aggregate(Sliding(10, 10)), outlets).step(State(), [arriving], 20, 0)

    told = LateRowsKernel(DropLateRows(Sliding(10, 10))).step(State(), [arriving], 20, 0).output
    for number, mark, column in ((0, "mine", BESIDE[0]), (1, "theirs", BESIDE[1])):
        expected = told.filter(mark).select(column, LATE_TIME, LATE_WATERMARK)
        assert step.handed_out[number].equals(expected)


@searched(15)
@given(rows=ROWS, first=st.lists(st.booleans(), min_size=12, max_size=12))
def test_rows_that_have_their_windows_are_handed_out_with_the_times_of_their_own_tables(
    rows, first
):
    placed = [Row(k, t, v, window=(t // 10 * 10, t // 10 * 10 + 10)) for k, t, v in rows]
    made = frame([(row, 20) for row in placed], 3, kinds=False)
    mine = pl.Series("mine", first[: len(rows)], pl.Boolean)
    times = (pl.col("_tm_time") * 1000 + 999).cast(pl.Datetime("us"))
    arriving = made.with_columns(mine, (~mine).alias("theirs")).with_columns(
        pl.when("mine").then(times).alias(BESIDE[0]),
        pl.when("theirs").then(times).alias(BESIDE[1]),
        pl.lit(0, pl.Int64).alias("_tm_time"),  # the kernel does not know it
    )
    outlets = {
        number: OutletColumns(0, (BESIDE[number],), mark, BESIDE[number])
        for number, mark in enumerate(("mine", "theirs"))
    }

    step = HandingOut(OPERATORS["rank"][0], outlets).step(State(), [arriving], 20, 0)

    told = LateRowsKernel(DropLateRows(Given("s", "e"))).step(
        State(), [made.with_columns(mine, (~mine).alias("theirs"))], 20, 0
    )
    for number, mark in enumerate(("mine", "theirs")):
        expected = told.output.filter(mark).select(LATE_TIME, LATE_WATERMARK)
        assert step.handed_out[number].drop(BESIDE[number]).equals(expected)


def test_a_late_row_has_its_own_values_its_time_and_the_watermark_it_met():
    rows = accompanied(
        frame(list(zip(parse("a 1 7, b 12 8, a 2 9"), [9, 9, 12], strict=True)), 3, False)
    )
    step = HandingOut(aggregate(Sliding(10, 10)), {0: OutletColumns(0, BESIDE)}).step(
        State(), [rows], 12, 0
    )

    assert step.handed_out[0].rows() == [("a-7-0", -7, 1, 9), ("a-9-2", -9, 2, 12)]


def test_kinds_are_handed_out_too():
    rows = frame([(row, 9) for row in parse("a 1 5 -U, a 1 6 +U")], 3, kinds=True)
    kernel = WindowAggregateKernel(("k",), Sliding(5, 5), SUM, retracts=True)
    step = HandingOut(kernel, {0: OutletColumns(0, BESIDE)}).step(
        State(), [accompanied(rows)], 9, 0
    )

    assert step.handed_out[0][LATE_KIND].to_list() == ["-U", "+U"]
    assert KIND not in step.handed_out[0].columns


@pytest.mark.parametrize("name", OPERATORS)
def test_columns_that_the_kernel_does_not_see_are_not_kept(name):
    rows = accompanied(frame([(Row("a", 5, 1, window=(0, 10)), -1)], 3, kinds=False))
    kernel = HandingOut(OPERATORS[name][0], {0: OutletColumns(0, BESIDE)})
    state = kernel.step(State(), [rows], 0, 0).state

    kept = {column for segment in state.segments() for column in segment.rows().columns}
    assert kept
    assert not kept.intersection(BESIDE)


def test_state_that_is_counted_is_like_that_of_rows_combined_before_the_exchange():
    rows = frame([(row, -1) for row in parse("a 1 5, a 2 6, b 3 7")], 3, kinds=False)
    combined = WindowAggregateKernel(("k",), Sliding(10, 10), SUM, combined=True)
    partial = combined.combine(rows).with_columns(pl.int_range(pl.len()).alias("_tm_arrival"))
    before = combined.step(State(), [partial], 0, 0).state
    counted = aggregate(Sliding(10, 10), counted=True)

    step = counted.step(before, [rows.filter(pl.col("k") == "a")], 20, 0)

    assert sorted(step.output.select("k", "s").rows()) == [("a", 22), ("b", 7)]
