"""Rows that are computed once, for several consumers."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@contextmanager
def computed_once(data: DataFrame, batch_id: int | None) -> Iterator[None]:
    """Spark keeps the rows that it computes, until the end."""
    with _micro_batch(data) if batch_id is not None else _whole(data):
        yield


@contextmanager
def _micro_batch(data: DataFrame) -> Iterator[None]:
    data.persist()
    try:
        yield
    finally:
        data.unpersist()


@contextmanager
def _whole(data: DataFrame) -> Iterator[None]:
    """A session is active in the threads of streams, but not in that of a batch. `persist()` would
    compare the plan of the rows with others that are cached, under Spark's default settings, which
    refuse the TIME type. SQL brings the settings of its session.
    """
    spark = data.sparkSession
    view = f"tidemark_{uuid.uuid4().hex}"
    data.createTempView(view)
    try:
        spark.sql(f"CACHE LAZY TABLE {view}")
        yield
    finally:
        # The rows are dropped with it.
        spark.sql(f"DROP VIEW {view}")
