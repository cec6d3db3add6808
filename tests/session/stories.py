"""Joins step by step: a row arrives, a micro-batch runs, and the test looks at what has changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

import tidemark
from tidemark.plan.nodes import Sink
from tidemark.spark.progress import Progress, Reports

Build = Callable[[SparkSession, Path], dict[str, DataFrame]]


@dataclass
class Story:
    """Queries over tables into which one row after another is put. What comes out of one of several
    says of which: of a statement set, which table it is for."""

    spark: SparkSession
    folder: Path
    tables: tuple[str, ...]
    came_out: list[str] = field(default_factory=list)
    reports: Reports = field(default_factory=Reports)
    _rows: int = 0
    _queries: list[StreamingQuery] = field(default_factory=list)

    def begin(self, script: str | Build) -> None:
        """Run the script's last statement, as it runs for a user who takes it as a DataFrame; or
        what is built of a folder with a folder for each table, by name."""
        for table in self.tables:
            (self.folder / table).mkdir()
        self.go_on(script)

    def go_on(self, script: str | Build) -> None:
        """Run it from where it was ended."""
        for name, frame in self._frames(script):
            place = self.folder / f"state {name}"
            writer = frame.writeStream.option("checkpointLocation", str(place))
            self._queries.append(writer.foreachBatch(partial(self._collect, name)).start())

    def _frames(self, script: str | Build) -> list[tuple[str, DataFrame]]:
        if callable(script):
            return list(script(self.spark, self.folder).items())
        session = tidemark.connect(self.spark)
        text = script.replace("{folder}", str(self.folder))
        plan = session.workspace.plan_script(text)[-1].plan
        assert plan is not None
        roots = plan.of_single_roots.roots
        names = [f"{node.table.name}:" if isinstance(node, Sink) else "" for node in roots]
        return list(zip(names, map(session.dataframe, roots), strict=True))

    def _collect(self, name: str, batch: DataFrame, _: int) -> None:
        rows = [[name] * bool(name) + [_text(value) for value in row] for row in batch.collect()]
        self.came_out += [" ".join(row) for row in rows]

    def end(self) -> None:
        for query in self._queries:
            query.stop()
        self._queries.clear()

    def step(self, table: str, row: dict[str, Any]) -> str:
        """What comes out when the row arrives."""
        before = len(self.came_out)
        self._rows += 1
        hidden = self.folder / table / f".{self._rows:03}"
        hidden.write_text(json.dumps(row) + "\n")
        hidden.rename(self.folder / table / f"{self._rows:03}.json")
        for query in self._queries:
            query.processAllAvailable()
        return ", ".join(sorted(self.came_out[before:]))

    def progress(self) -> Progress:
        """How far the watermark has come, and what the operators keep."""
        [query] = self._queries
        self.reports.take(query.recentProgress)
        return self.reports.progress(len(self.came_out), 0)


def _text(value: object) -> str:
    return "-" if value is None else str(value)


# A table of one story, whose rows are written `id who points`.
POINTS = (
    "CREATE TABLE ev (id INT, who STRING, points INT) WITH ('connector' = 'filesystem', "
    "'path' = '{folder}/ev', 'format' = 'json', 'source.monitor-interval' = '1');\n"
)


def points(text: str) -> dict[str, Any]:
    id_, who, number = text.split()
    return {"id": int(id_), "who": who, "points": int(number)}


def what_came(story: Story, came: str) -> str:
    return came


def goes_as_told(
    story: Story,
    script: str | Build,
    text: str,
    row: Callable[[str], dict[str, Any]],
    seen: Callable[[Story, str], str] = what_came,
) -> None:
    """Tell the story of a table: each line is a row that arrives, and what is `seen` then: by
    default what comes out; or `restart`, after which the script goes on from its checkpoint.
    """
    story.begin(script)
    for table, arrives, expected in table_of(text):
        if table == "restart":
            story.end()
            story.go_on(script)
        else:
            found = seen(story, story.step(table, row(arrives)))
            assert found == expected, f"when {table} {arrives} came: {found!r}"


def table_of(story: str) -> list[list[str]]:
    """The cells of a story's lines, without its header and the rule below."""
    lines = [line for line in story.strip().splitlines() if line.strip()]
    return [[cell.strip() for cell in line.split("|")] for line in lines[2:]]
