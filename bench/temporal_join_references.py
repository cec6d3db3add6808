"""The same rows joined by what knows no stream: Polars in one thread, and Spark's own ASOF JOIN.

Both add the versions up instead of giving rows away: neither has a sink that takes and forgets.
"""

from __future__ import annotations

import os
import time

from bench.temporal_join_workload import (
    ORDER_FACTOR,
    PRIME,
    START_MS,
    VERSION_FACTOR,
    Workload,
    answer,
    parsed,
)


def main() -> None:
    way, workload = parsed()
    {"polars": by_polars, "spark": by_spark}[way](workload)


def by_polars(workload: Workload) -> None:
    os.environ["POLARS_MAX_THREADS"] = "1"
    import polars as pl

    def rows(count: int, factor: int, step: int) -> pl.LazyFrame:
        n = pl.int_range(count, dtype=pl.Int64, eager=True)
        key, time_ = n * factor % PRIME % workload.keys, START_MS + n * step
        return pl.LazyFrame({"n": n, "account": key, "time": time_}).set_sorted("time")

    started = time.perf_counter()
    versions = rows(workload.versions, VERSION_FACTOR, workload.version_step_ms)
    joined = rows(workload.left, ORDER_FACTOR, 1).join_asof(
        versions.rename({"n": "version"}), on="time", by="account", check_sortedness=False
    )
    found = joined.filter(pl.col("version").is_not_null())
    sums = found.select(pl.len(), pl.col("version").sum()).collect().row(0)
    answer(time.perf_counter() - started, *sums)


def by_spark(workload: Workload) -> None:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", str(os.cpu_count()))
    spark = builder.config("spark.sql.join.asofJoin.enabled", "true").getOrCreate()
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
    started = time.perf_counter()
    sums = spark.sql(
        "SELECT count(*), sum(version) FROM orders AS o ASOF JOIN versions AS v "
        "MATCH_CONDITION (o.order_time >= v.valid_from) ON o.account = v.account"
    ).first()
    seconds = time.perf_counter() - started
    assert sums is not None
    answer(seconds, *sums)
    spark.stop()


if __name__ == "__main__":
    main()
