"""Kernels inside real micro-batches: watermarks, timers, restarts, chains, the end of input."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from tidemark.errors import NotSupported, PlanError
from tidemark.kernels.temporal_join.event_time import TemporalJoinKernel
from tidemark.spark.stateful.exchange import IN_ROWS, Exchange
from tidemark.spark.stateful.operator import StatefulInput, StatefulOptions, run_stateful

from .streams import Streams


def join(
    left: DataFrame,
    right: DataFrame,
    name: str = "join",
    chained: bool = False,
    payloads: Exchange = IN_ROWS,
) -> DataFrame:
    """A left temporal join of two sources of `Streams`; the left one may be another join."""
    keys = [left.columns[0], right.columns[0]]
    return run_stateful(
        left.sparkSession,
        TemporalJoinKernel((keys[0],), (keys[1],), how="left"),
        [
            StatefulInput(left, left.schema, (keys[0],), left.columns[1], chained=chained),
            StatefulInput(right, right.schema, (keys[1],), right.columns[1]),
        ],
        StructType(left.schema.fields + right.schema.fields),
        StatefulOptions(name=name, buckets=4, payloads=payloads),
    ).rows


def orders_with_rates(streams: Streams, payloads: Exchange = IN_ROWS) -> DataFrame:
    joined = join(streams.read("o"), streams.read("r"), payloads=payloads)
    return joined.select("o_key", "o_payload", "r_payload")


@pytest.fixture
def streams(spark: SparkSession, tmp_path: Path) -> Streams:
    return Streams(spark, tmp_path, ("o", "r", "s"))


def test_an_order_is_emitted_with_its_rate_at_its_watermark_and_after_a_restart(
    spark: SparkSession, tmp_path: Path
) -> None:
    streams = Streams(spark, tmp_path, ("o", "r"))
    streams.start(orders_with_rates)

    assert streams.add(r="EUR 1 110, USD 1 100", o="EUR 4 1") == []
    assert streams.add(r="EUR 5 120") == [("EUR", 1, 110)]
    streams.stop()
    streams.start(orders_with_rates)
    # 7 waits: orders are at 8, rates only at 5.
    assert streams.add(o="EUR 7 2, JPY 8 3") == []
    assert streams.add(r="EUR 7 130, USD 7 101") == [("EUR", 2, 130)]
    assert streams.end() == [("JPY", 3, None)]
    streams.stop()

    metrics = streams.metrics("join")
    assert metrics.rows_in == (3, 5)
    assert metrics.rows_out == 3
    assert metrics.late == (0, 0)
    assert metrics.waiting == 0
    # What EUR and USD are worth from now on, and nothing else.
    assert metrics.state_rows >= 2


def test_rows_in_files_are_the_same_however_often_a_batch_is_read(
    spark: SparkSession, tmp_path: Path
) -> None:
    streams = Streams(spark, tmp_path, ("o", "r"), readings=2)
    folder = tmp_path / "payloads"
    streams.start(lambda s: orders_with_rates(s, Exchange(str(folder), more_than=0)))

    streams.add(r="EUR 1 110, USD 1 100", o="EUR 4 1")
    assert streams.add(r="EUR 5 120", o="USD 6 2") == [("EUR", 1, 110)] * 2
    streams.stop()
    streams.start(lambda s: orders_with_rates(s, Exchange(str(folder), more_than=0)))
    assert streams.end() == [("USD", 2, 100)] * 2
    streams.stop()

    [query] = folder.iterdir()
    # Of earlier micro-batches nothing is left.
    assert len(list(query.iterdir())) == 1


def test_rows_of_one_join_are_in_time_for_the_next_one(streams: Streams) -> None:
    def two_joins(streams: Streams) -> DataFrame:
        first = join(streams.read("o"), streams.read("r"), "first")
        both = join(first, streams.read("s"), "second", chained=True)
        return both.select("o_payload", "r_payload", "s_payload")

    streams.start(two_joins)
    assert streams.add(o="a 1 1, a 3 2", r="a 1 10, a 3 30", s="a 1 100, a 2 200, a 3 300") == [
        (1, 10, 100),
        (2, 30, 300),
    ]
    assert streams.end() == []
    streams.stop()
    assert streams.metrics("second").late == (0, 0)


def test_a_table_returns_the_rows_of_the_stream_with_nested_columns_and_a_hot_key(
    spark: SparkSession,
) -> None:
    nested = [
        f.struct(f.col("n").alias("x"), f.array("n").alias("ns")).alias("s"),
        f.create_map(f.lit("n"), "n").alias("m"),
        f.expr("CAST(n AS DECIMAL(20, 2))").alias("d"),
        f.expr("make_dt_interval(0, 0, 0, n)").alias("i"),
    ]
    numbers = spark.range(3000).withColumnRenamed("id", "n")
    left = numbers.select(
        f.lit("hot").alias("l_key"), f.timestamp_seconds("n").alias("l_ts"), *nested
    ).withColumn("ntz", f.expr("CAST(l_ts AS TIMESTAMP_NTZ)"))
    right = numbers.where("n % 10 = 5").select(
        f.lit("hot").alias("r_key"), f.timestamp_seconds("n").alias("r_ts"), f.col("n").alias("v")
    )

    joined = join(left, right).cache()

    types = StructType(left.schema.fields + right.schema.fields)
    assert joined.schema.simpleString() == types.simpleString()
    assert joined.where("v IS NULL").count() == 5
    assert joined.where("v <> 10 * floor((s.x - 5) / 10) + 5").count() == 0
    row = joined.where("s.x = 17").first()
    assert row is not None
    assert (row["s"]["ns"], row["m"], row["v"]) == ([17], {"n": 17}, 15)
    assert (str(row["d"]), row["i"].total_seconds()) == ("17.00", 17)


def test_keys_of_different_types_are_refused(spark: SparkSession) -> None:
    left = spark.sql("SELECT 1 AS l_key, TIMESTAMP '2024-01-01 00:00:00' AS l_ts")
    right = spark.sql("SELECT 1L AS r_key, TIMESTAMP '2024-01-01 00:00:00' AS r_ts")

    with pytest.raises(PlanError, match="same types"):
        join(left, right)


def test_a_type_that_state_cannot_hold_is_refused(spark: SparkSession) -> None:
    left = spark.sql("SELECT 1 AS l_key, now() AS l_ts, INTERVAL '1' MONTH AS m")
    right = spark.sql("SELECT 1 AS r_key, now() AS r_ts")

    with pytest.raises(NotSupported, match="INTERVAL YEAR TO MONTH"):
        join(left, right)
