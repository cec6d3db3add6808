"""Distinct values of groups and windows, one row of state each, against lists of them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from tests.searching import searched
from tidemark.kernels.columns import AFTER_ALL, ARRIVAL, HASH, KIND, STAMP, TIME
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.kernels.windows import aggregate
from tidemark.kernels.windows.aggregate import WindowAggregateKernel
from tidemark.kernels.windows.spec import AggregateSpec, Emit, Firing, Given, Sliding

from ..aggregates.test_running import TYPES
from ..drive import restarted

EACH_ROW = Emit(early=Firing(each_row=True))
LONG = pl.Int64()
LISTS = ((False, False),)
SMALL = Compaction(fanout=2, smallest=2)


def distinct(function: str, *arguments: str, dtype: Any = LONG, **options: Any) -> AggregateSpec:
    output = f"{function} {' '.join(arguments)} {options}"
    return AggregateSpec(function, arguments, output, dtype, distinct=True, **options)


CALLS = (
    distinct("COUNT", "v"),
    distinct("COUNT", "v", filter="f"),
    distinct("COUNT", "v", "w"),
    distinct("SUM", "v"),
    distinct("AVG", "v", filter="f"),
    distinct("VAR_POP", "v", dtype=pl.Float64()),
    distinct("COUNT", "k"),
    distinct("LISTAGG", "v", dtype=pl.String()),
    AggregateSpec("SUM", ("v",), "sum", LONG),
    AggregateSpec("MIN", ("v",), "least", LONG),
    AggregateSpec("MAX", ("v",), "greatest", LONG),
    AggregateSpec("MAX", ("v",), "greatest that passes", LONG, filter="f"),
    AggregateSpec("MIN", ("w",), "least string", pl.String()),
)

values = st.one_of(st.none(), st.integers(-2, 2))
rows = st.tuples(
    st.sampled_from(["a", "b", None]),
    values,
    st.sampled_from(["x", "y", None]),
    st.sampled_from([True, False, None]),
    st.integers(0, 30),
    st.sampled_from(["+I", "+I", "+U", "-U", "-D"]),
)
# A step costs the same for one row as for many.
batches = st.lists(st.tuples(st.lists(rows, max_size=12), st.integers(0, 12)), max_size=7)


def frame(given_: list[tuple[Any, ...]], watermark: int) -> pl.DataFrame:
    schema = {
        "k": pl.String,
        "v": LONG,
        "w": pl.String,
        "f": pl.Boolean,
        TIME: LONG,
        KIND: pl.String,
    }
    return pl.DataFrame(given_, schema=schema, orient="row").with_columns(
        pl.col("k").fill_null("").str.len_chars().cast(LONG).alias(HASH),
        pl.int_range(pl.len(), dtype=LONG).alias(ARRIVAL),
        pl.lit(watermark, LONG).alias(STAMP),
        pl.lit(0, LONG).alias("s"),
        pl.lit(2**62, LONG).alias("e"),
    )


class Stream:
    """A kernel, fed step by step, restarted after each."""

    def __init__(self, kernel: WindowAggregateKernel) -> None:
        self.kernel, self.state, self.clock = kernel, State(), 0

    def step(self, given_: list[tuple[Any, ...]], pause: int) -> pl.DataFrame:
        self.clock += pause
        return self.step_frame(frame(given_, self.state.watermark))

    def step_frame(self, rows: pl.DataFrame) -> pl.DataFrame:
        step = self.kernel.step(self.state, [rows], self.clock, self.clock)
        self.keep(step.state)
        return step.output

    def keep(self, state: State) -> None:
        self.state = restarted(state)

    def heights(self) -> dict[str, int]:
        return {n: t.height for n, t in self.state.tables.items() if n.startswith("values")}


def kernel(**options: Any) -> WindowAggregateKernel:
    group = Given("s", "e", endless=True)
    chosen = {"assigner": group, "calls": CALLS, "emit": EACH_ROW, "compaction": SMALL} | options
    return WindowAggregateKernel(("k",), **chosen)


KERNELS = {
    "group": kernel(retracts=True),
    "idle group": kernel(retracts=True, idle_ms=10),
    "windows": kernel(assigner=Sliding(12, 4), retracts=True),
    "late windows": kernel(
        assigner=Sliding(10, 10),
        emit=Emit(early=Firing(every_ms=5), late=Firing(each_row=True)),
        lateness_ms=8,
        retracts=True,
    ),
}


@pytest.mark.parametrize("name", KERNELS)
@given(given_=batches)
@searched(20)
def test_results_are_those_of_lists(name, given_):
    tables, lists = Stream(KERNELS[name]), Stream(KERNELS[name])
    for batch in given_:
        found = tables.step(*batch)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(aggregate, "_APART", LISTS)
            expected = lists.step(*batch)
        assert_frame_equal(found, expected, abs_tol=1e-12)


@pytest.mark.parametrize("earlier", [LISTS, ((True, False),)])
@given(before=batches, after=batches)
@searched(10)
def test_groups_that_an_earlier_version_has_opened_keep_their_lists(earlier, before, after):
    stream, expected = Stream(KERNELS["group"]), Stream(KERNELS["group"])
    expected_before = [expected.step(*batch) for batch in before]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aggregate, "_APART", earlier)
        for batch, wanted in zip(before, expected_before, strict=True):
            assert_frame_equal(stream.step(*batch), wanted, abs_tol=1e-12)
    for batch in after:
        assert_frame_equal(stream.step(*batch), expected.step(*batch), abs_tol=1e-12)


VALUES = [
    *TYPES,
    (float("nan"), pl.Float64()),
    (Decimal("1.50"), pl.Decimal(38, 2)),
]


@pytest.mark.parametrize(("value", "type_"), VALUES, ids=[str(type_) for _, type_ in VALUES])
def test_values_of_any_type_are_counted(value, type_):
    count = distinct("COUNT", "v")
    one = kernel(calls=(count,), compaction=Compaction())
    state, told = State(), []
    for given_ in ([value, None, value], [value, None]):
        made = frame([("a", None, None, None, 0, "+I")] * len(given_), 0).drop(KIND)
        incoming = made.with_columns(pl.Series("v", given_, dtype=type_))
        step = one.step(state, [incoming], 0, 0)
        state, told = restarted(step.state), [*told, *step.output[count.output].to_list()]

    assert told == [1]


def test_value_is_one_row_of_state_however_often_it_arrives():
    stream = Stream(kernel(calls=(distinct("COUNT", "v"),), compaction=Compaction(2, 1)))
    for _ in range(8):
        stream.step([("a", v, "x", True, 0, "+I") for v in range(5)], 0)

    assert stream.heights() == {"values(v)": 5}


def test_values_that_all_rows_were_retracted_of_are_removed():
    retracting = kernel(calls=(distinct("COUNT", "v"),), retracts=True, compaction=Compaction(2, 1))
    stream = Stream(retracting)
    for kind in ("+I", "-D"):
        stream.step([("a", v, "x", True, 0, kind) for v in range(5)], 0)

    assert stream.heights() == {"values(v)": 0}


def test_values_of_idle_groups_are_removed():
    stream = Stream(
        kernel(calls=(distinct("COUNT", "v"),), idle_ms=10, compaction=Compaction(2, 1))
    )
    stream.step([("a", v, "x", True, 0, "+I") for v in range(5)], 0)
    for count in (8, 24):
        stream.step([("b", v, "x", True, 0, "+I") for v in range(count)], 9)

    assert stream.heights() == {"values(v)": 24}


def test_values_of_closed_windows_are_removed():
    stream = Stream(kernel(calls=(distinct("COUNT", "v"),), assigner=Sliding(10, 10)))
    stream.step([("a", v, "x", True, 5, "+I") for v in range(5)], 0)
    assert stream.heights() == {"values(v)": 5}

    stream.step([], AFTER_ALL)

    assert stream.heights() == {"values(v)": 0}
