"""The temporal join on Flink, through its SQL: everything runs in the JVM, nothing in Python.

The job gets what suits Flink: state on the heap, no checkpoints, object reuse. The seconds are the
job's own, without the start of its cluster. A separate job counts the rows of the join, so that the
timed ones only do the join.
"""

from __future__ import annotations

import os
import sys
from contextlib import closing
from typing import Any

from bench.engine import answer_runs, twice
from bench.temporal_join_workload import JOIN, Workload, parsed, sequence, sink


def main() -> None:
    os.environ.setdefault("PYFLINK_CLIENT_EXECUTABLE", sys.executable)
    _, workload = parsed()
    tables = environment()
    create_tables(tables, workload)
    runs = twice(lambda: (inserted(tables, JOIN), None))
    answer_runs(runs, *counted(tables))


def inserted(tables: Any, query: str) -> float:
    """The seconds of a query into a sink that discards rows."""
    client = tables.execute_sql(f"INSERT INTO sink {query}").get_job_client()
    milliseconds: int = client.get_job_execution_result().result().get_net_runtime()
    return milliseconds / 1000


def environment() -> Any:
    from pyflink.common import Configuration
    from pyflink.datastream import StreamExecutionEnvironment
    from pyflink.table import StreamTableEnvironment

    configuration = Configuration()
    settings = {
        "parallelism.default": str(os.cpu_count()),
        "state.backend.type": "hashmap",
        "pipeline.object-reuse": "true",
        "table.local-time-zone": "UTC",
    }
    for key, value in settings.items():
        configuration.set_string(key, value)
    streams = StreamExecutionEnvironment.get_execution_environment(configuration)
    return StreamTableEnvironment.create(streams)


def create_tables(tables: Any, workload: Workload) -> None:
    from pyflink.table import Schema

    tables.execute_sql(sink(digits=3))
    tables.execute_sql(
        f"""CREATE TABLE orders (
          n BIGINT NOT NULL,
          account AS {workload.order_key("n")},
          order_time AS TO_TIMESTAMP_LTZ({workload.order_ms("n")}, 3),
          WATERMARK FOR order_time AS order_time
        ) WITH ({sequence(workload.left)})"""
    )
    tables.execute_sql(
        f"""CREATE TABLE numbers (
          n BIGINT NOT NULL,
          account AS {workload.version_key("n")},
          valid_from AS TO_TIMESTAMP_LTZ({workload.version_ms("n")}, 3)
        ) WITH ({sequence(workload.versions)})"""
    )
    # Flink does not allow a computed column in a primary key, but does allow a DataStream's column.
    rows = tables.sql_query("SELECT account, n AS version, valid_from FROM numbers")
    schema = (
        Schema.new_builder()
        .column("account", "BIGINT NOT NULL")
        .column("version", "BIGINT")
        .column("valid_from", "TIMESTAMP_LTZ(3)")
        .watermark("valid_from", "valid_from")
        .primary_key("account")
        .build()
    )
    tables.create_temporary_view("versions", tables.to_data_stream(rows), schema)


def set_mini_batch(tables: Any) -> None:
    for key, value in {
        "table.exec.mini-batch.enabled": "true",
        "table.exec.mini-batch.allow-latency": "5 s",
        "table.exec.mini-batch.size": "50000",
    }.items():
        tables.get_config().set(key, value)


def counted(tables: Any) -> tuple[int, int]:
    """The number of rows in the join's result, and the sum of their versions."""
    # One update of the two numbers for thousands of rows.
    set_mini_batch(tables)
    result = tables.execute_sql(f"SELECT COUNT(*), SUM(version) FROM ({JOIN})")
    with closing(result.collect()) as changes:
        *_, last = changes
    return last[0], last[1]


if __name__ == "__main__":
    main()
