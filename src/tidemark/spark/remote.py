"""Batches of a streaming query on a Spark Connect server, brought to the client.

The function that a stream calls for each batch runs on the server there, so it can only leave the
batch behind under a global name; the client fetches it by that name and takes it away.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING

from tidemark.spark.jobs import Diagnose, StreamRun

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import DataStreamWriter, StreamingQuery

POLL_SECONDS = 0.05


def is_remote(spark: SparkSession) -> bool:
    """Whether the session is a Spark Connect client."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def fetching_run(
    spark: SparkSession,
    writer: DataStreamWriter,
    consume: Callable[[DataFrame, int], int],
    diagnose: Diagnose,
) -> StreamRun:
    """Start the stream; `consume` is called on the client for every batch."""
    prefix = f"tidemark_{uuid.uuid4().hex}"

    def leave(data: DataFrame, batch_id: int) -> None:
        data.localCheckpoint(eager=True).createOrReplaceGlobalTempView(f"{prefix}_{batch_id}")

    fetcher = _Fetcher(spark, prefix, consume)
    query = writer.foreachBatch(leave).start()
    fetcher.start(query)
    return StreamRun(query, lambda: fetcher.rows, diagnose, ended=fetcher.ended)


class _Fetcher:
    def __init__(
        self, spark: SparkSession, prefix: str, consume: Callable[[DataFrame, int], int]
    ) -> None:
        self.rows = 0
        self.ended = threading.Event()
        self._spark = spark
        self._prefix = prefix
        self._consume = consume
        self._done = -1

    def start(self, query: StreamingQuery) -> None:
        threading.Thread(target=self._work, args=(query,), name=self._prefix, daemon=True).start()

    def _work(self, query: StreamingQuery) -> None:
        try:
            while query.isActive:
                if not self._fetch(query):
                    time.sleep(POLL_SECONDS)
            self._fetch(query)
        finally:
            self.ended.set()

    def _fetch(self, query: StreamingQuery) -> bool:
        """Take all batches that have come since the last time."""
        finished = [report["batchId"] for report in query.recentProgress]
        new = [batch_id for batch_id in dict.fromkeys(finished) if batch_id > self._done]
        for batch_id in new:
            view = f"{self._prefix}_{batch_id}"
            if self._spark.catalog.tableExists(f"global_temp.{view}"):
                self.rows += self._consume(self._spark.table(f"global_temp.{view}"), batch_id)
                self._spark.catalog.dropGlobalTempView(view)
            self._done = batch_id
        return bool(new)
