"""What a worker's exception says to the person whose job it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tidemark.errors import DataError, JobError, TidemarkError
from tidemark.session.failures import diagnose


def failure_of(
    spark: SparkSession, task: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
) -> TidemarkError:
    with pytest.raises(PySparkException) as raised:
        spark.range(1).mapInArrow(task, "id BIGINT").collect()
    return diagnose(raised.value)


def test_an_error_of_ours_arrives_whole(spark: SparkSession) -> None:
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


def test_a_function_of_the_users_that_fails(spark: SparkSession) -> None:
    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        raise KeyError("price")

    assert str(failure_of(spark, task)) == "a Python function failed: KeyError: 'price'"
