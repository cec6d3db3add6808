"""Rows that reach sinks and readers unchanged from an operator: they are passed on as Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

import tidemark

# Columns of each type, with values that are easily spoiled, and a row of nulls.
COLUMNS = {
    "a": ("BOOLEAN", "true"),
    "b": ("TINYINT", "-128Y"),
    "c": ("SMALLINT", "7S"),
    "d": ("INT", "-1"),
    "e": ("BIGINT", "9223372036854775807"),
    "f": ("FLOAT", "FLOAT('NaN')"),
    "g": ("DOUBLE", "-0.0D"),
    "h": ("DECIMAL(5, 2)", "-123.45"),
    "i": ("DECIMAL(18, 3)", "CAST(1.5 AS DECIMAL(18, 3))"),
    "j": ("DECIMAL(38, 10)", "CAST(-0.1 AS DECIMAL(38, 10))"),
    "k": ("STRING", "'ä, \\n\"x\"'"),
    "l": ("BYTES", "X'00ff'"),
    "m": ("DATE", "DATE'0044-03-15'"),
    "n": ("TIMESTAMP(6)", "TIMESTAMP_NTZ'1581-12-31 23:59:59.999999'"),
}
OTHERS = {
    "o": ("TIMESTAMP_LTZ(6)", "TIMESTAMP'1969-12-31 23:59:59.999999'"),
    "q": ("ARRAY<INT>", "array(1, NULL)"),
    "r": ("MAP<STRING, INT>", "map('x', NULL)"),
    "s": ("ROW<`my x` INT, y ARRAY<STRING>>", "struct(1 AS x, array('z') AS y)"),
}
JOIN = """FROM l JOIN r ON l.id = r.id
    AND r.ts BETWEEN l.ts - INTERVAL '1' SECOND AND l.ts + INTERVAL '1' SECOND"""


@pytest.fixture
def session(spark: SparkSession) -> Iterator[tidemark.Session]:
    with tidemark.connect(spark) as session:
        values = [f"{value} AS {name}" for name, (_, value) in (COLUMNS | OTHERS).items()]
        full = spark.range(1).selectExpr("id", "timestamp_millis(0) AS ts", *values)
        nothing = [
            f"CAST(NULL AS {f.dataType.simpleString()}) AS {f.name}" for f in full.schema[2:]
        ]
        empty = spark.range(1, 2).selectExpr("id", "timestamp_millis(1) AS ts", *nothing)
        session.register("l", full.union(empty), watermark="ts")
        session.register("r", full.union(empty).select("id", "ts"), watermark="ts")
        yield session


def ddl(columns: dict[str, tuple[str, str]]) -> str:
    return ", ".join(f"{name} {type_}" for name, (type_, _) in columns.items())


def insert(
    session: tidemark.Session, folder: Path, columns: dict[str, tuple[str, str]], more: str = ""
) -> list[Path]:
    name = folder.name
    session.sql(f"""
        CREATE TABLE {name} ({ddl(columns)}) WITH (
        'connector' = 'filesystem', 'path' = '{folder}', 'format' = 'parquet' {more})
    """)
    picked = ", ".join(f"l.{column}" for column in columns)
    job = session.sql(f"INSERT INTO {name} SELECT {picked} {JOIN}").job
    assert job is not None
    job.wait()
    assert job.progress().rows_out == 2
    assert not list(folder.glob(".staging*"))
    return sorted(folder.glob("part-*"))


def writers(files: list[Path]) -> set[str]:
    return {parquet.read_metadata(file).created_by.split()[0] for file in files}


def test_collected_rows_are_the_same_with_and_without_something_computed(
    session: tidemark.Session,
) -> None:
    picked = session.sql(f"SELECT l.* {JOIN}").to_arrow()
    computed = session.sql(f"SELECT l.*, l.d + 1 AS more {JOIN}").to_arrow()

    assert picked.schema == computed.schema.remove(len(picked.schema))
    # The rows contain a value that is not equal to itself.
    assert str(picked.to_pylist()) == str(computed.drop_columns("more").to_pylist())
    assert picked.num_rows == 2


def test_times_of_day_are_the_same_as_without_a_join(session: tidemark.Session) -> None:
    rows = session.spark.sql(
        "SELECT 0L AS id, timestamp_millis(0) AS ts, TIME'23:59:59.999999' AS t"
    )
    session.register("l", rows, watermark="ts")

    joined = session.sql(f"SELECT l.t {JOIN}").to_arrow()

    assert joined.equals(session.sql("SELECT t FROM l").to_arrow())
    assert joined.schema.field("t").type == pa.time64("us")


def test_files_written_by_workers_are_like_those_of_spark(
    session: tidemark.Session, tmp_path: Path
) -> None:
    ours = insert(session, tmp_path / "ours", COLUMNS)
    sparks = insert(session, tmp_path / "sparks", COLUMNS, ", 'parquet.compression' = 'LZ4'")

    assert (writers(ours), writers(sparks)) == ({"parquet-cpp-arrow"}, {"parquet-mr"})
    for file in ours:
        assert parquet.ParquetFile(file).schema.equals(parquet.ParquetFile(sparks[0]).schema)
        assert parquet.read_metadata(file).row_group(0).column(0).compression == "SNAPPY"
    rows = [
        sorted(str(row) for row in session.sql(f"SELECT * FROM {name}").rows())
        for name in ("ours", "sparks")
    ]
    assert rows[0] == rows[1]


def test_what_arrow_writes_otherwise_spark_writes(
    session: tidemark.Session, tmp_path: Path
) -> None:
    files = insert(session, tmp_path / "files", {**COLUMNS, "o": OTHERS["o"]})

    assert writers(files) == {"parquet-mr"}


def test_a_sink_without_rows_stays_empty(session: tidemark.Session, tmp_path: Path) -> None:
    session.sql(f"""
        CREATE TABLE files (d INT) WITH (
        'connector' = 'filesystem', 'path' = '{tmp_path}/files', 'format' = 'parquet')
    """)

    job = session.sql(f"INSERT INTO files SELECT l.d {JOIN} AND l.d > 5").job

    assert job is not None
    job.wait()
    assert job.progress().rows_out == 0
    assert list((tmp_path / "files").iterdir()) == []


def test_a_blackhole_counts_what_it_takes(session: tidemark.Session) -> None:
    session.sql("CREATE TABLE gone (d INT) WITH ('connector' = 'blackhole')")

    job = session.sql(f"INSERT INTO gone SELECT l.d {JOIN}").job

    assert job is not None
    job.wait()
    assert job.progress().rows_out == 2


def test_a_stream_starts_again_where_its_files_end(spark: SparkSession, tmp_path: Path) -> None:
    def run(*numbers: int) -> pa.Table:
        for number in numbers:
            at = f"timestamp_millis(CAST({number} * 1000 AS BIGINT)) AS ts"
            rows = spark.range(number, number + 1).selectExpr("id AS d", at)
            rows.coalesce(1).write.mode("append").parquet(str(tmp_path / "in"))
        with tidemark.connect(spark, checkpoint=tmp_path / "state") as session:
            for name in "lr":
                session.sql(f"""
                    CREATE TABLE {name} (d BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
                    'connector' = 'filesystem', 'path' = '{tmp_path}/in', 'format' = 'parquet')
                """)
            session.sql(f"""
                CREATE TABLE files (d BIGINT, e BIGINT) WITH (
                'connector' = 'filesystem', 'path' = '{tmp_path}/out', 'format' = 'parquet')
            """)
            job = session.sql("""
                INSERT INTO files SELECT l.d, r.d FROM l JOIN r ON l.d = r.d
                AND r.ts BETWEEN l.ts AND l.ts + INTERVAL '1' SECOND
            """).job
            assert job is not None
            job.wait()
        files = sorted((tmp_path / "out").glob("part-*"))
        assert writers(files) <= {"parquet-cpp-arrow"}
        return pa.concat_tables([parquet.read_table(file) for file in files])

    assert run(1, 2).sort_by("d").to_pydict() == {"d": [1, 2], "e": [1, 2]}
    # Its inputs have ended, so what comes then is late; nothing is written twice.
    assert run(3).sort_by("d").to_pydict() == {"d": [1, 2], "e": [1, 2]}


def test_a_batch_uses_all_cores_although_only_names_of_files_are_shuffled(spark):
    session = tidemark.connect(spark, options={"execution.runtime-mode": "batch"})
    session.register("t", spark.range(0, 1000, 1, 4))
    tracker = spark.sparkContext.statusTracker()
    before = set(tracker.getJobIdsForGroup(None))

    rows = session.sql("SELECT id % 10 AS k, COUNT(*) AS n FROM t GROUP BY id % 10").rows()

    assert sorted(row["n"] for row in rows) == [100] * 10
    last = max(set(tracker.getJobIdsForGroup(None)) - before)
    stages = sorted(tracker.getJobInfo(last).stageIds)
    assert tracker.getStageInfo(stages[-1]).numTasks == 2
