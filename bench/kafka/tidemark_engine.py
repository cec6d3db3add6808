"""Tidemark on Spark with the settings a user has, over topics.

python -m bench.kafka.tidemark_engine backlog|live ...
"""

from __future__ import annotations

import tidemark
from bench.kafka.workload import BACKLOG, Target, attend, parsed
from bench.real_bytes.playing import play


def main() -> None:
    way, job, started = parsed()
    with tidemark.connect(checkpoint=job.folder / "checkpoint") as session:
        for table in job.tables(way):
            session.sql(table)

        def start(target: Target) -> tidemark.Job:
            session.sql(target.sink)
            inserting = session.sql(f"INSERT INTO {target.name} {job.asked.text}").job
            assert inserting is not None
            return inserting

        if way == BACKLOG:
            play(job.targets(way), started, lambda target: start(target).wait())
        else:
            running = start(*job.targets(way))
            # A job that has failed says why.
            attend(lambda: running.wait(0))
            running.stop()


if __name__ == "__main__":
    main()
