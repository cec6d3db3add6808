"""Extremes of groups from which rows are retracted, found among values in order, against lists."""

from __future__ import annotations

import math
import random
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from tests.searching import searched
from tidemark.kernels.aggregates.accumulators import Summary
from tidemark.kernels.columns import KIND
from tidemark.kernels.segments import Compaction
from tidemark.kernels.windows import aggregate, extreme_values
from tidemark.kernels.windows.ordered_values import ByPreference
from tidemark.kernels.windows.spec import AggregateSpec

from .test_distinct_values import LISTS, LONG, Stream, frame, kernel

VALUES: list[tuple[str, Any, list[Any]]] = [
    ("long", LONG, [-(2**63), -5, 0, 1, 7, 2**53, 2**53 + 1, 2**63 - 1, None]),
    ("double", pl.Float64(), [-math.inf, -1.5, 0.0, 1e-300, 2.5, 1e300, math.inf, math.nan, None]),
    ("decimal", pl.Decimal(38, 2), [Decimal("-1.5"), Decimal(0), Decimal("1e20"), None]),
    ("string", pl.String(), ["", "a", "user-1", "user-10", "user-2", "\x7f", "é", "漢", None]),
    ("boolean", pl.Boolean(), [True, False, None]),
    ("date", pl.Date(), [date(1969, 1, 1), date(2024, 1, 1), date(2024, 1, 2), None]),
    (
        "timestamp",
        pl.Datetime("us"),
        [datetime(2024, 1, 1), datetime(2024, 1, 1, 0, 0, 0, 1), datetime(1960, 1, 1), None],
    ),
]


def extremes(dtype: Any) -> tuple[AggregateSpec, ...]:
    return (
        AggregateSpec("MIN", ("x",), "least", dtype),
        AggregateSpec("MAX", ("x",), "greatest", dtype),
        AggregateSpec("MIN", ("x",), "least that passes", dtype, filter="f"),
    )


rows = st.tuples(
    st.sampled_from(["a", "b"]),
    st.integers(0, 99),
    st.sampled_from([True, False, None]),
    st.sampled_from(["+I", "+I", "+U", "-U", "-D"]),
)
batches = st.lists(st.lists(rows, max_size=12), max_size=6)


def incoming(batch: list[Any], choice: list[Any], dtype: Any) -> pl.DataFrame:
    made = frame([(key, None, None, passes, 0, kind) for key, _, passes, kind in batch], 0)
    chosen = [choice[n % len(choice)] for _, n, _, _ in batch]
    return made.with_columns(pl.Series("x", chosen, dtype=dtype))


@pytest.mark.parametrize(("dtype", "choice"), [v[1:] for v in VALUES], ids=[v[0] for v in VALUES])
@given(given_=batches, few=st.sampled_from([1, 8]), idle=st.sampled_from([None, 2]))
@searched(16)
def test_extremes_are_those_of_lists(dtype, choice, given_, few, idle):
    one = kernel(calls=extremes(dtype), retracts=True, idle_ms=idle)
    ordered, lists = Stream(one), Stream(one)
    for clock, batch in enumerate(given_):
        arriving = incoming(batch, choice, dtype)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(extreme_values, "_FEW", few)
            found = one.step(ordered.state, [arriving], 0, clock)
            ordered.keep(found.state)
            patch.setattr(aggregate, "_APART", LISTS)
            expected = one.step(lists.state, [arriving], 0, clock)
            lists.keep(expected.state)
        assert_frame_equal(found.output, expected.output)


def test_extremes_are_found_among_many_values_as_they_are_retracted():
    one = kernel(calls=extremes(LONG)[:2], retracts=True, compaction=Compaction(2, 16))
    stream, there = Stream(one), set(range(1_000))
    chance = random.Random(5)
    order = [*there]
    chance.shuffle(order)
    stream.step_frame(incoming([("a", v, True, "+I") for v in order], range(1_000), LONG))
    for _ in range(25):
        # Those at both ends, and a few others.
        gone = {min(there), max(there), *chance.sample(sorted(there), 8)}
        there -= gone
        batch = [("a", v, True, "-D") for v in sorted(gone, reverse=True)]
        told = stream.step_frame(incoming(batch, range(1_000), LONG))
        last = told.filter(pl.col(KIND).is_in(["+I", "+U"])).tail(1)
        assert last.select("least", "greatest").row(0) == (min(there), max(there))


def test_no_more_values_are_read_than_are_needed(monkeypatch):
    read = []
    original = extreme_values._Along._last_records

    def counting(self, hashes, few):
        found = original(self, hashes, few)
        read.append(found[0].height)
        return found

    monkeypatch.setattr(extreme_values._Along, "_last_records", counting)
    stream = Stream(kernel(calls=extremes(LONG)[:2], retracts=True))
    stream.step_frame(incoming([("a", v, True, "+I") for v in range(5_000)], range(5_000), LONG))

    stream.step_frame(incoming([("a", 17, True, "-D")], range(5_000), LONG))
    assert read == []  # neither the least nor the greatest

    stream.step_frame(incoming([("a", 4_999, True, "-D")], range(5_000), LONG))
    assert sum(read) <= 3 * extreme_values._FEW


@pytest.mark.parametrize(("dtype", "choice"), [v[1:] for v in VALUES], ids=[v[0] for v in VALUES])
@pytest.mark.parametrize("what", [Summary.LEAST, Summary.GREATEST])
def test_preferred_values_do_not_come_before_others(dtype, choice, what):
    values = pl.Series([v for v in choice if v is not None], dtype=dtype)
    if dtype.is_float():
        values = values.filter(~values.is_nan())
    preferred = values.sort(descending=what is Summary.LEAST)

    places = ByPreference(what)(np.full(values.len(), -(2**62) + 12345), preferred)

    assert (np.diff(places) >= 0).all()
    assert places.min() >> 32 == places.max() >> 32
