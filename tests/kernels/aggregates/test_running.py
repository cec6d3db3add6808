"""The accumulators of a group row by row: the same in any slices, and never too much at once."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from tests.searching import searched
from tidemark.kernels.aggregates import Aggregates, running
from tidemark.kernels.aggregates.accumulators import Merge
from tidemark.kernels.aggregates.users import RowByRow
from tidemark.kernels.columns import ARRIVAL, HASH, KIND, SEQUENCE, STAMP, TIME
from tidemark.kernels.state import State
from tidemark.kernels.windows.aggregate import WindowAggregateKernel
from tidemark.kernels.windows.spec import AggregateSpec, Emit, Firing, Given

LONG, STRING = pl.Int64(), pl.String()
ALL = pl.int_range(pl.len()) >= 0


class Listed:
    """Keeps the values of a group in order, as a user's function might."""

    def create_accumulator(self) -> list[Any]:
        return []

    def accumulate(self, accumulator: list[Any], value: int | None) -> None:
        accumulator.append(value)

    def retract(self, accumulator: list[Any], value: int | None) -> None:
        accumulator.append(("retracted", value))

    def get_value(self, accumulator: list[Any]) -> str:
        return str(accumulator)


DISTINCT = AggregateSpec("COUNT", ("x",), "different", LONG, distinct=True)
LISTED = AggregateSpec("LISTAGG", ("x",), "listed", STRING)
CALLS = [
    AggregateSpec("COUNT", ("x",), "count", LONG),
    AggregateSpec("MIN", ("x",), "least", LONG),
    AggregateSpec("MAX", ("x",), "greatest", LONG),
    AggregateSpec("FIRST_VALUE", ("x",), "first", LONG),
    AggregateSpec("LAST_VALUE", ("x",), "last", LONG),
    DISTINCT,
    AggregateSpec("COUNT", ("x", "y"), "pairs", LONG, distinct=True),
    AggregateSpec("COUNT", ("s",), "strings", LONG, distinct=True),
    AggregateSpec("SUM", ("x",), "total", LONG, distinct=True),
    AggregateSpec("VAR_POP", ("x",), "variance", pl.Float64(), distinct=True, filter="y"),
    AggregateSpec("STDDEV_POP", ("x",), "deviation", pl.Float64()),
    AggregateSpec("MIN", ("s",), "least string", STRING, filter="y"),
    AggregateSpec("MAX", ("d",), "greatest decimal", pl.Decimal(10, 1)),
    AggregateSpec("MAX", ("r",), "greatest real", pl.Float64()),
    AggregateSpec("MIN", ("r",), "least real", pl.Float64()),
    AggregateSpec("LAST_VALUE", ("x",), "last that passes", LONG, filter="y"),
    LISTED,
    AggregateSpec("ARRAY_AGG", ("x",), "array", pl.List(LONG), filter="y"),
    AggregateSpec("LISTED", ("x",), "folded", STRING, implementation=RowByRow(Listed())),
]

values = st.one_of(st.none(), st.integers(-2, 2))
rows = st.lists(
    st.tuples(st.integers(0, 2), values, st.booleans(), st.booleans(), st.booleans()),
    min_size=1,
    max_size=30,
)


def lifted(aggregates: Aggregates, rows: list[tuple[Any, ...]], stored: int) -> pl.DataFrame:
    """Rows group by group; of each group the first ones have been merged before."""
    schema = dict(zip("gxytw", (LONG, LONG, pl.Boolean, pl.Boolean, pl.Boolean), strict=True))
    made = pl.DataFrame(rows, schema=schema, orient="row").with_columns(
        pl.int_range(pl.len(), dtype=LONG).alias(SEQUENCE),
        pl.when("t" if aggregates.retracts else pl.lit(False))
        .then(pl.lit("-U"))
        .otherwise(pl.lit("+I"))
        .alias(KIND),
        pl.col("x").cast(STRING).alias("s"),
        pl.col("x").cast(pl.Decimal(10, 1)).alias("d"),
        pl.col("x").cast(pl.Float64).replace(2.0, float("nan")).alias("r"),
    )
    added = aggregates.lifted(made, ["g", "w", "t"])
    before = aggregates.merged(added[:stored], ["g"], first=["w", "t"]).select(added.columns)
    return pl.concat([before, added[stored:]]).sort("g", maintain_order=True)


@given(
    rows=rows,
    stored=st.integers(0, 10),
    retracts=st.booleans(),
    most=st.integers(1, 60),
)
@example(rows=[(0, None, True, False, True)], stored=0, retracts=True, most=1)
@searched(60)
def test_in_any_slices_rows_have_what_merging_all_up_to_them_gives(rows, stored, retracts, most):
    aggregates = Aggregates.of(CALLS, retracts=retracts, counted=True, merges=False)
    merging = Aggregates.of(CALLS, retracts=retracts, counted=True)
    lists = [a.name for a in aggregates.accumulators if a.how.is_list]
    whole = lifted(merging, rows, stored)
    expected = [
        merging.merged(whole[: at + 1].filter(pl.col("g") == group), ["g"])
        for at, (group, wanted) in enumerate(whole.select("g", "w").iter_rows())
        if wanted
    ]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "MOST_ITEMS", most)
        added = lifted(aggregates, rows, stored)
        parts = list(aggregates.running(added, "g", pl.col("w"), pl.col("w") & ~pl.col("t")))

    found = pl.concat(parts)
    if not expected:
        assert found.is_empty()
        return
    merged = pl.concat(expected)
    assert_frame_equal(found.select("g", *aggregates.results), merged.select("g", *merging.results))
    final = found.select(~pl.col("t")).to_series()
    assert_frame_equal(found.filter(final).select(lists), merged.filter(final).select(lists))


TYPES = [
    (True, pl.Boolean()),
    (1.5, pl.Float32()),
    (Decimal("1.50"), pl.Decimal(12, 2)),
    ("a", STRING),
    (b"a", pl.Binary()),
    (date(2024, 1, 1), pl.Date()),
    (time(12), pl.Time()),
    (datetime(2024, 1, 1), pl.Datetime("ns")),
    (datetime(2024, 1, 1), pl.Datetime("ms", "UTC")),
    ({"a": 1, "b": ["x", None]}, pl.Struct({"a": pl.Int8, "b": pl.List(pl.String)})),
    ([1, 2], pl.List(pl.Int16)),
]


@pytest.mark.parametrize(("value", "type_"), TYPES, ids=[str(type_) for _, type_ in TYPES])
@pytest.mark.parametrize("retracts", [False, True])
def test_lists_are_of_the_types_that_merging_gives(value, type_, retracts):
    calls = [
        AggregateSpec("COUNT", ("x",), "different", LONG, distinct=True),
        AggregateSpec("ARRAY_AGG", ("x",), "array", pl.List(type_)),
    ]
    aggregates = Aggregates.of(calls, retracts=retracts)
    added = long_group(aggregates, pl.Series([value, None, value], dtype=type_), ["+I"] * 3)

    [found] = aggregates.running(added, "g", ALL, ALL)

    expected = aggregates.merged(added, ["g"])
    assert_frame_equal(found.tail(1).select(expected.columns), expected)


def test_the_search_above_has_every_kind_of_accumulator():
    made = [Aggregates.of(CALLS, retracts=retracts) for retracts in (False, True)]

    kinds = {a.how for aggregates in made for a in aggregates.accumulators}
    assert kinds == {*Merge} - {Merge.GIVEN}  # of values that are not accumulated


@pytest.fixture
def spread(monkeypatch) -> list[int]:
    """How many items were spread over rows, slice by slice."""
    counted: list[int] = []

    def counting(counts: np.ndarray) -> np.ndarray:
        counted.append(int(counts.sum()))
        return up_to_each(counts)

    up_to_each = running.up_to_each
    monkeypatch.setattr(running, "up_to_each", counting)
    return counted


def long_group(aggregates: Aggregates, values: Sequence[Any], kinds: list[str]) -> pl.DataFrame:
    made = pl.DataFrame({"x": values, KIND: kinds}).with_columns(
        pl.lit(0, LONG).alias("g"), pl.int_range(pl.len(), dtype=LONG).alias(SEQUENCE)
    )
    return aggregates.lifted(made, ["g"])


def test_many_rows_of_a_group_with_distinct_values_are_spread_some_at_a_time(spread):
    aggregates = Aggregates.of([DISTINCT], retracts=False)
    values = random.Random(1).choices(range(2_000), k=60_000)
    added = long_group(aggregates, values, ["+I"] * 60_000)

    parts = [part.select(aggregates.results) for part in aggregates.running(added, "g", ALL, ALL)]

    assert max(spread) <= running.MOST_ITEMS
    is_new = pl.Series(values).is_first_distinct().cast(LONG)
    assert pl.concat(parts)["different"].to_list() == is_new.cum_sum().to_list()


def test_rows_that_are_soon_retracted_are_spread_some_at_a_time(spread):
    aggregates = Aggregates.of([LISTED], retracts=True)
    values = [value // 2 for value in range(40_000)]
    added = long_group(aggregates, values, ["+I", "-D"] * 20_000)

    parts = [part.select(aggregates.results) for part in aggregates.running(added, "g", ALL, ALL)]

    assert max(spread) <= running.MOST_ITEMS
    assert sum(spread) < 40_000 * 4_000  # not of all rows before
    strings = [str(value // 2) if value % 2 == 0 else None for value in range(40_000)]
    assert pl.concat(parts)["listed"].to_list() == strings


def test_only_rows_that_are_wanted_get_lists(spread):
    aggregates = Aggregates.of([LISTED], retracts=False)
    added = long_group(aggregates, list(range(30_000)), ["+I"] * 30_000)

    is_last = pl.int_range(pl.len()) == pl.len() - 1
    [last] = aggregates.running(added, "g", is_last, pl.lit(True))

    assert sum(spread) == 30_000
    assert last.select(aggregates.results).item() == ",".join(map(str, range(30_000)))


def test_lists_that_no_result_needs_are_only_made_where_they_are_kept(spread):
    greatest = AggregateSpec("MAX", ("x",), "greatest", LONG)
    aggregates = Aggregates.of([greatest], retracts=True, merges=False)
    added = long_group(aggregates, list(range(20_000)), ["+I"] * 20_000)

    is_last = pl.int_range(pl.len()) == pl.len() - 1
    [found] = aggregates.running(added, "g", ALL, is_last)

    assert found.select(aggregates.results).to_series().to_list() == [*range(20_000)]
    assert sum(spread) == 20_000
    assert found.estimated_size("mb") < 10


@pytest.mark.parametrize("endless", [True, False], ids=["group", "window"])
def test_group_of_a_stream_with_many_distinct_values_fits_in_memory(endless, spread):
    count = 6_000  # with the lists of each, several times what is made at once
    rows = pl.DataFrame({"x": [n % 2_000 for n in range(count)]}).with_columns(
        *(pl.lit(0, LONG).alias(name) for name in ("k", HASH, TIME, STAMP, "s")),
        pl.int_range(pl.len(), dtype=LONG).alias(ARRIVAL),
        pl.lit(10, LONG).alias("e"),
    )
    windows = Given("s", "e", endless=endless)
    each_row = Emit(early=Firing(each_row=True))
    listed = AggregateSpec("LISTAGG", ("x",), "listed", STRING, distinct=True)
    kernel = WindowAggregateKernel(("k",), windows, (DISTINCT, listed), each_row)

    step = kernel.step(State(), [rows], 0, 0)

    assert max(spread) <= running.MOST_ITEMS
    assert step.output["different"].to_list()[-1] == 2_000
    assert step.output["listed"].to_list()[-1] == ",".join(map(str, range(2_000)))


def test_distinct_values_that_are_only_counted_or_added_up_are_not_spread(spread):
    total = AggregateSpec("SUM", ("x",), "total", LONG, distinct=True)
    aggregates = Aggregates.of([DISTINCT, total], retracts=True, with_changes=True)

    assert {a.how for a in aggregates.accumulators} == {Merge.TOTAL}
