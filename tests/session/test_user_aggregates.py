"""Aggregate functions in Python on real Spark: in windows, and in groups without."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

import tidemark
from tidemark.errors import TidemarkError
from tidemark.session.session import Session

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

ROWS = [("tea", 250, 1), ("tea", 270, 4), ("soup", 500, 5), ("tea", 260, 12)]
WINDOWS = "TABLE(TUMBLE(TABLE sales, DESCRIPTOR(ts), INTERVAL '10' MINUTE))"


class Sales:
    """How many there are: it takes no argument."""

    def create_accumulator(self) -> list[int]:
        return [0]

    def accumulate(self, accumulator: list[int]) -> None:
        accumulator[0] += 1

    def get_value(self, accumulator: list[int]) -> int:
        return accumulator[0]


class Mean:
    """With all that Flink may ask for."""

    def create_accumulator(self) -> list[int]:
        return [0, 0]

    def accumulate(self, accumulator: list[int], value: int) -> None:
        accumulator[0] += value
        accumulator[1] += 1

    def retract(self, accumulator: list[int], value: int) -> None:
        accumulator[0] -= value
        accumulator[1] -= 1

    def merge(self, accumulator: list[int], others: list[list[int]]) -> None:
        for total, count in others:
            accumulator[0] += total
            accumulator[1] += count

    def get_value(self, accumulator: list[int]) -> Decimal:
        return Decimal(accumulator[0]) / accumulator[1]


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> Session:
    made = tidemark.connect(spark)
    rows = [(what, cents, datetime(2024, 5, 1, 9, minute)) for what, cents, minute in ROWS]
    frame = spark.createDataFrame(rows, "what STRING, cents INT, ts TIMESTAMP_NTZ")
    made.register("sales", frame, watermark="ts - INTERVAL '5' SECOND")
    made.create_aggregate_function("mean", Mean, returns="DECIMAL(10, 1)")
    made.create_aggregate_function("sales_made", Sales)

    def distance(values: pa.Array) -> pa.Scalar:
        import pyarrow.compute as pc

        ends = pc.min_max(values)
        return pc.subtract(ends["max"], ends["min"])

    made.create_aggregate_function("distance", distance, returns="INT")
    return made


def test_it_aggregates_windows(session):
    sql = f"SELECT what, mean(cents) AS m, distance(cents) AS d FROM {WINDOWS} "
    rows = session.sql(sql + "GROUP BY what, window_start, window_end").rows()

    found = sorted((row["what"], row["m"], row["d"]) for row in rows)
    assert found == [("soup", 500, 0), ("tea", 260, 0), ("tea", 260, 20)]


def test_it_aggregates_groups_and_retracts_rows(session):
    sales = "SELECT what, mean(cents) AS m, sales_made() AS n FROM sales GROUP BY what"
    rows = session.sql(
        f"SELECT distance(CAST(m AS INT)) AS d, mean(CAST(m AS INT)) AS m, SUM(n) AS n FROM ({sales})"
    ).rows()

    assert rows == [{"d": 240, "m": 380, "n": 4}]


def test_value_of_another_type_fails_the_job_with_the_name_of_the_function(session):
    session.create_aggregate_function("wrong", lambda values: "much", returns="INT")

    with pytest.raises(
        TidemarkError, match="`wrong` returned a value that is not of its result type"
    ):
        session.sql("SELECT wrong(cents) AS w FROM sales").rows()
