"""Workers that are started with Spark, while the driver still plans."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql import SparkSession


def start_workers(spark: SparkSession) -> None:
    """Start the daemon of Python workers, which takes a second or two, and a worker for each core.

    This goes on in the background while a first query is planned. If it fails, so will the first
    query that needs workers, which says why.
    """
    frame = spark.range(0, 2, 1, spark.sparkContext.defaultParallelism)
    frame = frame.mapInArrow(_load, "id BIGINT")

    def run() -> None:
        with suppress(Exception):
            frame.write.format("noop").mode("overwrite").save()

    Thread(target=run, name="tidemark-workers", daemon=True).start()


def _load(batches: Iterable[RecordBatch]) -> Iterator[RecordBatch]:
    # It starts threads, so the daemon cannot load it for all.
    importlib.import_module("polars")
    yield from batches
