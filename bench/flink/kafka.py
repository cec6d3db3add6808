"""Queries over topics on Flink, through its SQL and its Kafka connector.

Flink gets what suits it: state on the heap, object reuse, a gigabyte of managed memory.

python -m bench.flink.kafka backlog|live ...
"""

from __future__ import annotations

import os
import sys
from typing import Any

from bench.flink.real_bytes import tables_of
from bench.kafka.workload import BACKLOG, Target, attend, parsed
from bench.real_bytes.playing import play

# Live, rows are visible to readers with the checkpoint that follows them.
_CHECKPOINT_EVERY = {"backlog": "10 s", "live": "1 s"}


def main() -> None:
    os.environ.setdefault("PYFLINK_CLIENT_EXECUTABLE", sys.executable)
    way, job, started = parsed()
    tables = tables_of("streaming", job.jars, job.folder / "checkpoint", _CHECKPOINT_EVERY[way])
    for table in job.tables(way):
        tables.execute_sql(table)

    def start(target: Target) -> Any:
        tables.execute_sql(target.sink)
        return tables.execute_sql(f"INSERT INTO {target.name} {job.asked.text}")

    if way == BACKLOG:
        play(job.targets(way), started, lambda target: start(target).wait())
    else:
        running = start(*job.targets(way))
        client = running.get_job_client()
        attend(lambda: client.get_job_status().result().is_globally_terminal_state())
        client.cancel().result()


if __name__ == "__main__":
    main()
