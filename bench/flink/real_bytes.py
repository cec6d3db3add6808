"""Queries over files on Flink, through its SQL: everything runs in the JVM, nothing in Python.

Flink gets what suits it: state on the heap, object reuse, a gigabyte of managed memory.

python -m bench.flink.real_bytes batch|streaming ...
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from bench.real_bytes.playing import play
from bench.real_bytes.workload import Target, parsed

_CHECKPOINT_EVERY = "10 s"


def main() -> None:
    os.environ.setdefault("PYFLINK_CLIENT_EXECUTABLE", sys.executable)
    way, job, started = parsed()
    kept = job.results / "checkpoint" if job.case.mode == "stream" else None
    tables = environment(way, kept)
    for table in job.tables():
        tables.execute_sql(table)

    def run(target: Target) -> None:
        tables.execute_sql(target.sink)
        tables.execute_sql(f"INSERT INTO {target.name} {job.case.asked.text}").wait()

    play(job, started, run)


def environment(mode: str, checkpoint: Path | None) -> Any:
    """Tables in batch or streaming mode; with a folder for checkpoints if they are wanted."""
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
    if checkpoint is not None:
        configuration.set_string("execution.checkpointing.interval", _CHECKPOINT_EVERY)
        configuration.set_string("execution.checkpointing.dir", checkpoint.as_uri())
    settings = EnvironmentSettings.new_instance().with_configuration(configuration)
    chosen = settings.in_batch_mode() if mode == "batch" else settings.in_streaming_mode()
    return TableEnvironment.create(chosen.build())


if __name__ == "__main__":
    main()
