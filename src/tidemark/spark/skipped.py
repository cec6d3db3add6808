"""Records that sources skip because they cannot be read: a job counts them, lest they vanish."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation

SKIPPED = "tidemark-skipped-"
_RECORDS = "records"


def counting(data: DataFrame, condition: str, observation: Observation | None) -> DataFrame:
    """The same rows; those for which the condition holds are counted, in a batch by an
    `observation`, in a stream in its progress."""
    from pyspark.sql import functions as f

    where = observation or f"{SKIPPED}{uuid.uuid4().hex[:8]}"
    return data.observe(where, f.count_if(f.expr(condition)).alias(_RECORDS))


def skipped_in(metrics: Mapping[str, Mapping[str, Any]]) -> int:
    """How many records a batch has skipped, by the observed metrics of its query."""
    return sum(row[_RECORDS] for name, row in metrics.items() if name.startswith(SKIPPED))


def skipped_of(observations: Mapping[str, Observation]) -> int:
    """How many records a plan has skipped that ran as a batch."""
    found = 0
    for name, observation in observations.items():
        if name.startswith(SKIPPED):
            try:
                found += observation.get[_RECORDS]
            except Exception:
                # Spark has found that the source need not be read, and fails to say so.
                continue
    return found
