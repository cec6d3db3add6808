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
from tests.waiting import wait_until
from tidemark.plan.nodes import Sink
from tidemark.spark.progress import Progress, Reports

Build = Callable[[SparkSession, Path], dict[str, DataFrame]]
# The micro-batches after the one that reads a row: the watermark that it brings reaches the operators
# in the next one, and those above them in another.
_BATCHES_AFTER = 2


@dataclass(frozen=True, slots=True)
class _Running:
    """A query, and the folder of its checkpoint."""

    query: StreamingQuery
    place: Path
    ticks: bool

    def wait(self, file: str) -> None:
        """Until nothing more comes out because of a file. Of a query that looks at the clock each
        second, Spark may never see the end, as its next micro-batch is due when one has ended."""
        if not self.ticks:
            self.query.processAllAvailable()
            return
        wait_until(
            lambda: self._batches_since(file) > _BATCHES_AFTER,
            alive=lambda: self.query.isActive,
        )

    def _batches_since(self, file: str) -> int:
        """How many have ended, from the one on that has read the file."""
        read = self._number_of(file)
        if read is None:
            return 0
        source, number = read
        ended = [int(commit.name) for commit in (self.place / "commits").glob("[0-9]*")]
        return sum(self._offset(batch, source) >= number for batch in ended)

    def _number_of(self, file: str) -> tuple[int, int] | None:
        """Which source has taken the file, with which number."""
        for log in self.place.glob("sources/*/[0-9]*"):
            if any(f'{file}"' in line and f'"batchId":{log.stem}' in line for line in _lines(log)):
                return int(log.parent.name), int(log.stem)
        return None

    def _offset(self, batch: int, source: int) -> int:
        _version, _settings, *offsets = _lines(self.place / "offsets" / str(batch))
        return -1 if offsets[source] == "-" else int(json.loads(offsets[source])["logOffset"])


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines()


def _reads_ticks(frame: DataFrame) -> bool:
    return "RateStreamProvider" in frame._jdf.logicalPlan().toString()


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
    _queries: list[_Running] = field(default_factory=list)

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
            query = writer.foreachBatch(partial(self._collect, name)).start()
            self._queries.append(_Running(query, place, ticks=_reads_ticks(frame)))

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
        for running in self._queries:
            running.query.stop()
        self._queries.clear()

    def step(self, table: str, row: dict[str, Any]) -> str:
        """What comes out when the row arrives."""
        before = len(self.came_out)
        self._rows += 1
        hidden = self.folder / table / f".{self._rows:03}"
        hidden.write_text(json.dumps(row) + "\n")
        hidden.rename(self.folder / table / f"{self._rows:03}.json")
        for running in self._queries:
            running.wait(f"{table}/{self._rows:03}.json")
        return ", ".join(sorted(self.came_out[before:]))

    def progress(self) -> Progress:
        """How far the watermark has come, and what the operators keep."""
        [running] = self._queries
        self.reports.take(running.query.recentProgress)
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
