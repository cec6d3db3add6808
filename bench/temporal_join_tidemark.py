"""The temporal join on Tidemark: as a stream of micro-batches, or as one batch.

The clock starts with the first micro-batch, or with the batch: Spark is running by then, its Python
workers are not.
"""

from __future__ import annotations

import time
from typing import Any

import tidemark
from bench.engine import agreed, answer_runs, twice
from bench.progress import Progress, details, follow, seconds, totals
from bench.temporal_join_workload import JOIN, Workload, parsed, sink
from tidemark.spark.stateful.metrics import Totals, reports_of

# Half of the ten million orders come in each.
BATCHES = 2
OPERATOR = "temporal-join-1"


def main() -> None:
    way, workload = parsed()
    with tidemark.connect() as session:
        session.sql(sink(digits=6))
        {"stream": stream, "batch": batch}[way](session, workload)


def stream(session: tidemark.Session, workload: Workload) -> None:
    """Each micro-batch has the rows of both tables for the same stretch of time."""
    orders = _numbers(session.spark, workload.left)
    versions = _numbers(session.spark, workload.versions)
    _register(session, workload, orders, versions)
    rows: list[int] = []

    def job() -> tuple[float, dict[str, Any]]:
        progress = _streamed(session, workload)
        rows.append(totals(progress, OPERATOR).read().rows_out)
        return seconds(progress), details(progress, OPERATOR)

    answer_runs(twice(job), agreed(rows))


def _streamed(session: tidemark.Session, workload: Workload) -> list[Progress]:
    """The micro-batches up to the one after which nothing was waiting."""
    sums = Totals()

    def done(batch: Progress) -> bool:
        sums.add(reports_of(batch).get(OPERATOR, []))
        metrics = sums.read()
        # One row past the end of each table.
        return sum(metrics.rows_in) == workload.records + 2 and not metrics.waiting

    job = session.sql(f"INSERT INTO sink {JOIN}").job
    assert job is not None
    [query] = session.spark.streams.active
    progress = follow(query, done)
    job.stop()
    return progress


def batch(session: tidemark.Session, workload: Workload) -> None:
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    numbers = session.spark.range(workload.left), session.spark.range(workload.versions)
    _register(session, workload, *(frame.withColumnRenamed("id", "n") for frame in numbers))
    rows: list[int] = []

    def insert() -> tuple[float, None]:
        started = time.perf_counter()
        job = session.sql(f"INSERT INTO sink {JOIN}").job
        assert job is not None
        job.wait()
        taken = time.perf_counter() - started
        rows.append(job.progress().rows_out)
        return taken, None

    answer_runs(twice(insert), agreed(rows), summed(session)[1])


def summed(session: tidemark.Session) -> tuple[int, int]:
    """The number of rows of the join, and the sum of the versions found."""
    sums = session.sql(JOIN).to_dataframe().selectExpr("count(*)", "sum(version)").first()
    assert sums is not None
    return sums[0], sums[1]


def _register(session: tidemark.Session, workload: Workload, orders: Any, versions: Any) -> None:
    """The tables, computed from their row numbers.

    A stream has one more row past each table's end, a day later and for an account that has no
    other rows. It advances the watermark past all the others.
    """

    def columns(count: int, key: str, milliseconds: str) -> tuple[str, str]:
        return (
            f"IF(n < {count}, {key}, -n)",
            f"timestamp_millis({milliseconds} + IF(n < {count}, 0, 86400000))",
        )

    account, time_ = columns(workload.left, workload.order_key("n"), workload.order_ms("n"))
    orders = orders.selectExpr("n", f"{account} AS account", f"{time_} AS order_time")
    account, time_ = columns(workload.versions, workload.version_key("n"), workload.version_ms("n"))
    register(
        session,
        orders,
        versions.selectExpr(f"{account} AS account", "n AS version", f"{time_} AS valid_from"),
    )


def register(session: tidemark.Session, orders: Any, versions: Any) -> None:
    """The tables of the join: n, account, order_time; account, version, valid_from."""
    session.register("orders", orders, watermark="order_time")
    session.register("versions", versions, watermark="valid_from", primary_key=["account"])


def _numbers(spark: Any, count: int) -> Any:
    source = spark.readStream.format("rate-micro-batch")
    source = source.option("rowsPerBatch", max(1, count // BATCHES))
    return source.load().where(f"value <= {count}").withColumnRenamed("value", "n")


if __name__ == "__main__":
    main()
