"""Tidemark with the settings a user has: on Spark, or in the process itself.

python -m bench.real_bytes.tidemark_engine spark|local|steps ...

With `steps` it runs on Spark, and workers measure the steps of what they do.
"""

from __future__ import annotations

import os
from typing import Any, Literal

import tidemark
from bench.real_bytes.playing import Start, play, play_all
from bench.real_bytes.steps import FOLDER, collected
from bench.real_bytes.workload import Job, Target, parsed, runs

ENGINES: dict[str, Literal["spark", "local"]] = {
    "spark": "spark",
    "local": "local",
    "steps": "spark",
}
_MEASURED = {"spark.python.daemon.module": "bench.real_bytes.steps_daemon"}
# How many micro-batches a stream of many files has.
_MICRO_BATCHES = 10


def main() -> None:
    way, jobs, started = parsed()
    # One Spark for several jobs.
    spark = tidemark.connect().spark if len(jobs) > 1 and ENGINES[way] == "spark" else None
    play_all(jobs, started, lambda job, start: _play(way, job, start, spark))


def _play(way: str, job: Job, start: Start, spark: Any) -> None:
    mode = "batch" if job.case.mode == "batch" else "streaming"
    # A job for each target, which all start from the beginning.
    checkpoint = job.results / "checkpoint" if mode == "streaming" else None
    steps = job.results / "steps" if way == "steps" else None
    if steps is not None:
        steps.mkdir(parents=True)
        os.environ[FOLDER] = str(steps)
    with tidemark.connect(
        spark,
        options={"execution.runtime-mode": mode},
        spark_config=_MEASURED if steps else None,
        checkpoint=checkpoint,
        engine=ENGINES[way],
    ) as session:
        most = -(-job.case.files // _MICRO_BATCHES)
        divided = mode == "streaming" and job.case.files > 1
        limit = f", 'source.max-files-per-batch' = '{most}'" if divided else ""
        for table in job.tables(limit):
            session.sql(table)

        def run(target: Target) -> dict[str, float] | None:
            session.sql(target.sink)
            inserting = session.sql(f"INSERT INTO {target.name} {job.case.asked.text}").job
            assert inserting is not None
            inserting.wait()
            return None if steps is None else collected(steps)

        play(runs(job), start, run)


if __name__ == "__main__":
    main()
