"""The interval join as micro-batches on Spark: by Tidemark, and by Spark's own stream-stream join.

Both read the same streams, half of the rows of each side in each of two micro-batches. The clock
starts with the first: Spark is running by then, its Python workers are not.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tidemark
from bench.engine import answer_runs, twice
from bench.interval_join_workload import BOUND_MS, JOIN, Workload, parsed, sink
from bench.numbers_stream import numbers
from bench.progress import Progress, follow, seconds, stop_at_rest
from tidemark.spark.stateful.metrics import Totals, reports_of

OPERATOR = "interval-join-1"
COUNT = "joined"
# The number of the second micro-batch, which has the rest of the rows.
LAST = 1
# Spark's default state store; Tidemark's sessions prefer RocksDB.
_HEAP = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"


def main() -> None:
    way, workload = parsed()
    run = {"tidemark": by_tidemark, "native": by_spark}[way]
    with TemporaryDirectory() as folder, tidemark.connect() as session:
        run(session, *streams(session.spark, Path(folder), workload), workload)


def by_tidemark(session: tidemark.Session, left: Any, right: Any, workload: Workload) -> None:
    session.register("l", left, watermark="ts")
    session.register("r", right, watermark="ts")
    session.sql(sink(digits=6))
    runs = twice(lambda: _insert(session, workload))
    answer_runs(runs, runs[0].details["rows_out"])


def _insert(session: tidemark.Session, workload: Workload) -> tuple[float, Progress]:
    session.sql(f"INSERT INTO sink {JOIN}")
    [query] = session.spark.streams.active
    totals = Totals()

    def done(report: Progress) -> bool:
        totals.add(reports_of(report).get(OPERATOR, []))
        return sum(totals.read().rows_in) == workload.records

    progress = follow(query, done)
    stop_at_rest(query)
    metrics = totals.read()
    details = {
        "rows_out": metrics.rows_out,
        "host_busy_s": round(metrics.busy_ms / 1000, 1),
        "late": metrics.late,
        "state_rows": metrics.state_rows,
        "state_mb": round(metrics.state_bytes / 1e6, 1),
        "batches": [report["durationMs"] for report in progress],
    }
    return seconds(progress), details


def by_spark(session: tidemark.Session, left: Any, right: Any, workload: Workload) -> None:
    from pyspark.sql import functions as f

    session.spark.conf.set("spark.sql.streaming.stateStore.providerClass", _HEAP)
    left, right = (rows.withWatermark("ts", "0 seconds") for rows in (left, right))
    bound = f"INTERVAL '{BOUND_MS // 1000}' SECOND"
    near = f"l.account = r.account AND r.ts BETWEEN l.ts - {bound} AND l.ts + {bound}"
    pairs = left.alias("l").join(right.alias("r"), f.expr(near))
    counted = pairs.select("l.n", "l.account", "l.ts", "r.n").observe(COUNT, f.count(f.lit(1)))
    runs = twice(lambda: _noop(counted))
    answer_runs(runs, runs[0].details["rows_out"])


def _noop(counted: Any) -> tuple[float, Progress]:
    query = counted.writeStream.format("noop").start()
    seen = {"rows_out": 0}

    def done(report: Progress) -> bool:
        seen["rows_out"] += next(iter(report["observedMetrics"].get(COUNT, {"": 0}).values()))
        return bool(report["batchId"] == LAST)

    progress = follow(query, done)
    stop_at_rest(query)
    return seconds(progress), seen


def streams(spark: Any, folder: Path, workload: Workload) -> tuple[Any, Any]:
    """The two streams; each micro-batch has the rows of both for the same stretch of time."""
    left, right = (
        _records(numbers(spark, folder / name, (workload.rows // 2, workload.rows)), workload, key)
        for name, key in (("l", workload.left_key), ("r", workload.right_key))
    )
    return left, right


def _records(rows: Any, workload: Workload, key: Callable[[str], str]) -> Any:
    instant = f"timestamp_millis({workload.milliseconds('n')}) AS ts"
    return rows.selectExpr("n", f"{key('n')} AS account", instant)


if __name__ == "__main__":
    main()
