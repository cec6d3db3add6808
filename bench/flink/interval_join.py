"""The interval join on Flink, through its SQL: everything runs in the JVM, nothing in Python.

The seconds are the job's own, without the start of its cluster. A second job counts the rows, so
that the timed one only does the join.
"""

from __future__ import annotations

import os
import sys
from contextlib import closing
from typing import Any

from bench.engine import answer_runs, twice
from bench.flink.temporal_join import environment
from bench.interval_join_workload import JOIN, Workload, parsed, sink


def main() -> None:
    os.environ.setdefault("PYFLINK_CLIENT_EXECUTABLE", sys.executable)
    _, workload = parsed()
    tables = environment()
    create_tables(tables, workload)
    runs = twice(lambda: (inserted(tables), None))
    answer_runs(runs, counted(tables))


def inserted(tables: Any, join: str = JOIN) -> float:
    client = tables.execute_sql(f"INSERT INTO sink {join}").get_job_client()
    return float(client.get_job_execution_result().result().get_net_runtime() / 1000)


def create_tables(tables: Any, workload: Workload) -> None:
    tables.execute_sql(sink(digits=3))
    for name, key in (("l", workload.left_key), ("r", workload.right_key)):
        # Numbers as fast as they can be consumed; neighbors come from different tasks.
        tables.execute_sql(
            f"""CREATE TABLE {name} (
              n BIGINT NOT NULL,
              account AS {key("n")},
              ts AS TO_TIMESTAMP_LTZ({workload.milliseconds("n")}, 3),
              WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
            ) WITH ('connector' = 'datagen', 'rows-per-second' = '1000000000',
              'fields.n.kind' = 'sequence', 'fields.n.start' = '0',
              'fields.n.end' = '{workload.rows - 1}')"""
        )


def counted(tables: Any, join: str = JOIN) -> int:
    """The number of rows in the join's result."""
    for key, value in {
        "table.exec.mini-batch.enabled": "true",
        "table.exec.mini-batch.allow-latency": "5 s",
        "table.exec.mini-batch.size": "50000",
    }.items():
        tables.get_config().set(key, value)
    with closing(tables.execute_sql(f"SELECT COUNT(*) FROM ({join})").collect()) as changes:
        *_, last = changes
    return int(last[0])


if __name__ == "__main__":
    main()
