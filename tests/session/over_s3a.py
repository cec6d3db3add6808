"""What a user does with a bucket, in a process of its own: Spark must start with S3A's jars.

    python -m tests.session.over_s3a SETTINGS.json

It prints a line of JSON with the rows of each part.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyarrow import parquet

import tidemark
from tidemark.spark.settings import start
from tidemark.storage import Access, Location

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = """
    CREATE TABLE events (k STRING, n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
      'connector' = 'filesystem', 'format' = 'json', 'path' = 's3://bucket/events/*.json');
    CREATE TABLE whole (k STRING, n BIGINT, ts TIMESTAMP(3)) WITH (
      'connector' = 'filesystem', 'format' = 'parquet', 'path' = 's3a://bucket/whole');
    CREATE TABLE parted (n BIGINT, k STRING) PARTITIONED BY (k) WITH (
      'connector' = 'filesystem', 'format' = 'json', 'path' = 's3a://bucket/parted',
      'sink.partition-commit.policy.kind' = 'success-file');
    CREATE TABLE growing WITH ('path' = 's3a://bucket/growing', 'source.monitor-interval' = '1')
      LIKE events;
    CREATE TABLE sums (k STRING, start_of TIMESTAMP(3), total BIGINT) WITH (
      'connector' = 'filesystem', 'format' = 'parquet', 'path' = 's3a://bucket/sums');
"""
WRITES = """
    EXECUTE STATEMENT SET BEGIN
      INSERT INTO whole SELECT k, n, ts FROM events;
      INSERT INTO parted SELECT n, k FROM events;
    END
"""
SUMS = """
    INSERT INTO sums SELECT k, window_start, SUM(n)
    FROM TABLE(TUMBLE(TABLE growing, DESCRIPTOR(ts), INTERVAL '10' SECOND))
    GROUP BY k, window_start, window_end
"""


def main(settings: dict[str, str]) -> dict[str, Any]:
    spark = start({"spark.master": "local[2]", "spark.sql.shuffle.partitions": "2", **settings})
    try:
        return {**_tables(spark), **_restarts(spark, Access.of(settings))}
    finally:
        spark.stop()


def _tables(spark: SparkSession) -> dict[str, Any]:
    with tidemark.connect(spark) as session:
        session.sql(TABLES)
        session.sql(WRITES).job.wait()
        both = "SELECT 'whole' AS t, k, n FROM whole UNION ALL SELECT 'parted', k, n FROM parted"
        rows = session.sql(both).rows()
    return {t: sorted([r["k"], r["n"]] for r in rows if r["t"] == t) for t in ("whole", "parted")}


def _restarts(spark: SparkSession, access: Access) -> dict[str, Any]:
    """A job that is stopped in the middle of a window, and resumes elsewhere from its savepoint."""
    _add(access, "0", ("x", 1, 1))
    savepoint = _run(spark, "s3://bucket/checkpoint", {})
    before = _sums(access)
    _add(access, "1", ("x", 2, 2), ("x", 4, 11))
    _run(spark, "s3://bucket/elsewhere", {"execution.state-recovery.path": savepoint})
    return {"before": before, "after": _sums(access)}


def _add(access: Access, name: str, *rows: tuple[str, int, int]) -> None:
    lines = [json.dumps({"k": k, "n": n, "ts": f"2024-01-01 00:00:{s:02}"}) for k, n, s in rows]
    Location.of(f"s3://bucket/growing/{name}.json", access).write("\n".join(lines).encode())


def _run(spark: SparkSession, checkpoint: str, options: dict[str, str]) -> str:
    """Let the job work through what is there; its savepoint."""
    options = {"pipeline.max-parallelism": "2", **options}
    with tidemark.connect(spark, options=options, checkpoint=checkpoint) as session:
        session.sql(TABLES)
        job = session.sql(SUMS).job
        [query] = session.spark.streams.active
        query.processAllAvailable()
        return job.stop_with_savepoint("s3://bucket/savepoints")


def _sums(access: Access) -> list[list[Any]]:
    folder = Location.of("s3://bucket/sums", access)
    tables = [
        parquet.read_table((folder / found.name).input())
        for found in folder.files()
        if found.name.startswith("part-")
    ]
    return sorted([row["k"], row["total"]] for table in tables for row in table.to_pylist())


if __name__ == "__main__":
    print(json.dumps(main(json.loads(Path(sys.argv[1]).read_text()))))
