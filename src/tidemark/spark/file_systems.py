"""Access to the file systems that a Spark session reads and writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from tidemark.spark.remote import is_remote
from tidemark.storage import Access

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# What Scala puts between the key and the value of a pair, and what we put between pairs.
_TO: Final = " -> "
_BETWEEN: Final = "\x1e"


def access_of(spark: SparkSession) -> Access:
    """With the same settings, so that users need not set them twice."""
    return Access.of(_settings(spark))


def _settings(spark: SparkSession) -> Mapping[str, str]:
    if is_remote(spark):
        settings: dict[str, str] = spark.conf.getAll
        return settings
    # PySpark would ask Java for each of some hundred settings.
    pairs = spark._jsparkSession.conf().getAll().mkString(_BETWEEN).split(_BETWEEN)
    return dict(pair.split(_TO, 1) for pair in pairs)
