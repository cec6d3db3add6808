"""Windows on Flink, through its SQL: everything runs in the JVM, nothing in Python.

By a window table function or by GROUP BY, each with mini-batch off and on. The seconds are the
job's own, without the start of its cluster. A separate job sums up the windows, so that the timed
ones only compute them.
"""

from __future__ import annotations

import os
import sys
from contextlib import closing
from typing import Any

from bench.engine import answer_runs, twice
from bench.flink.temporal_join import environment, inserted, set_mini_batch
from bench.windows_workload import (
    SINK,
    SUMS,
    Workload,
    group_window,
    parsed,
    table,
    window_table,
)

SPELLINGS = {"table": window_table, "group": group_window}


def main() -> None:
    os.environ.setdefault("PYFLINK_CLIENT_EXECUTABLE", sys.executable)
    way, workload = parsed()
    spelling, _, mini_batch = way.partition("-")
    tables = environment()
    create_tables(tables, workload)
    if mini_batch:
        set_mini_batch(tables)
    query = SPELLINGS[spelling](workload.kind)
    runs = twice(lambda: (inserted(tables, query), None))
    answer_runs(runs, *summed(tables, query))


def create_tables(tables: Any, workload: Workload) -> None:
    tables.execute_sql(SINK)
    tables.execute_sql(table(workload))


def summed(tables: Any, query: str) -> tuple[int, int]:
    """The number of windows, and the sum of their counts."""
    # One update of the two numbers for thousands of windows.
    set_mini_batch(tables)
    with closing(tables.execute_sql(f"SELECT {SUMS} FROM ({query})").collect()) as changes:
        *_, last = changes
    return last[0], last[1]


if __name__ == "__main__":
    main()
