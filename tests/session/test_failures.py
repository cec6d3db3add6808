"""What a worker's exception says to the person whose job it ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator

import pyarrow as pa
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tidemark.errors import DataError, JobError, TidemarkError
from tidemark.session.failures import diagnose


def failure_of(
    spark: SparkSession, task: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
) -> TidemarkError:
    with pytest.raises((PySparkException, Py4JJavaError)) as raised:
        spark.range(1).mapInArrow(task, "id BIGINT").collect()
    return diagnose(raised.value)


def test_a_tidemark_error_from_a_worker_arrives_complete(spark: SparkSession) -> None:
    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        notes = {"column": "ts", "row": {"n": 1, "ts": None}}
        raise DataError("the time of a row is null", notes=notes, hint="filter such rows: WHERE ts")

    failure = failure_of(spark, task)

    assert type(failure) is DataError
    assert str(failure) == (
        "the time of a row is null\n"
        "  column: ts\n"
        "  row: {'n': 1, 'ts': None}\n"
        "  hint: filter such rows: WHERE ts"
    )
    assert failure.hint == "filter such rows: WHERE ts"


def test_one_without_details_and_one_that_another_caused(spark: SparkSession) -> None:
    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            raise DataError("inner", hint="not this")
        except DataError as inner:
            raise JobError("outer") from inner

    failure = failure_of(spark, task)

    assert (type(failure), str(failure)) == (JobError, "outer")


READING = "Encountered error while reading file file:///data/a%20b/x.parquet."


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            f"[FAILED_READ_FILE.NO_HINT] {READING}  SQLSTATE: KD001\n\tat a.B(C.scala:1)\n"
            "Caused by: java.lang.RuntimeException: file:/data/a b/x.parquet is not a Parquet file. "
            "Expected magic number at tail, but found [108, 100, 10, 10]\n\tat d.E(F.java:2)\n",
            "it is not a Parquet file. Expected magic number at tail",
        ),
        (
            f"[FAILED_READ_FILE.NO_HINT] {READING}  SQLSTATE: KD001\n\tat a.B(C.scala:1)\n"
            "Caused by: java.io.IOException: while reading\n"
            "Caused by: java.io.EOFException\n\tat d.E(F.java:2)\n",
            "EOFException",
        ),
        (
            f"[FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH] {READING} Data type mismatches "
            "when reading Parquet column [a]. Expected Spark type int, actual Parquet type INT64. "
            "SQLSTATE: KD001\nCaused by: x.Unsupported: column: [a]\n",
            "Data type mismatches when reading Parquet column [a]. Expected Spark type int, actual "
            "Parquet type INT64.",
        ),
    ],
    ids=("not parquet", "cut off", "another type"),
)
def test_a_file_that_cannot_be_read_is_named_with_the_deepest_reason(
    said: str, reason: str
) -> None:
    failure = diagnose(RuntimeError(f"An error occurred.\n: org.apache.SparkException: {said}"))

    assert (type(failure), failure.message) == (
        DataError,
        "/data/a b/x.parquet  cannot read the file",
    )
    assert failure.notes == {"why": reason}


def test_a_task_that_failed_in_java_is_explained_by_what_ended_it() -> None:
    failure = diagnose(
        RuntimeError(
            "An error occurred while calling o33.save.\n: org.apache.spark.SparkException: Job "
            "aborted due to stage failure: Task 0 in stage 0.0 failed 1 times, most recent failure: "
            "Lost task 0.0 in stage 0.0 (TID 0) (127.0.0.1 executor driver): "
            "java.lang.ArrayIndexOutOfBoundsException: Index 9 out of bounds for length 3\n\tat a.B"
        )
    )

    assert (type(failure), failure.message) == (
        JobError,
        "the job failed: java.lang.ArrayIndexOutOfBoundsException: Index 9 out of bounds for length 3",
    )


def test_a_worker_without_tidemark_is_told_apart_from_functions_that_fail() -> None:
    failure = diagnose(
        RuntimeError(
            "Traceback (most recent call last):\n  File worker.py, line 1, in read_command\n"
            "ModuleNotFoundError: No module named 'tidemark'\n"
        )
    )

    assert failure.message == "a worker's Python has no package tidemark"
    assert failure.hint is not None
    assert "tidemark pack" in failure.hint


def test_a_failure_that_cannot_be_explained_is_still_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(failure: BaseException) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr("tidemark.session.failures.data_error_from", explode)
    failure = diagnose(RuntimeError("stage failure"))

    assert (type(failure), failure.message) == (JobError, "the job failed: stage failure")
    assert failure.notes == {"looking for the reason failed": "RecursionError: too deep"}


def test_a_function_of_the_users_that_fails(spark: SparkSession) -> None:
    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        raise KeyError("price")

    assert str(failure_of(spark, task)) == "a Python function failed: KeyError: 'price'"


def test_a_worker_that_is_killed(spark: SparkSession) -> None:
    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        os.kill(os.getpid(), signal.SIGKILL)
        yield from batches

    failure = failure_of(spark, task)

    assert failure.message == "a Python worker of Spark crashed, or was killed"
    assert "memory" in (failure.hint or "")


@pytest.mark.parametrize(
    ("said", "scheme"),
    [
        ('UnsupportedFileSystemException: No FileSystem for scheme "ftpx"', "ftpx"),
        ("ClassNotFoundException: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found", "s3a"),
    ],
)
def test_a_file_system_that_spark_does_not_know_is_named(said: str, scheme: str) -> None:
    found = diagnose(RuntimeError(f"An error occurred while calling o1.load.\n: {said}\n\tat x"))

    assert found.message == f"Spark knows no file system '{scheme}://'"
    assert "jars" in (found.hint or "")


def test_a_failed_call_into_spark_is_reported_with_sparks_message() -> None:
    said = (
        "Traceback (most recent call last):\n"
        "py4j.protocol.Py4JJavaError: An error occurred while calling o814.save.\n"
        ": org.apache.spark.SparkException: [CANNOT_COMMIT] Cannot commit state. SQLSTATE: 58030\n"
    )

    assert diagnose(RuntimeError(said)).message == "the job failed: Cannot commit state."
