"""Queries over files on Flink, through its SQL: everything runs in the JVM, nothing in Python.

Flink gets what suits it: state on the heap, object reuse, a gigabyte of managed memory.

python -m bench.flink.real_bytes batch|streaming ...
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.real_bytes.playing import Start, play, play_all
from bench.real_bytes.workload import Job, Target, parsed, runs

_CHECKPOINT_EVERY = "10 s"


def main() -> None:
    os.environ.setdefault("PYFLINK_CLIENT_EXECUTABLE", sys.executable)
    way, jobs, started = parsed()
    play_all(jobs, started, lambda job, start: _play(way, job, start))


def _play(way: str, job: Job, start: Start) -> None:
    checkpoint = job.results / "checkpoint" if job.case.mode == "stream" else None
    tables = tables_of(way, job.jars, checkpoint)
    for table in job.tables():
        tables.execute_sql(table)

    def run(target: Target) -> None:
        tables.execute_sql(target.sink)
        tables.execute_sql(f"INSERT INTO {target.name} {job.case.asked.text}").wait()

    play(runs(job), start, run)


def tables_of(
    mode: str, jars: Sequence[Path], checkpoint: Path | None, every: str = _CHECKPOINT_EVERY
) -> Any:
    """Tables in batch or streaming mode, with checkpoints if there is a folder for them."""
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
    if jars:
        configuration.set_string("pipeline.jars", ";".join(jar.as_uri() for jar in jars))
    if checkpoint is not None:
        configuration.set_string("execution.checkpointing.interval", every)
        configuration.set_string("execution.checkpointing.dir", checkpoint.as_uri())
    settings = EnvironmentSettings.new_instance().with_configuration(configuration)
    chosen = settings.in_batch_mode() if mode == "batch" else settings.in_streaming_mode()
    return TableEnvironment.create(chosen.build())


if __name__ == "__main__":
    main()
