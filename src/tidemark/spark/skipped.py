"""Counts the records that sources skip because they cannot be read, so that they do not vanish
unnoticed.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation

SKIPPED = "tidemark-skipped-"
_RECORDS = "records"


def counting(data: DataFrame, condition: str, observation: Observation | None) -> DataFrame:
    """The same rows, counting those for which the condition holds: in a batch with an
    `observation`, in a stream in its progress.
    """
    from pyspark.sql import functions as f

    where = observation or f"{SKIPPED}{uuid.uuid4().hex[:8]}"
    return data.observe(where, f.count_if(f.expr(condition)).alias(_RECORDS))


def skipped_in(metrics: Mapping[str, Mapping[str, Any]]) -> int:
    """How many records a batch has skipped, from the observed metrics of its query."""
    return sum(row[_RECORDS] for name, row in metrics.items() if name.startswith(SKIPPED))


def skipped_of(observations: Mapping[str, Observation]) -> int:
    """How many records a plan that ran as a batch has skipped."""
    found = 0
    for name, observation in observations.items():
        if name.startswith(SKIPPED):
            try:
                found += observation.get[_RECORDS]
            except Exception:
                # Spark has found that the source need not be read, and fails without saying so.
                continue
    return found
