"""Fast ways to sort and to search, compared with obvious ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tidemark.kernels.columns import HASH
from tidemark.kernels.keys import Keys, last_of_each
from tidemark.kernels.order import Order, in_order
from tidemark.kernels.sorting import largest_so_far, places_among, stable_order, stable_order_by
from tidemark.kernels.temporal_join.versions import VersionIndex

# Small numbers meet often; large ones fit into no number together with anything else.
numbers = st.one_of(st.integers(0, 5), st.integers(-(2**63), 2**63 - 1))
keys = st.integers(0, 6)


def longs(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)


@given(st.lists(numbers))
def test_equal_values_stay_as_they_came(values: list[int]) -> None:
    assert stable_order(longs(values)).tolist() == sorted(
        range(len(values)), key=lambda i: values[i]
    )


@given(st.lists(st.tuples(st.one_of(keys, st.integers(0, 2**62)), numbers)))
def test_rows_with_two_values_each_are_ordered_by_both(rows: list[tuple[int, int]]) -> None:
    first, second = longs([row[0] for row in rows]), longs([row[1] for row in rows])
    assert stable_order_by(first, second).tolist() == sorted(
        range(len(rows)), key=lambda i: rows[i]
    )


@given(st.lists(st.tuples(numbers, numbers, keys)))
def test_rows_with_three_values_each_are_ordered_by_all(rows: list[tuple[int, int, int]]) -> None:
    columns = (longs([row[place] for row in rows]) for place in range(3))
    assert stable_order_by(*columns).tolist() == sorted(range(len(rows)), key=lambda i: rows[i])


@given(st.lists(numbers, unique=True), st.lists(numbers))
def test_wanted_values_are_found_where_they_are(values: list[int], wanted: list[int]) -> None:
    values = [*values, *(set(wanted[:2]) - set(values))]
    found = places_among(longs(values), longs(wanted))
    assert found.tolist() == [values.index(w) if w in values else -1 for w in wanted]


@given(st.lists(st.lists(numbers, min_size=1)))
def test_the_largest_value_so_far_is_that_of_the_run(runs: list[list[int]]) -> None:
    run = [number for number, values in enumerate(runs) for _ in values]
    found = largest_so_far(longs([value for values in runs for value in values]), longs(run))
    assert found.tolist() == [max(values[: n + 1]) for values in runs for n in range(len(values))]


@given(st.lists(st.tuples(keys, numbers)), st.lists(st.tuples(keys, numbers)))
def test_the_newest_version_at_or_before_a_time_is_found(
    versions: list[tuple[int, int]], asked: list[tuple[int, int]]
) -> None:
    versions = sorted(versions)
    index = VersionIndex(longs([v[0] for v in versions]), longs([v[1] for v in versions]), keys=7)
    found = index.find(longs([q[0] for q in asked]), longs([q[1] for q in asked]))
    for (key, time), place in zip(asked, found.tolist(), strict=True):
        mine = [i for i, version in enumerate(versions) if version[0] == key and version[1] <= time]
        assert place == max(mine, default=-1)


def with_hashes(rows: list[tuple[int, str | None]], collide: bool) -> pl.DataFrame:
    hashes = [number % 2 if collide else number * 3 + ord(text or "c") for number, text in rows]
    schema = {HASH: pl.Int64, "number": pl.Int64, "text": pl.String}
    return pl.DataFrame(
        {HASH: hashes, "number": [r[0] for r in rows], "text": [r[1] for r in rows]}, schema
    )


@given(st.lists(st.tuples(keys, st.sampled_from(["a", "b", None]))), st.booleans())
def test_a_key_has_one_number_also_where_two_have_one_hash(
    rows: list[tuple[int, str | None]], collide: bool
) -> None:
    frame = with_hashes(rows, collide)
    known, (some, others) = Keys.numbering(("number", "text"), frame[: len(rows) // 2], frame)
    named = known.only(others).select("number", "text").rows()
    assert named == rows
    assert len(known) == len(set(rows))
    assert others[: len(some)].tolist() == some.tolist()
    assert known.number(frame, ("number", "text")).tolist() == others.tolist()
    stranger = frame.clear(1).with_columns(pl.lit(0, pl.Int64).alias(HASH))
    assert known.number(stranger, ("number", "text")).tolist() == [-1]


@given(st.lists(st.tuples(keys, st.sampled_from(["a", "b", None]))), st.booleans())
def test_the_last_row_of_each_key_is_found_also_where_two_have_one_hash(
    rows: list[tuple[int, str | None]], collide: bool
) -> None:
    frame = with_hashes(rows, collide).with_row_index("place")
    last = {row: place for place, row in enumerate(rows)}
    found = last_of_each(frame, ("number", "text"))
    assert found["place"].to_list() == sorted(last.values())


COLUMNS: dict[str, tuple[st.SearchStrategy[Any], pl.DataType]] = {
    "whole": (numbers, pl.Int64()),
    "small": (st.none() | st.integers(-3, 3), pl.Int8()),
    "flag": (st.sampled_from([None, True, False]), pl.Boolean()),
    "day": (st.none() | st.dates(), pl.Date()),
    "time": (st.none() | st.datetimes(), pl.Datetime("us")),
    "text": (st.sampled_from([None, "", "a", "b"]), pl.String()),
}
orders = st.builds(Order, st.sampled_from(sorted(COLUMNS)), st.booleans(), st.booleans())


@given(
    st.lists(st.tuples(*(values for values, _ in COLUMNS.values()))),
    st.lists(orders, min_size=1, max_size=3, unique_by=lambda order: order.column),
)
def test_rows_are_sorted_as_by_their_columns(rows: list[Any], by: list[Order]) -> None:
    schema = {name: dtype for name, (_, dtype) in COLUMNS.items()}
    frame = pl.DataFrame(rows, schema, orient="row").with_row_index("place")
    expected = frame.sort(
        [one.column for one in by],
        descending=[one.descending for one in by],
        nulls_last=[one.nulls_last for one in by],
        maintain_order=True,
    )
    assert in_order(frame, by)["place"].to_list() == expected["place"].to_list()
