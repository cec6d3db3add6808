"""Queries over files on Flink, through its SQL: everything runs in the JVM, nothing in Python.

Flink gets what suits it: state on the heap, object reuse, a gigabyte of managed memory.

python -m bench.flink.real_bytes batch|streaming ...
"""

from __future__ import annotations

import os
import sys
from typing import Any

from bench.real_bytes.playing import play
from bench.real_bytes.workload import Target, parsed


def main() -> None:
    os.environ.setdefault("PYFLINK_CLIENT_EXECUTABLE", sys.executable)
    way, job, started = parsed()
    tables = environment(way)
    for table in job.tables():
        tables.execute_sql(table)

    def run(target: Target) -> None:
        tables.execute_sql(target.sink)
        tables.execute_sql(f"INSERT INTO {target.name} {job.case.asked.text}").wait()

    play(job, started, run)


def environment(mode: str) -> Any:
    from pyflink.common import Configuration
    from pyflink.table import EnvironmentSettings, TableEnvironment

    configuration = Configuration()
    for key, value in {
        "parallelism.default": str(os.cpu_count()),
        "state.backend.type": "hashmap",
        "pipeline.object-reuse": "true",
        "table.local-time-zone": "UTC",
        "taskmanager.memory.managed.size": "1g",
    }.items():
        configuration.set_string(key, value)
    settings = EnvironmentSettings.new_instance().with_configuration(configuration)
    chosen = settings.in_batch_mode() if mode == "batch" else settings.in_streaming_mode()
    return TableEnvironment.create(chosen.build())


if __name__ == "__main__":
    main()
