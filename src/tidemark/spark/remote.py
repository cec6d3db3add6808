"""Batches of a streaming query on a Spark Connect server, brought to the client.

The function that a stream calls for each batch runs on the server, so it can only register the
batch under a global name; the client fetches it by that name and removes it.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import DataStreamWriter, StreamingQuery

POLL_SECONDS = 0.05
# How often a stream is started anew when a busy server could not start its Python in time.
STARTS = 5

_LOG = logging.getLogger(__name__)


def is_remote(spark: SparkSession) -> bool:
    """Whether the session is a Spark Connect client."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def start_on_server(writer: DataStreamWriter) -> StreamingQuery:
    """Start a stream whose batches Python consumes on the server.

    Spark gives that Python ten seconds to connect, which no option changes. On a machine that is
    busy starting Spark they can be too few; the query has not begun then, so it starts again.
    """
    for attempt in range(1, STARTS):
        try:
            return writer.start()
        except Exception as problem:
            if "Python worker failed to connect back" not in str(problem):
                raise
            _LOG.warning("the server's Python did not start in time, attempt %d", attempt)
    return writer.start()


class Fetcher:
    """Brings the batches of one streaming query to the client, in order, each once."""

    def __init__(self, spark: SparkSession, consume: Callable[[DataFrame, int], None]) -> None:
        self.ended = threading.Event()
        self.problem: Exception | None = None
        self._spark = spark
        self._prefix = f"tidemark_{uuid.uuid4().hex}"
        self._consume = consume
        self._done = -1

    def start(self, writer: DataStreamWriter) -> StreamingQuery:
        """Start the stream; `consume` is called on the client for every batch."""
        prefix = self._prefix

        def leave(data: DataFrame, batch_id: int) -> None:
            data.localCheckpoint(eager=True).createOrReplaceGlobalTempView(f"{prefix}_{batch_id}")

        query = start_on_server(writer.foreachBatch(leave))
        threading.Thread(target=self._work, args=(query,), name=prefix, daemon=True).start()
        return query

    def _work(self, query: StreamingQuery) -> None:
        try:
            while query.isActive:
                if not self.fetch(query):
                    time.sleep(POLL_SECONDS)
            self.fetch(query)
        except Exception as problem:
            # Nobody else sees this thread; the run reports it as its own failure.
            self.problem = problem
            # The server may be gone, which is what the first problem says.
            with contextlib.suppress(Exception):
                query.stop()
        finally:
            self.ended.set()

    def fetch(self, query: StreamingQuery) -> bool:
        """Fetch all batches since the last call.

        Spark only keeps the latest reports, so batches between are requested too. A report may also
        name a batch that has not run yet, while the stream is idle: it is left for later.
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
            self._consume(self._spark.table(f"global_temp.{view}"), batch_id)
            self._spark.catalog.dropGlobalTempView(view)
            self._done, took = batch_id, True
        return took
