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
    return StreamRun(query, lambda: fetcher.rows, diagnose, fetcher.ended, lambda: fetcher.problem)


class _Fetcher:
    def __init__(
        self, spark: SparkSession, prefix: str, consume: Callable[[DataFrame, int], int]
    ) -> None:
        self.rows = 0
        self.ended = threading.Event()
        self.problem: Exception | None = None
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
        except Exception as problem:
            # Nobody else sees this thread; the run tells it as its own failure.
            self.problem = problem
            query.stop()
        finally:
            self.ended.set()

    def _fetch(self, query: StreamingQuery) -> bool:
        """Take all batches that have come since the last time.

        Spark keeps the latest reports only, so batches between are asked for too. A report may
        also name a batch that has not run yet, while the stream is idle: it is left for later.
        """
        reported = [report["batchId"] for report in query.recentProgress]
        if not reported:
            return False
        first = min(reported) if self._done < 0 else self._done + 1
        took = False
        for batch_id in range(first, max(reported) + 1):
            view = f"{self._prefix}_{batch_id}"
            if not self._spark.catalog.tableExists(f"global_temp.{view}"):
                break
            self.rows += self._consume(self._spark.table(f"global_temp.{view}"), batch_id)
            self._spark.catalog.dropGlobalTempView(view)
            self._done, took = batch_id, True
        return took
