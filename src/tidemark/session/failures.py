"""Why a job failed: a bad record, an invalid value, or Spark's own message."""

from __future__ import annotations

from tidemark.connectors.records import data_error_from
from tidemark.errors import JobError, TidemarkError
from tidemark.spark.ended_java import ended_java
from tidemark.spark.failures import translate


def diagnose(failure: BaseException) -> TidemarkError:
    try:
        return ended_java(failure) or data_error_from(failure) or translate(failure)
    except Exception as another:
        # A failed job must not look successful because its failure could not be explained.
        notes = {"looking for the reason failed": f"{type(another).__name__}: {another}"}
        return JobError(f"the job failed: {failure}", notes=notes)
