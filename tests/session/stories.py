"""Joins told step by step: one row arrives, a micro-batch runs, and one looks at what has changed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

import tidemark
from tidemark.spark.progress import Progress, Reports


@dataclass
class Story:
    """A query over tables into which one row after another is put."""

    spark: SparkSession
    folder: Path
    tables: tuple[str, ...]
    came_out: list[str] = field(default_factory=list)
    reports: Reports = field(default_factory=Reports)
    _rows: int = 0
    _query: StreamingQuery | None = None

    def begin(self, script: str) -> None:
        """Run the script's last query, as it runs for a user who takes it as a DataFrame."""
        for table in self.tables:
            (self.folder / table).mkdir()
        session = tidemark.connect(self.spark)
        frame = session.sql(script.replace("{folder}", str(self.folder))).to_dataframe()

        def collect(batch: DataFrame, _: int) -> None:
            self.came_out += [" ".join(map(_text, row)) for row in batch.collect()]

        writer = frame.writeStream.option("checkpointLocation", str(self.folder / "state"))
        self._query = writer.foreachBatch(collect).start()

    def end(self) -> None:
        if self._query is not None:
            self._query.stop()

    def step(self, table: str, row: dict[str, Any]) -> str:
        """What comes out when the row arrives."""
        assert self._query is not None
        before = len(self.came_out)
        self._rows += 1
        hidden = self.folder / table / f".{self._rows:03}"
        hidden.write_text(json.dumps(row) + "\n")
        hidden.rename(self.folder / table / f"{self._rows:03}.json")
        self._query.processAllAvailable()
        return ", ".join(sorted(self.came_out[before:]))

    def progress(self) -> Progress:
        """How far the watermark has come, and what the operators keep."""
        assert self._query is not None
        self.reports.take(self._query.recentProgress)
        return self.reports.progress(len(self.came_out), 0)


def _text(value: object) -> str:
    return "-" if value is None else str(value)


def table_of(story: str) -> list[list[str]]:
    """The cells of a story's lines, without its header and the rule below."""
    lines = [line for line in story.strip().splitlines() if line.strip()]
    return [[cell.strip() for cell in line.split("|")] for line in lines[2:]]
