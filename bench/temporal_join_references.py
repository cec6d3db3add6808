"""The same rows joined without streaming: Polars in one thread, and Spark's own ASOF JOIN.

Both sum up the versions instead of emitting rows: neither has a sink that discards them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bench.engine import agreed, answer_runs, twice
from bench.temporal_join_workload import (
    ORDER_FACTOR,
    PRIME,
    START_MS,
    VERSION_FACTOR,
    Workload,
    parsed,
)

if TYPE_CHECKING:
    import polars as pl

# The number of rows of the join, and the sum of the versions found.
Sums = tuple[int, int]


def main() -> None:
    way, workload = parsed()
    {"polars": by_polars, "spark": by_spark}[way](workload)


def by_polars(workload: Workload) -> None:
    os.environ["POLARS_MAX_THREADS"] = "1"
    answer_sums(lambda: polars_sums(*polars_rows(workload)))


def by_spark(workload: Workload) -> None:
    spark = spark_session()
    spark.range(workload.left).selectExpr(
        "id AS n",
        f"{workload.order_key('id')} AS account",
        f"timestamp_millis({workload.order_ms('id')}) AS order_time",
    ).createTempView("orders")
    spark.range(workload.versions).selectExpr(
        f"{workload.version_key('id')} AS account",
        "id AS version",
        f"timestamp_millis({workload.version_ms('id')}) AS valid_from",
    ).createTempView("versions")
    answer_sums(lambda: spark_sums(spark))
    spark.stop()


def answer_sums(join: Callable[[], Sums]) -> None:
    """Run a join that sums up its versions, cold and warm, and answer."""
    found: list[Sums] = []

    def job() -> tuple[float, None]:
        started = time.perf_counter()
        found.append(join())
        return time.perf_counter() - started, None

    answer_runs(twice(job), *agreed(found))


def polars_rows(workload: Workload) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Orders and versions, both ordered by time."""
    import polars as pl

    def rows(count: int, factor: int, step: int) -> pl.LazyFrame:
        n = pl.int_range(count, dtype=pl.Int64, eager=True)
        key, time_ = n * factor % PRIME % workload.keys, START_MS + n * step
        return pl.LazyFrame({"n": n, "account": key, "time": time_}).set_sorted("time")

    orders = rows(workload.left, ORDER_FACTOR, 1).rename({"time": "order_time"})
    versions = rows(workload.versions, VERSION_FACTOR, workload.version_step_ms)
    return orders, versions.rename({"n": "version", "time": "valid_from"})


def polars_sums(orders: pl.LazyFrame, versions: pl.LazyFrame) -> Sums:
    import polars as pl

    joined = orders.join_asof(
        versions,
        left_on="order_time",
        right_on="valid_from",
        by="account",
        check_sortedness=False,
    )
    found = joined.filter(pl.col("version").is_not_null())
    rows, total = found.select(pl.len(), pl.col("version").sum()).collect().row(0)
    return rows, total


def spark_session() -> Any:
    """Bare Spark, started as Tidemark would start it."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", str(os.cpu_count()))
    return builder.config("spark.sql.join.asofJoin.enabled", "true").getOrCreate()


def spark_sums(spark: Any) -> Sums:
    """The sums of Spark's own join of the views `orders` and `versions`."""
    row = spark.sql(
        "SELECT count(*), sum(version) FROM orders AS o ASOF JOIN versions AS v "
        "MATCH_CONDITION (o.order_time >= v.valid_from) ON o.account = v.account"
    ).first()
    return row[0], row[1]


if __name__ == "__main__":
    main()
