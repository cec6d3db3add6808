"""Every stateful operator emits the same for a batch in many small steps as in one step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from tests.searching import searched
from tests.stateful.batches import ONE_STEP, TINY_STEPS, Outcome, Rows, outcome
from tidemark.kernels.co_group.kernel import CoGroupKernel, WindowAssignment, WindowsOfRows
from tidemark.kernels.co_group.sessions import SharedSessions
from tidemark.kernels.columns import KIND
from tidemark.kernels.held_back import HeldBack
from tidemark.kernels.interval_join.kernel import IntervalJoinKernel
from tidemark.kernels.interval_join.stream_api import StreamIntervalJoinKernel
from tidemark.kernels.keep_first import KeepFirstKernel
from tidemark.kernels.keep_last import KeepLastKernel
from tidemark.kernels.late_rows import LATE_TIME, DropLateRows, LateRowsKernel
from tidemark.kernels.order import Order
from tidemark.kernels.protocol import Kernel
from tidemark.kernels.regular_join.kernel import RegularJoinKernel
from tidemark.kernels.regular_join.lifetimes import JoinInput
from tidemark.kernels.temporal_join.clean_up import Retention
from tidemark.kernels.temporal_join.event_time import TemporalJoinKernel
from tidemark.kernels.temporal_join.load_phase import AfterLoading
from tidemark.kernels.temporal_join.processing_time import ProcessingTimeTemporalJoinKernel
from tidemark.kernels.window_join import Matches, window_join
from tidemark.kernels.windows.aggregate import WindowAggregateKernel
from tidemark.kernels.windows.rank import WindowRankKernel
from tidemark.kernels.windows.session_rows import SessionRows
from tidemark.kernels.windows.spec import (
    WINDOW_END,
    WINDOW_START,
    AggregateSpec,
    Assigner,
    CountSliding,
    Cumulating,
    Emit,
    Firing,
    Given,
    Session,
    Sliding,
)
from tidemark.kernels.windows.wall_clock import ShownClock, WallClock

A, B = ("a",), ("b",)
PAIR = ("a", "x", "b", "y")
CALLS = (
    AggregateSpec("SUM", ("x",), "total", pl.Int64()),
    AggregateSpec("LISTAGG", ("tag",), "tags", pl.String()),
)
TUMBLING, WIDE = WindowAssignment(Sliding(10, 10)), WindowAssignment(Sliding(1000, 1000))
FEW_PAIRS = 100
A_SAYS, B_SAYS = (
    WindowAssignment(Given("a_start", "a_end")),
    WindowAssignment(Given("b_start", "b_end")),
)
SUMS = ("a", "total", "tags")
WINDOWS = (*SUMS, WINDOW_START, WINDOW_END)
BERLIN = "Europe/Berlin"
HOUR = 3_600_000
TWO_O_CLOCK = 1_729_987_200_000  # in Berlin, on the day of 2024 on which that came twice
INSERTS_AND_DELETES = ("+I", "+I", "-D", "+U", "+I")


@dataclass(frozen=True)
class Case:
    """A kernel, what it emits, and the row kinds of its inputs."""

    kernel: Kernel
    columns: tuple[str, ...] = PAIR
    kinds: tuple[Sequence[str], Sequence[str]] = ((), ())

    def outcome(self, sides: Sequence[Rows], *small: int) -> Outcome:
        return outcome(self.kernel, self.columns, sides, *small, kinds=self.kinds)


def sums(assigner: Assigner, **others: object) -> Case:
    kernel = replace(WindowAggregateKernel(A, assigner, CALLS), **others)  # type: ignore[arg-type]
    return Case(kernel, (*WINDOWS, KIND) if kernel.changelog_output else WINDOWS)


def group(*, endless: bool, emit: Emit) -> Case:
    return replace(
        sums(Given("a_start", "a_end", endless=endless), emit=emit),
        columns=(*SUMS, KIND) if endless else SUMS,
    )


def regular(how: str, *, at_end: bool = False, retracts: bool = False) -> Case:
    sides = JoinInput(A, retracts), JoinInput(B)
    kernel = RegularJoinKernel(*sides, how, at_end=at_end)  # type: ignore[arg-type]
    kinds = (INSERTS_AND_DELETES if retracts else (), ())
    one_sided = PAIR[:2] if how in ("semi", "anti") else PAIR
    return Case(kernel, one_sided if at_end else (*one_sided, KIND), kinds)


JOINS: dict[str, Case] = {
    "temporal": Case(TemporalJoinKernel(A, B)),
    "temporal, of a changelog": Case(
        TemporalJoinKernel(A, B, "left"), kinds=((), INSERTS_AND_DELETES)
    ),
    "temporal, with a TTL": Case(TemporalJoinKernel(A, B, retention=Retention.of(10))),
    "temporal, processing time": Case(ProcessingTimeTemporalJoinKernel(A, B, "left")),
    "temporal, after loading": Case(
        AfterLoading(ProcessingTimeTemporalJoinKernel(A, B, "left"), 5)
    ),
    "interval": Case(IntervalJoinKernel(A, B, -3, 5, "full")),
    "interval, of the past": Case(IntervalJoinKernel(A, B, -9, -4, "left")),
    "interval, semi": Case(IntervalJoinKernel(A, B, -3, 5, "semi"), PAIR[:2]),
    "interval, anti": Case(IntervalJoinKernel(A, B, 2, 5, "anti"), PAIR[:2]),
    "interval, held back": Case(HeldBack(IntervalJoinKernel(A, B, -3, 5, "left"), 7)),
    "interval, processing time": Case(IntervalJoinKernel(A, B, -3, 5, "full", time="processing")),
    "interval of the stream API": Case(StreamIntervalJoinKernel(A, B, -3, 5)),
    "window": Case(
        window_join(A, B, WindowAssignment(Sliding(10, 4)), WindowAssignment(Sliding(8, 4)), "full")
    ),
    "window, semi": Case(window_join(A, B, TUMBLING, TUMBLING, "semi"), PAIR[:2]),
    "window, given": Case(window_join(A, B, A_SAYS, B_SAYS, "left")),
    "window, given on one side": Case(window_join(A, B, TUMBLING, B_SAYS, "right")),
    "window, NULLs equal": Case(window_join(A, B, TUMBLING, TUMBLING, nulls_equal=(True,))),
    "window, over a clock": Case(WallClock(window_join(A, B, TUMBLING, TUMBLING), BERLIN)),
    "window, given, over a clock": Case(WallClock(window_join(A, B, A_SAYS, B_SAYS), BERLIN)),
    "co-group": Case(CoGroupKernel(WindowsOfRows(TUMBLING, TUMBLING), Matches(A, B))),
    "co-group of sessions": Case(CoGroupKernel(SharedSessions(A, B, 3), Matches(A, B))),
    "regular": regular("inner"),
    "regular, full": regular("full"),
    "regular, of a changelog": regular("left", retracts=True),
    "regular, anti": regular("anti"),
    "regular, at the end": regular("full", at_end=True),
}
AGGREGATES: dict[str, Case] = {
    "tumbling": sums(Sliding(10, 10)),
    "sliding": sums(Sliding(10, 4)),
    "sliding, over a clock": replace(
        sums(Sliding(10, 4)),
        kernel=WallClock(WindowAggregateKernel(A, Sliding(10, 4), CALLS), BERLIN),
    ),
    "cumulating": sums(Cumulating(12, 4)),
    "given": sums(Given("a_start", "a_end")),
    "sessions": sums(Session(3)),
    "sessions, over a clock": replace(
        sums(Session(3)), kernel=WallClock(WindowAggregateKernel(A, Session(3), CALLS), BERLIN)
    ),
    "rows": replace(sums(CountSliding(5, 2)), columns=SUMS),
    "early results": sums(Sliding(10, 4), emit=Emit(early=Firing(each_row=True))),
    "processing time": replace(
        sums(Sliding(10, 10)),
        kernel=ShownClock(
            WindowAggregateKernel(A, Sliding(10, 10), CALLS, processing_time=True), BERLIN
        ),
    ),
    "sessions, processing time": sums(Session(3), processing_time=True),
    "group": group(endless=False, emit=Emit()),
    "group, updating": group(endless=True, emit=Emit(early=Firing(each_row=True))),
    "keep first": Case(KeepFirstKernel(A), ("a", "x")),
    "keep first, processing time": Case(KeepFirstKernel(A, processing_time=True), ("a", "x")),
    "keep last": Case(KeepLastKernel(A), ("a", "x", KIND)),
    "rank": Case(
        WindowRankKernel(A, "a_start", "a_end", (Order("a_end"),), 1, 3, "rank"), ("a", "x", "rank")
    ),
    "rows of sessions": Case(SessionRows(A, 3), ("a", "x", WINDOW_START, WINDOW_END)),
    "late rows": Case(LateRowsKernel(DropLateRows(Sliding(10, 10))), ("a", "x", LATE_TIME)),
}


@st.composite
def skewed(draw: st.DrawFn) -> Rows:
    """Rows of which at least half have one key, perhaps NULL, in any order of their times; these
    are all equal, or some are, some lie before 1970, and some in an hour that clocks show twice."""
    length = draw(st.sampled_from([0, 3, 100, 250]))
    random = draw(st.randoms(use_true_random=False))
    low, high = draw(st.sampled_from([(5, 5), (0, 30), (-40, 40), (-900, -300), (0, 400)]))
    hours = draw(st.sampled_from([(0,), (TWO_O_CLOCK, TWO_O_CLOCK + HOUR)]))
    heavy = draw(st.sampled_from([0, None]))
    others = [None, *range(50)]
    keys = [random.choice([heavy, random.choice(others)]) for _ in range(length)]
    return [(key, random.randint(low, high) + random.choice(hours)) for key in keys]


@pytest.mark.parametrize("case", JOINS.values(), ids=JOINS)
@searched(3)
@given(sides=st.tuples(skewed(), skewed()))
def test_a_join_emits_the_rows_of_one_step(case: Case, sides: tuple[Rows, Rows]) -> None:
    whole, small = case.outcome(sides), case.outcome(sides, TINY_STEPS)

    # Between rows of two inputs there is no order, and none between rows of different keys.
    assert_frame_equal(small.rows, whole.rows, check_row_order=False)
    assert_same_metrics(small, whole)


@pytest.mark.parametrize("case", JOINS.values(), ids=JOINS)
@searched(3)
@given(sides=st.tuples(skewed(), skewed()))
def test_a_join_emits_the_same_rows_if_few_pairs_are_made_at_once(
    case: Case, sides: tuple[Rows, Rows]
) -> None:
    whole, pieces = case.outcome(sides), case.outcome(sides, ONE_STEP, 10 * FEW_PAIRS)

    assert_frame_equal(pieces.rows, whole.rows, check_row_order=False)
    assert_same_metrics(pieces, whole)


# No row has more than FEW_PAIRS partners.
ONE_KEY: Rows = [(0, n * 31 % 60) for n in range(60)]
MAKES_PAIRS = {name: case for name, case in JOINS.items() if not name.startswith("temporal")}
MAKES_PAIRS["interval, with a condition"] = Case(
    IntervalJoinKernel(A, B, -150, 150, "full", condition=pl.col("x") < pl.col("y"))
)
MAKES_PAIRS["window, with a condition"] = Case(
    window_join(A, B, WIDE, WIDE, "full", condition=pl.col("x") < pl.col("y"))
)


@pytest.mark.parametrize("case", MAKES_PAIRS.values(), ids=MAKES_PAIRS)
def test_no_more_pairs_come_out_at_once_than_may_though_both_sides_have_one_key(case: Case) -> None:
    sides = (ONE_KEY, ONE_KEY)
    whole, pieces = case.outcome(sides), case.outcome(sides, ONE_STEP, FEW_PAIRS)

    assert_frame_equal(pieces.rows, whole.rows, check_row_order=False)
    # Rows without a partner, beside NULLs, are not pairs.
    assert max(piece.drop_nulls().height for piece in pieces.pieces) <= FEW_PAIRS


@pytest.mark.parametrize("case", AGGREGATES.values(), ids=AGGREGATES)
@searched(3)
@given(rows=skewed())
def test_what_follows_the_order_of_arrival_emits_the_rows_of_one_step_in_their_order(
    case: Case, rows: Rows
) -> None:
    whole, small = case.outcome([rows]), case.outcome([rows], TINY_STEPS)

    assert_frame_equal(of_keys(small.rows), of_keys(whole.rows))
    assert_same_metrics(small, whole)


def of_keys(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows by key, those of each in the order in which they came out."""
    return rows.sort("a", maintain_order=True)


def assert_same_metrics(small: Outcome, whole: Outcome) -> None:
    assert len(whole.steps.heights) == 1
    for name in ("rows_in", "rows_out", "late"):
        assert getattr(small.metrics, name) == getattr(whole.metrics, name), name
