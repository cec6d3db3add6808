"""Makes the checkpoint that later versions must be able to resume from:
`python -m tests.session.make_checkpoint`.

Run it when the format of checkpoints changes, and keep those of the formats before; and on each
version of Spark, between which a job can move.
"""

from __future__ import annotations

import json
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from tidemark.spark.settings import start

from .moving import MovingJob

FOLDER = Path(__file__).parent / "checkpoints"
KEYS = range(5)
QUERY = (
    "SELECT k, SUM(n) AS n FROM (SELECT a.k, a.v + b.v AS n FROM a"
    " JOIN b FOR SYSTEM_TIME AS OF a.ts ON a.k = b.k WHERE a.k >= 0) GROUP BY k"
)
# Its values are lists in format 1, and rows of tables in format 3.
OF_VALUES = (
    "SELECT MAX(n) AS most, MIN(n) AS least, COUNT(DISTINCT n) AS sums"
    " FROM (SELECT k, SUM(v) AS n FROM a GROUP BY k)"
)

# Until format 4, a clock is one of the sources of a job that keeps state for a time.
FOR_A_TIME = "SELECT k, SUM(v) AS n FROM a GROUP BY k"
CENTURY = {"table.exec.state.ttl": "36500 d"}


def made_by(format_: int, spark: str, name: str = "") -> Path:
    return FOLDER / f"{name}format-{format_}-spark-{spark}.tar.gz"


def main() -> None:
    spark = start({"spark.master": "local[2]", "spark.sql.shuffle.partitions": "2"})
    with tempfile.TemporaryDirectory() as folder:
        job = MovingJob(spark, Path(folder), QUERY)
        job.options = {"pipeline.max-parallelism": "4"}
        # Versions of all keys, an order of each that has come out, and one that waits.
        rates, first = [(k, 200, 1) for k in KEYS], [(k, k, 2) for k in KEYS]
        job.step(2, a=first, b=rates)
        job.step(2, a=[(k, 10, 4) for k in KEYS], b=[(-1, 0, 3)])
        _archive(job, spark)
    with tempfile.TemporaryDirectory() as folder:
        job = MovingJob(spark, Path(folder), OF_VALUES)
        job.options = {"pipeline.max-parallelism": "4"}
        job.step(2, a=[(k, 10 * (k // 2), 1) for k in KEYS])
        job.step(2, a=[(0, 1, 2)])
        _archive(job, spark, "values-")
    with tempfile.TemporaryDirectory() as folder:
        job = MovingJob(spark, Path(folder), FOR_A_TIME)
        job.options = {"pipeline.max-parallelism": "4", **CENTURY}
        job.step(2, a=[(k, 10, 1) for k in KEYS])
        _archive(job, spark, "ttl-")
    spark.stop()


def _archive(job: MovingJob, spark: Any, name: str = "") -> None:
    FOLDER.mkdir(exist_ok=True)
    contract = json.loads((job.checkpoint / "job" / "contract.json").read_text())
    made = made_by(contract["format"], spark.version.rpartition(".")[0], name)
    with tarfile.open(made, "w:gz") as archive:
        archive.add(job.checkpoint, "checkpoint")
    print(f"{made}: {made.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
