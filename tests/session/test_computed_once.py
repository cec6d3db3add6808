"""Rows for several consumers on real Spark: computed once, whatever else is cached."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tidemark.spark.caching import computed_once

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture
def rows(spark: SparkSession) -> DataFrame:
    """Rows with a TIME, which Spark's default settings refuse."""
    moment = "CAST(CAST(CONCAT('0', id, ':00:00') AS TIME(3)) AS STRING)"
    return spark.range(3).selectExpr(f"1 + LENGTH({moment}) AS length")


@pytest.mark.parametrize("batch_id", [None, 0], ids=["all rows", "a micro-batch"])
def test_rows_are_kept_until_all_consumers_have_read_them(
    spark: SparkSession, batch_id: int | None
):
    rows = spark.range(3).selectExpr("id + 1 AS n")
    with computed_once(rows, batch_id):
        assert rows.storageLevel.useMemory
        assert [row.n for row in rows.collect()] == [1, 2, 3]
    assert not rows.storageLevel.useMemory
    assert spark.sql("SHOW VIEWS LIKE 'tidemark*'").isEmpty()


def test_rows_of_a_batch_are_kept_next_to_what_is_cached_already(
    spark: SparkSession, rows: DataFrame
):
    def lengths() -> list[int]:
        with computed_once(rows, None):
            return [row.length for row in rows.collect()]

    cached = spark.range(1).selectExpr("1 + id AS other").cache()
    try:
        # No session is active in a new thread.
        with ThreadPoolExecutor(1) as thread:
            assert thread.submit(lengths).result() == [9, 9, 9]
    finally:
        cached.unpersist()
