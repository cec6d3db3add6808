"""Failures in what Spark calls for each micro-batch."""

from __future__ import annotations

import pytest
from pyspark.errors import StreamingQueryException

from tidemark.errors import DataError
from tidemark.spark.deliveries import failing_in_words
from tidemark.spark.failures import translate

CALL = "py4j.protocol.Py4JJavaError: An error occurred while calling o7.save."
LONG = f"{CALL}\n" + "\tat org.example.Some.method(Some.java)\n" * 5_000


def failure_of(spark, tmp_path, problem: Exception) -> StreamingQueryException | None:
    """That of a query whose first micro-batch fails so."""

    def deliver(data, batch):
        raise problem

    rows = spark.readStream.format("rate").load()
    writer = rows.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
    query = writer.foreachBatch(failing_in_words(deliver)).start()
    try:
        with pytest.raises(StreamingQueryException):
            query.awaitTermination(60)
    finally:
        query.stop()
    return query.exception()


def test_a_long_failure_does_not_look_like_success(spark, tmp_path):
    failed = failure_of(spark, tmp_path, RuntimeError(LONG))
    assert failed is not None
    assert "Spark failed in o7.save." in str(failed)


def test_an_error_for_users_stays_one(spark, tmp_path):
    problem = DataError("a.json  is damaged", notes={"record": "7"}, hint="look at it")
    problem.__cause__ = RuntimeError(LONG)
    failed = failure_of(spark, tmp_path, problem)
    assert failed is not None

    error = translate(failed)

    assert isinstance(error, DataError)
    assert (error.message, error.notes, error.hint) == (
        "a.json  is damaged",
        {"record": "7"},
        "look at it",
    )


def test_an_interruption_is_taken_for_one(spark, tmp_path):
    def deliver(data, batch):
        query.stop()
        raise RuntimeError(f"{LONG}Caused by: java.lang.InterruptedException\n{LONG}")

    rows = spark.readStream.format("rate").load()
    writer = rows.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
    query = writer.foreachBatch(failing_in_words(deliver)).start()
    query.awaitTermination(60)

    assert not query.isActive
    assert query.exception() is None
