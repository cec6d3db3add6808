"""Streams fed by hand: every call adds rows to a source and waits until they are processed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming.query import StreamingQuery

from tidemark.spark.stateful.end_of_input import announce_end, end_folder_ready, with_watermark
from tidemark.spark.stateful.metrics import OperatorMetrics, Totals, reports_of


@dataclass
class Streams:
    """Sources of (key, seconds, payload) in a folder each, and the query that reads them.

    Columns of the source `x` are `x_key`, `x_ts` and `x_payload`.
    """

    spark: SparkSession
    folder: Path
    names: tuple[str, ...]
    readings: int = 1  # how often each micro-batch is read
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    totals: dict[str, Totals] = field(default_factory=dict)
    _files: int = 0
    _query: StreamingQuery | None = None

    def __post_init__(self) -> None:
        for name in self.names:
            (self.folder / name).mkdir()
            end_folder_ready(self.spark, self._end(name))

    def read(self, name: str) -> DataFrame:
        source = self.spark.readStream.schema("key STRING, seconds LONG, payload INT")
        columns = source.json(str(self.folder / name)).select(
            f.col("key").alias(f"{name}_key"),
            f.timestamp_seconds("seconds").alias(f"{name}_ts"),
            f.col("payload").alias(f"{name}_payload"),
            f.timestamp_seconds("seconds").alias("_tm_watermark"),
        )
        return with_watermark(columns, "_tm_watermark", self._end(name)).drop("_tm_watermark")

    def start(self, build: Callable[[Streams], DataFrame]) -> None:
        """Start the query, or start it again where it was stopped."""

        def collect(batch: DataFrame, number: int) -> None:
            for _ in range(self.readings):
                self.rows += [tuple(row) for row in batch.collect()]

        writer = build(self).writeStream.option("checkpointLocation", str(self.folder / "state"))
        self._query = writer.foreachBatch(collect).start()

    def add(self, **rows: str) -> list[tuple[Any, ...]]:
        """Rows per source, as "key seconds payload", separated by commas; gives what came out."""
        for name, text in rows.items():
            lines = []
            for row in text.split(","):
                key, seconds, payload = row.split()
                lines.append({"key": key, "seconds": int(seconds), "payload": int(payload)})
            self._files += 1
            hidden = self.folder / name / f".{self._files:03}.json"
            hidden.write_text("\n".join(map(json.dumps, lines)))
            hidden.rename(self.folder / name / f"{self._files:03}.json")
        return self._processed()

    def end(self) -> list[tuple[Any, ...]]:
        for name in self.names:
            announce_end(self.spark, self._end(name))
        return self._processed()

    def stop(self) -> None:
        assert self._query is not None
        for progress in self._query.recentProgress:
            for operator, reports in reports_of(json.loads(progress.json)).items():
                self.totals.setdefault(operator, Totals()).add(reports)
        self._query.stop()

    def metrics(self, operator: str) -> OperatorMetrics:
        return self.totals[operator].read()

    def _processed(self) -> list[tuple[Any, ...]]:
        assert self._query is not None
        before = len(self.rows)
        self._query.processAllAvailable()
        return sorted(self.rows[before:], key=repr)

    def _end(self, name: str) -> str:
        return str(self.folder / f"end-{name}")
