"""What the failure of a job means: a bad record, a value that cannot be, or Spark's own words."""

from __future__ import annotations

from tidemark.connectors.records import data_error_from
from tidemark.errors import JobError, TidemarkError
from tidemark.spark.failures import translate


def diagnose(failure: BaseException) -> TidemarkError:
    try:
        return data_error_from(failure) or translate(failure)
    except Exception as another:
        # A job that failed must not seem to have ended well because nobody could say why.
        notes = {"looking for the reason failed": f"{type(another).__name__}: {another}"}
        return JobError(f"the job failed: {failure}", notes=notes)
