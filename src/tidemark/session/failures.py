"""What the failure of a job means: a bad record, a value that cannot be, or Spark's own words."""

from __future__ import annotations

from tidemark.connectors.records import data_error_from
from tidemark.errors import TidemarkError
from tidemark.spark.failures import translate


def diagnose(failure: BaseException) -> TidemarkError:
    return data_error_from(failure) or translate(failure)
