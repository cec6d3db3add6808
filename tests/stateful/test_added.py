"""Columns that workers add to packed rows are those that Spark adds to its own."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from tidemark.spark.stateful.added import Added, ClockMillis, Constant, with_added

MOMENTS = [
    dt.datetime(2024, 2, 29, 23, 59, 59, 999_999),
    dt.datetime(1969, 12, 31, 23, 59, 59, 999_500),
    dt.datetime(1, 1, 1),
    None,
]


@pytest.mark.parametrize(
    "added",
    [Constant("all", True), Constant("none", False), Constant("x", -(2**63) + 1)],
    ids=str,
)
def test_a_constant_is_in_every_row(spark, added: Added):
    rows = pa.record_batch({"k": [1, 2]})

    assert with_added(rows, [added]).column(added.name).to_pylist() == [
        row[0] for row in spark.range(2).selectExpr(added.sql).collect()
    ]


def test_times_are_rounded_down_to_milliseconds(spark):
    added = ClockMillis("millis", "a_time")
    rows = pa.record_batch({"a_time": pa.array(MOMENTS, pa.timestamp("us"))})
    frame = spark.createDataFrame([(moment,) for moment in MOMENTS], "a_time TIMESTAMP_NTZ")

    millis = with_added(rows, [added]).column("millis").to_pylist()

    assert millis == [row[0] for row in frame.selectExpr(added.sql).collect()]
    assert millis == [1709251199999, -1, -62135596800000, None]


def test_nothing_to_add_leaves_rows_as_they_are():
    rows = pa.record_batch({"k": [1]})

    assert with_added(rows, []) is rows
