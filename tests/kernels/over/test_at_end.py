"""OVER in a batch: any order, frames that look ahead, and the kernel against a reference."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.over import reference
from tests.kernels.over.calls import call, named
from tests.kernels.over.reference import Row
from tests.searching import searched
from tidemark.kernels.columns import AFTER_ALL, ARRIVAL, BEFORE_ALL, HASH, STAMP, TIME
from tidemark.kernels.order import Order
from tidemark.kernels.over.at_end import OverAtEndKernel
from tidemark.kernels.over.spec import OverCall, OverFrame
from tidemark.kernels.state import State

UP = (Order("by"),)
DOWN = (Order("by", descending=True, nulls_last=True),)


LONG = pl.Int64()


def frame(rows: list[Row], dtype: pl.DataType) -> pl.DataFrame:
    numbers = dict.fromkeys((HASH, TIME, ARRIVAL, STAMP), pl.Int64)
    return pl.DataFrame(
        {
            "k": [row.key for row in rows],
            "by": [row.by for row in rows],
            "v": [row.value for row in rows],
            "text": [row.text for row in rows],
            "id": [row.id for row in rows],
            HASH: [len(row.key or "") % 2 for row in rows],
            TIME: [0] * len(rows),
            ARRIVAL: range(len(rows)),
            STAMP: [BEFORE_ALL] * len(rows),
        },
        schema={"k": pl.String, "by": pl.Int64, "v": pl.Int64, "text": pl.String, "id": pl.Int64}
        | numbers,
    ).with_columns(pl.col("by").cast(dtype))


def over(
    rows: list[Row],
    *calls: OverCall,
    order: tuple[Order, ...] = UP,
    cut: int = 0,
    dtype: pl.DataType = LONG,
) -> list[tuple[Any, ...]]:
    kernel, state = OverAtEndKernel(("k",), order, named(*calls)), State()
    first = kernel.step(state, [frame(rows[:cut], dtype)], 0, 0)
    assert first.output.is_empty()
    last = kernel.step(first.state, [frame(rows[cut:], dtype)], AFTER_ALL, 0)
    assert not list(last.state.segments())
    return last.output.drop("k", "by", "v", "text").rows()


def row(key: str | None, by: int | None, value: int | None = 1, id: int = 0) -> Row:
    return Row(key, by, value, None if value is None else str(value), id)


def test_without_an_order_all_rows_of_a_partition_are_peers():
    rows = [row("a", 2, 1), row("b", 1, 2), row("a", 1, 4)]

    assert sorted(over(rows, call("SUM"), order=())) == [(0, 2), (0, 5), (0, 5)]


def test_a_frame_may_look_ahead():
    rows = [row("a", by, by) for by in (1, 2, 4)]

    assert over(rows, call("SUM", OverFrame(0, 1, by_rows=True))) == [(0, 3), (0, 6), (0, 4)]
    assert over(rows, call("SUM", OverFrame(1, None, by_rows=True))) == [(0, 6), (0, 4), (0, None)]


def test_distances_are_those_of_the_value_also_in_descending_order():
    rows = [row("a", by, by) for by in (1, 2, 4)]

    assert over(rows, call("SUM", OverFrame(-2, 0)), order=DOWN) == [(0, 4), (0, 6), (0, 3)]


def test_nulls_are_at_no_distance_from_others():
    rows = [row("a", None, 8), row("a", 1, 1), row("a", None, 16), row("a", 2, 2)]

    assert over(rows, call("SUM", OverFrame(-1, 1))) == [(0, 24), (0, 24), (0, 3), (0, 3)]


@pytest.mark.parametrize("dtype", [pl.Float64(), pl.Decimal(10, 2), pl.Int8()])
def test_distances_may_be_of_any_number_type(dtype: pl.DataType):
    rows = [row("a", by, by) for by in (1, 2, 4)]

    assert over(rows, call("SUM", OverFrame(-2, 0)), dtype=dtype) == [(0, 1), (0, 3), (0, 6)]


def test_distances_between_times_are_milliseconds():
    rows = [row("a", by * 1_000_000, by) for by in (1, 2, 4)]

    found = over(rows, call("SUM", OverFrame(-2000, 0)), dtype=pl.Datetime("us"))
    assert found == [(0, 1), (0, 3), (0, 6)]


def test_groups_of_rows_are_as_equal_as_possible():
    rows = [row("a", by) for by in range(7)]

    assert [r[1] for r in over(rows, call("NTILE", n=3))] == [1, 1, 1, 2, 2, 3, 3]
    assert [r[1] for r in over(rows[:2], call("NTILE", n=3))] == [1, 2]


# --- any rows -----------------------------------------------------------------------------------

ROWS = st.lists(
    st.builds(
        row,
        st.sampled_from(["a", "b", "cc", None]),
        st.none() | st.integers(-4, 4),
        st.none() | st.integers(0, 3),
    ),
    max_size=20,
)
BOUNDS = st.none() | st.integers(-3, 3)
_NAMES = ("COUNT", "SUM", "MIN", "MAX", "AVG", "FIRST_VALUE", "LAST_VALUE", "LISTAGG")
_PLACES = ("ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST")
FRAMES = st.builds(OverFrame, BOUNDS, BOUNDS, st.booleans())
CALLS = st.lists(
    st.one_of(
        st.builds(call, st.sampled_from(_NAMES), FRAMES),
        st.builds(call, st.sampled_from(["COUNT", "SUM"]), FRAMES, distinct=st.just(True)),
        st.builds(call, st.sampled_from(_PLACES)),
        st.builds(call, st.sampled_from(["LAG", "LEAD"]), n=st.integers(0, 3)),
        st.builds(call, st.just("NTILE"), n=st.integers(1, 5)),
    ),
    min_size=1,
    max_size=3,
)


@searched(200)
@given(ROWS, CALLS, st.integers(0, 9), st.sampled_from([pl.Int64(), pl.Float64()]))
def test_results_are_those_of_one_row_after_the_other(
    rows: list[Row], calls: list[OverCall], cut: int, dtype: pl.DataType
):
    rows = [one._replace(id=n) for n, one in enumerate(rows)]
    partitions: dict[str | None, list[Row]] = {}
    for one in sorted(rows, key=lambda r: (r.by is not None, r.by or 0)):
        partitions.setdefault(one.key, []).append(one)

    expected = [
        (one.id, *(reference.result(c, partition, place) for c in named(*calls)))
        for partition in partitions.values()
        for place, one in enumerate(partition)
    ]
    found = over(rows, *calls, cut=min(cut, len(rows)), dtype=dtype)
    assert sorted(found) == [pytest.approx(row) for row in sorted(expected)]
