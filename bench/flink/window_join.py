"""The window join on Flink, through its SQL: everything runs in the JVM, nothing in Python.

The seconds are the job's own, without the start of its cluster; a second job counts the rows.
"""

from __future__ import annotations

import os
import sys

from bench.engine import answer_runs, twice
from bench.flink.interval_join import counted, create_tables, inserted
from bench.flink.temporal_join import environment
from bench.interval_join_workload import parsed
from bench.window_join_workload import JOIN


def main() -> None:
    os.environ.setdefault("PYFLINK_CLIENT_EXECUTABLE", sys.executable)
    _, workload = parsed()
    tables = environment()
    create_tables(tables, workload)
    runs = twice(lambda: (inserted(tables, JOIN), None))
    answer_runs(runs, counted(tables, JOIN))


if __name__ == "__main__":
    main()
