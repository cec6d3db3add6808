"""The temporal join on Tidemark: as a stream of micro-batches, or as one batch.

The seconds begin with the first micro-batch, or with the batch: Spark is running by then, its
Python workers are not.
"""

from __future__ import annotations

import json
import time
from datetime import datetime
from typing import Any

import tidemark
from bench.temporal_join_workload import JOIN, SINK, Workload, answer, parsed
from tidemark.spark.stateful.metrics import OperatorMetrics, Totals, reports_of

BATCHES = 20
OPERATOR = "temporal-join-1"


def main() -> None:
    way, workload = parsed()
    with tidemark.connect() as session:
        session.sql(SINK)
        if way == "stream":
            stream(session, workload)
        else:
            batch(session, workload)


def stream(session: tidemark.Session, workload: Workload) -> None:
    """Rows come in micro-batches, as many of each table as belong to the same stretch of time."""
    orders = _numbers(session.spark, workload.left)
    versions = _numbers(session.spark, workload.versions)
    _register(session, workload, orders, versions)
    session.sql(f"INSERT INTO sink {JOIN}")
    [query] = session.spark.streams.active
    progress, metrics = _until_done(query, workload.records + 2)
    query.stop()
    answer(_seconds(progress), metrics.rows_out, details=_details(progress, metrics))


def batch(session: tidemark.Session, workload: Workload) -> None:
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    numbers = session.spark.range(workload.left), session.spark.range(workload.versions)
    _register(session, workload, *(frame.withColumnRenamed("id", "n") for frame in numbers))
    started = time.perf_counter()
    job = session.sql(f"INSERT INTO sink {JOIN}").job
    assert job is not None
    job.wait()
    seconds = time.perf_counter() - started
    sums = session.sql(JOIN).to_dataframe().selectExpr("count(*)", "sum(version)").first()
    assert sums is not None
    answer(seconds, job.progress().rows_out, sums[1])


def _register(session: tidemark.Session, workload: Workload, orders: Any, versions: Any) -> None:
    """The tables, out of their row numbers.

    A stream goes one row past each table's end: a day later and of no account that has rows. It
    moves the watermark past all the others.
    """

    def columns(count: int, key: str, milliseconds: str) -> tuple[str, str]:
        return (
            f"IF(n < {count}, {key}, -n)",
            f"timestamp_millis({milliseconds} + IF(n < {count}, 0, 86400000))",
        )

    account, time_ = columns(workload.left, workload.order_key("n"), workload.order_ms("n"))
    session.register(
        "orders",
        orders.selectExpr("n", f"{account} AS account", f"{time_} AS order_time"),
        watermark="order_time",
    )
    account, time_ = columns(workload.versions, workload.version_key("n"), workload.version_ms("n"))
    session.register(
        "versions",
        versions.selectExpr(f"{account} AS account", "n AS version", f"{time_} AS valid_from"),
        watermark="valid_from",
        primary_key=["account"],
    )


def _numbers(spark: Any, count: int) -> Any:
    source = spark.readStream.format("rate-micro-batch")
    source = source.option("rowsPerBatch", max(1, count // BATCHES))
    return source.load().where(f"value <= {count}").withColumnRenamed("value", "n")


def _until_done(query: Any, records: int) -> tuple[list[dict[str, Any]], OperatorMetrics]:
    """The reports of the micro-batches up to the one that left nothing waiting."""
    totals, seen = Totals(), list[dict[str, Any]]()
    while query.isActive:
        for report in query.recentProgress[len(seen) :]:
            seen.append(json.loads(report.json))
            totals.add(reports_of(seen[-1]).get(OPERATOR, []))
            metrics = totals.read()
            if sum(metrics.rows_in) == records and not metrics.waiting:
                return seen, metrics
        time.sleep(0.2)
    raise SystemExit(f"the stream ended early: {query.exception()}")


def _seconds(progress: list[dict[str, Any]]) -> float:
    """From the start of the first micro-batch to the end of the last."""
    first, last = (datetime.fromisoformat(progress[n]["timestamp"]) for n in (0, -1))
    taken = (last - first).total_seconds()
    return float(taken + progress[-1]["durationMs"]["triggerExecution"] / 1000)


def _details(progress: list[dict[str, Any]], metrics: OperatorMetrics) -> dict[str, Any]:
    """Where the time went: what the host used on all cores, and each micro-batch."""
    return {
        "host_busy_s": round(metrics.busy_ms / 1000, 1),
        "round_trips": metrics.round_trips,
        "late": metrics.late,
        "state_rows": metrics.state_rows,
        "state_mb": round(metrics.state_bytes / 1e6, 1),
        "batches": [report["durationMs"] for report in progress],
    }


if __name__ == "__main__":
    main()
