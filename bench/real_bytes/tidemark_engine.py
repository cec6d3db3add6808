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
    options = {"execution.runtime-mode": job.case.mode}
    with tidemark.connect(options=options, engine=ENGINES[way]) as session:
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
