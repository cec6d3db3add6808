"""Windows on Tidemark: the table and the query that Flink has, as a stream or as one batch.

The stream gets all rows in its first micro-batch, keeps their windows in state, and emits them in
the next ones, when the table has ended. It writes a checkpoint. Its clock starts with the first
micro-batch: Spark is running by then, its Python workers are not. That of the batch starts with
the statement.
"""

from __future__ import annotations

import time
from tempfile import TemporaryDirectory
from typing import Any

import tidemark
from bench.engine import agreed, answer_runs, twice
from bench.progress import Progress, details, finished, seconds, totals
from bench.windows_workload import SINK, SUMS, Workload, parsed, table, window_table

OPERATOR = "window-aggregate-1"


def main() -> None:
    way, workload = parsed()
    with tidemark.connect(options={"execution.runtime-mode": "batch"}) as session:
        run = {"stream": streamed, "batch": in_batch}[way]
        rows: list[int] = []
        runs = twice(lambda: run(session.spark, workload, rows))
        counted, checksum = summed(session, workload)
        answer_runs(runs, agreed([*rows, counted]), checksum)


def streamed(spark: Any, workload: Workload, rows: list[int]) -> tuple[float, dict[str, Any]]:
    with TemporaryDirectory() as folder, tidemark.connect(spark, checkpoint=folder) as session:
        session.sql(table(workload))
        session.sql(SINK)
        job = session.sql(f"INSERT INTO sink {window_table(workload.kind)}").job
        assert job is not None
        progress = followed(session.spark, job)
    rows.append(totals(progress, OPERATOR).read().rows_out)
    return seconds(progress), details(progress, OPERATOR)


def followed(spark: Any, job: tidemark.Job) -> list[Progress]:
    """The micro-batches of a job. Another query of Spark's follows when the table has ended."""
    queries: dict[str, Any] = {}
    while job.state == "running":
        queries |= {query.runId: query for query in spark.streams.active}
        time.sleep(0.02)
    job.wait()
    return [report for query in queries.values() for report in finished(query)]


def in_batch(spark: Any, workload: Workload, rows: list[int]) -> tuple[float, None]:
    with tidemark.connect(spark) as session:
        session.sql(table(workload))
        session.sql(SINK)
        started = time.perf_counter()
        job = session.sql(f"INSERT INTO sink {window_table(workload.kind)}").job
        assert job is not None
        job.wait()
        taken = time.perf_counter() - started
    rows.append(job.progress().rows_out)
    return taken, None


def summed(session: tidemark.Session, workload: Workload) -> tuple[int, int]:
    """The number of windows, and the sum of their counts."""
    session.sql(table(workload))
    [row] = session.sql(f"SELECT {SUMS} FROM ({window_table(workload.kind)})").rows()
    windows, counted = row.values()
    return windows, counted


if __name__ == "__main__":
    main()
