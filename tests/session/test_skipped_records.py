"""Records that a table leaves out because errors are ignored are counted by the job."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import tidemark
from tidemark.session.result import JobResult

JSON = ('{"a":1}', "broken", "[1]", '{"a":"x"}', '[{"a":2},{"a":3}]', "")
INSERT = '{"before":null,"after":{"a":1,"s":"x"},"op":"c"}'
DEBEZIUM = (INSERT, "broken", '{"op":"?"}', INSERT, "")
CANAL = (
    '{"type":"INSERT","data":[{"a":1,"s":"x"},{"a":2,"s":"y"}]}',
    '{"type":"CREATE"}',
    '{"type":"INSERT","data":[]}',
    '{"type":"INSERT"}',
    "broken",
)
CSV = ("1,x", "2,x,y,z", "", "4,x", '3,"')


def job_of(spark: SparkSession, folder: Path, format_: str, mode: str) -> JobResult:
    session = tidemark.connect(spark)
    result = session.sql(f"""
        SET 'execution.runtime-mode' = '{mode}';
        CREATE TABLE made (a INT, s STRING) WITH ('connector' = 'filesystem', 'path' = '{folder}',
            'format' = '{format_}', '{format_}.ignore-parse-errors' = 'true');
        CREATE TABLE nowhere (a INT, s STRING) WITH ('connector' = 'blackhole');
        INSERT INTO nowhere SELECT * FROM made
    """)
    assert isinstance(result, JobResult)
    result.wait()
    return result


@pytest.mark.parametrize(
    ("format_", "lines", "good"),
    [("json", JSON, 4), ("csv", CSV, 3), ("debezium-json", DEBEZIUM, 2), ("canal-json", CANAL, 2)],
)
def test_a_batch_counts_the_records_that_it_skips(
    spark: SparkSession, tmp_path: Path, format_: str, lines: tuple[str, ...], good: int
) -> None:
    (tmp_path / "f").write_text("".join(f"{line}\n" for line in lines))
    progress = job_of(spark, tmp_path, format_, "batch").job.progress()

    assert (progress.rows_out, progress.skipped) == (good, 2)


def test_a_stream_counts_the_records_that_it_skips(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "f").write_text("".join(f"{line}\n" for line in JSON))
    with tidemark.connect(spark, checkpoint=tmp_path / "checkpoint") as session:
        result = session.sql(f"""
            CREATE TABLE made (a INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/in',
                'format' = 'json', 'json.ignore-parse-errors' = 'true');
            CREATE TABLE nowhere (a INT) WITH ('connector' = 'blackhole');
            INSERT INTO nowhere SELECT * FROM made
        """)
        assert isinstance(result, JobResult)
        result.wait()
        progress = result.job.progress()

    assert (progress.rows_out, progress.skipped) == (4, 2)
