"""Tidemark with the settings a user has: on Spark, or in the process itself.

python -m bench.real_bytes.tidemark_engine spark|local ...
"""

from __future__ import annotations

from typing import Literal

import tidemark
from bench.real_bytes.playing import play
from bench.real_bytes.workload import Target, parsed

ENGINES: dict[str, Literal["spark", "local"]] = {"spark": "spark", "local": "local"}


def main() -> None:
    way, job, started = parsed()
    mode = "batch" if job.case.mode == "batch" else "streaming"
    # A job for each target, which all start from the beginning.
    checkpoint = job.results / "checkpoint" if mode == "streaming" else None
    options = {"execution.runtime-mode": mode}
    with tidemark.connect(options=options, checkpoint=checkpoint, engine=ENGINES[way]) as session:
        for table in job.tables():
            session.sql(table)

        def run(target: Target) -> None:
            session.sql(target.sink)
            inserting = session.sql(f"INSERT INTO {target.name} {job.case.asked.text}").job
            assert inserting is not None
            inserting.wait()

        play(job, started, run)


if __name__ == "__main__":
    main()
