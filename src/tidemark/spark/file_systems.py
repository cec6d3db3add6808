"""Access to the file systems that a Spark session reads and writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.storage import Access

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def access_of(spark: SparkSession) -> Access:
    """With the same settings, so that users need not set them twice."""
    return Access.of(spark.conf.getAll)
