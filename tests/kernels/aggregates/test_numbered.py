"""Sums by group number, compared with Polars, which groups by anything."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.kernels.aggregates.accumulators import Merge
from tidemark.kernels.aggregates.numbered import can_run, merged, merged_runs, running

# Small numbers are often equal; large ones do not fit into one number together.
whole = st.one_of(st.integers(0, 3), st.integers(-(2**63), 2**63 - 1))
KEYS: dict[str, tuple[Any, pl.DataType]] = {
    "whole": (whole, pl.Int64()),
    "or null": (st.none() | whole, pl.Int64()),
    "unsigned": (st.integers(0, 2**64 - 1), pl.UInt64()),
    "text": (st.sampled_from(["", "a", "b", None]), pl.String()),
    "flag": (st.sampled_from([True, False, None]), pl.Boolean()),
    "bytes": (st.sampled_from([b"", b"a", None]), pl.Binary()),
    "day": (st.sampled_from([date(1969, 12, 31), date(2024, 2, 29), None]), pl.Date()),
}
HOWS = {"total": Merge.TOTAL, "or_null": Merge.TOTAL, "least": Merge.LEAST, "last": Merge.GREATEST}
SCHEMA = {"total": pl.Int64(), "or_null": pl.Int64(), "least": pl.Int16(), "last": pl.Boolean()}
small = st.integers(-(2**15), 2**15 - 1)
values = st.tuples(whole, st.none() | whole, small, st.booleans())


def grouped(rows: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    return rows.group_by(by, maintain_order=True).agg(
        pl.col("place").first(), pl.col("total", "or_null").sum(), pl.col("least").min(),
        pl.col("last").max(),
    )  # fmt: skip


@given(st.data(), st.lists(st.sampled_from(sorted(KEYS)), min_size=1, max_size=3, unique=True))
def test_groups_have_the_same_results(data: st.DataObject, by: list[str]) -> None:
    types = [KEYS[name] for name in by]
    pool = data.draw(st.lists(st.tuples(*(kind for kind, _ in types)), min_size=1, max_size=6))
    found = data.draw(st.lists(st.tuples(st.sampled_from(pool), values), min_size=1, max_size=40))
    schema = dict(zip(by, (dtype for _, dtype in types), strict=True)) | SCHEMA
    rows = pl.DataFrame([(*key, *value) for key, value in found], schema, orient="row")
    rows = rows.with_row_index("place")
    result = merged(rows, by, ["place"], HOWS)
    assert result is not None
    assert result.equals(grouped(rows, by))


@given(st.data(), st.lists(values, min_size=1, max_size=20))
def test_runs_have_the_results_of_their_rows(data: st.DataObject, found: list[Any]) -> None:
    rows = pl.DataFrame(found, SCHEMA, orient="row").with_row_index("place")
    places = st.integers(0, rows.height - 1)
    drawn = data.draw(st.lists(st.tuples(places, places), max_size=8))
    runs = [(min(pair), max(pair) + 1) for pair in drawn]
    first, end = (np.array([run[n] for run in runs], dtype=np.int64) for n in (0, 1))

    result = merged_runs(rows, first, end, HOWS)

    assert result is not None
    assert result.schema == pl.Schema(SCHEMA)
    alone = [rows[a:b].select(pl.lit(0).alias("all"), pl.all()) for a, b in runs]
    expected = [grouped(run, ["all"]).select(*SCHEMA) for run in alone]
    assert result.equals(pl.concat([rows.select(*SCHEMA).clear(), *expected]))


@given(st.lists(st.lists(st.none() | whole, min_size=1), max_size=6), st.sampled_from(list(Merge)))
def test_rows_have_what_the_rows_of_their_group_up_to_them_give(
    groups: list[list[int | None]], how: Merge
) -> None:
    column = pl.Series("value", [value for group in groups for value in group], pl.Int64)
    if not can_run(column, how):
        assert how not in merging
        return
    starts = np.repeat(np.cumsum([0, *map(len, groups)])[:-1], [*map(len, groups)])
    found = running(column, how, starts)
    so_far = (group[: n + 1] for group in groups for n in range(len(group)))
    assert found.to_list() == [merging[how](some) for some in so_far]
    assert (found.name, found.dtype) == ("value", pl.Int64())


def wrapped(total: int) -> int:
    return (total + 2**63) % 2**64 - 2**63


def extreme(of: Any, values: list[int | None]) -> int | None:
    return of((value for value in values if value is not None), default=None)


merging = {
    Merge.TOTAL: lambda values: wrapped(sum(value or 0 for value in values)),
    Merge.LEAST: lambda values: extreme(min, values),
    Merge.GREATEST: lambda values: extreme(max, values),
}


def test_values_far_apart_are_few_or_many() -> None:
    count = 70_000
    rows = pl.DataFrame({"few": [n // 100 % 7 * 10**9 for n in range(count)]})
    rows = rows.with_row_index("place").with_columns(
        many=pl.col("place").cast(pl.Int64) * 7919 % 60_000, one=pl.lit(1, pl.Int64)
    )
    for by in (["few"], ["many"], ["many", "few"], ["few", "many", "place"]):
        result = merged(rows, by, ["place"] if "place" not in by else [], {"one": Merge.TOTAL})
        assert result is not None
        assert result.equals(
            rows.group_by(by, maintain_order=True).agg(
                *[pl.col("place").first()] * ("place" not in by), pl.col("one").sum()
            )
        )


def test_fractions_are_added_in_the_order_of_their_rows() -> None:
    rows = pl.DataFrame({"key": [1, 2, 1, 1], "x": [1e16, 0.5, 1.0, -1e16]})
    result = merged(rows, ["key"], [], {"x": Merge.TOTAL})
    assert result is not None
    assert result["x"].to_list() == [0.0, 0.5]


@pytest.mark.parametrize(
    ("key", "value", "how"),
    [
        (0.5, 1, Merge.TOTAL),
        ([1], 1, Merge.TOTAL),
        (1, 0.5, Merge.LEAST),
        (1, None, Merge.GREATEST),
        (1, 1, Merge.FIRST),
    ],
)
def test_what_numbers_cannot_tell_is_left_to_others(key: Any, value: Any, how: Merge) -> None:
    rows = pl.DataFrame({"key": [key], "value": [value]})
    assert merged(rows, ["key"], [], {"value": how}) is None
