"""Times as whole columns are those of the exact way, or NULL and left to it."""

from __future__ import annotations

import datetime as dt
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.examples import fields_of
from tidemark import types as t
from tidemark.formats.column_types import series
from tidemark.formats.exact_values import NotAValue, Spelling, reader
from tidemark.formats.quick_values import converter

ISO, SQL = Spelling(iso_times=True), Spelling(loose_dates=True, short_times=True)
digits = st.integers(0, 9).map(str)
years = st.sampled_from(["2024", "1969", "1582", "1000", "9999", "0999", "0000", "-024", "+024"])
two = st.sampled_from(
    ["00", "01", "02", "12", "13", "23", "24", "28", "29", "30", "31", "59", "60"]
)
dates = st.builds("{}-{}-{}".format, years, two, two)
clocks = st.builds("{}:{}:{}".format, two, two, two) | st.builds("{}:{}".format, two, two)
fractions = st.just("") | st.lists(digits, max_size=9).map(lambda text: "." + "".join(text))
times = st.builds(
    "{}{}{}{}{}".format, dates, st.sampled_from(" T-"), clocks, fractions, st.sampled_from(["", "Z", "+01", " "])
)  # fmt: skip
usual = st.datetimes(dt.datetime(1000, 1, 1)).map(str)
WAYS = pytest.mark.parametrize("spelling", [ISO, SQL], ids=["iso", "sql"])
TYPES = pytest.mark.parametrize(
    "type_", ["TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP_LTZ(3)", "TIMESTAMP_LTZ(6)", "DATE"]
)


@WAYS
@TYPES
@given(
    known=st.lists(st.none() | usual, max_size=4),
    others=st.lists(times | dates | usual, max_size=2),
)
def test_a_time_is_that_of_the_exact_way_or_left_to_it(
    spelling: Spelling, type_: str, known: list[str | None], others: list[str]
) -> None:
    wanted = fields_of(f"x {type_}")[0].type
    strings = [*(each and written(each, wanted, spelling) for each in known), *others]

    found = converter(wanted, spelling, numbers_only=False)(pl.Series(strings, dtype=pl.String))

    exact = series([value_of(each, wanted, spelling) for each in strings], wanted, "")
    # As numbers: Python has no year 0.
    values, expected = found.to_physical().to_list(), exact.to_physical().to_list()
    assert found.dtype == exact.dtype
    assert all(
        value is None or value == other for value, other in zip(values, expected, strict=True)
    )
    if not others:  # all are times written in full
        assert values == expected


def written(time: str, type_: t.DataType, spelling: Spelling) -> str:
    """A time as the format writes it."""
    if isinstance(type_, t.Date):
        return time[:10]
    return time.replace(" ", "T" if spelling.iso_times else " ") + "Z" * isinstance(
        type_, t.TimestampLtz
    )


def value_of(text: str | None, type_: t.DataType, spelling: Spelling) -> Any:
    try:
        return None if text is None else reader(type_, spelling)(text)
    except NotAValue:
        return None
