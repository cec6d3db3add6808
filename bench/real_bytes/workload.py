"""One case of the measurement: a query, the files it reads and the mode, as an engine's process
gets it on its command line.

Only the standard library is imported here, so that the interpreter with Flink can load it too.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.real_bytes.every import EVERY
from bench.real_bytes.query import Query
from bench.real_bytes.tables import PARTS_OF, TABLES

FORMATS = ("json", "csv", "parquet")
# The format of rates that come as events.
EVENTS = "debezium-json"
MODES = ("batch", "stream")
# The times of all orders and rates are within it.
SPAN_S = 50
# Orders of one file are out of order by less than this.
_DELAY_S = 5


@dataclass(frozen=True)
class Case:
    """A query over tables in so many files each."""

    query: str
    format: str
    files: int
    mode: str

    @property
    def asked(self) -> Query:
        return EVERY[self.query]

    @property
    def tables(self) -> tuple[str, ...]:
        return PARTS_OF.get((self.format, self.asked.tables), self.asked.tables)

    def format_of(self, table: str) -> str:
        return EVENTS if table == "rates" and self.asked.events else self.format

    @property
    def delay_s(self) -> int:
        """How far the watermark is behind. Flink reads files in any order, several at a time: with
        more than one, only a watermark behind all of them makes no row late."""
        return _DELAY_S if self.files == 1 else SPAN_S + 2 * _DELAY_S

    @property
    def comparable(self) -> bool:
        """Whether engines can write the rows into files that must be the same."""
        return self.asked.certain != () and (self.mode == "batch" or not self.asked.updating)

    def __str__(self) -> str:
        return f"{self.query}, {self.format}, {self.files} file{'s'[: self.files - 1]}, {self.mode}"


@dataclass(frozen=True)
class Job:
    """A case for an engine's process: where the files are, and where it may write."""

    case: Case
    # A folder for each table, format and number of files.
    data: Path
    results: Path
    # Whether to run once more, into files that can be compared.
    checked: bool
    # What Flink lacks for the format.
    jars: tuple[Path, ...] = ()

    def arguments(self) -> list[str]:
        """The command line that `parsed` understands; the time of the start is now."""
        case = self.case
        return [
            f"--query={case.query}",
            f"--format={case.format}",
            f"--files={case.files}",
            f"--mode={case.mode}",
            f"--data={self.data}",
            f"--results={self.results}",
            f"--checked={int(self.checked)}",
            *(f"--jar={jar}" for jar in self.jars),
            f"--started={time.time()}",
        ]

    def arguments_of_all(self, others: Sequence[Job]) -> list[str]:
        """The same for several jobs that differ in their queries, one after the other."""
        jobs = (self, *others)
        usual = [a for a in self.arguments() if not a.startswith(("--query=", "--checked="))]
        queries = (job.case.query for job in jobs)
        checked = (str(int(job.checked)) for job in jobs)
        return ["--query", *queries, "--checked", *checked, *usual]

    def tables(self, options: str = "") -> Iterator[str]:
        """The statements before the query, with further options of tables for an engine."""
        for name in self.case.tables:
            yield (
                f"CREATE TABLE {name} ({TABLES[name].schema(self.case.delay_s)})\n"
                f"WITH ({files(self.folder_of(name), self.case.format_of(name))}{options})"
            )
            yield from TABLES[name].views
        yield from self.case.asked.before

    def folder_of(self, table: str) -> Path:
        return self.data / folder_name(table, self.case.format_of(table), self.case.files)


def folder_name(table: str, format_: str, files: int) -> str:
    return f"{table}-{format_}-{files}"


def files(folder: Path, format_: str) -> str:
    return f"'connector' = 'filesystem', 'path' = '{folder}', 'format' = '{format_}'"


@dataclass(frozen=True)
class Target:
    """Where the rows of one run go: to files of a folder, or nowhere."""

    name: str
    query: Query
    folder: Path | None = None
    format: str = "json"

    @property
    def sink(self) -> str:
        """The statement that creates it as a table."""
        query = self.query
        if self.folder is None:
            return f"CREATE TABLE {self.name} ({query.columns}) WITH ('connector' = 'blackhole')"
        more = query.sink_options if query.written else ""
        return (
            f"CREATE TABLE {self.name} ({query.columns}) {query.partitioned}\n"
            f"WITH ({files(self.folder, self.format)}{more})"
        )


def targets(job: Job) -> tuple[Target, Target, Target]:
    """Those of the cold and the warm run, and of the one whose rows are compared."""
    query = job.case.asked

    def target(name: str, *, kept: bool) -> Target:
        format_ = (query.written_format or job.case.format) if query.written else "json"
        return Target(name, query, job.results / name if kept else None, format_)

    names = ("cold", "warm")
    cold, warm = (target(name, kept=query.written) for name in names)
    return cold, warm, warm if query.written else target("compared", kept=True)


def runs(job: Job) -> list[Target]:
    """The targets that the job needs."""
    cold, warm, compared = targets(job)
    return [cold, warm, *([compared] if job.checked and compared is not warm else [])]


def parsed(command_line: Sequence[str] | None = None) -> tuple[str, list[Job], float]:
    """The way to run, the jobs and when the process was started."""
    parser = argparse.ArgumentParser()
    parser.add_argument("way")
    parser.add_argument("--query", choices=EVERY, nargs="+", required=True)
    parser.add_argument("--format", required=True)
    parser.add_argument("--files", type=int, required=True)
    parser.add_argument("--mode", choices=MODES, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--checked", type=int, nargs="+", required=True)
    parser.add_argument("--jar", type=Path, action="append", default=[])
    parser.add_argument("--started", type=float, required=True)
    found = parser.parse_args(command_line)
    several = len(found.query) > 1
    jobs = [
        Job(
            Case(query, found.format, found.files, found.mode),
            found.data,
            found.results / query if several else found.results,
            bool(checked),
            tuple(found.jar),
        )
        for query, checked in zip(found.query, found.checked, strict=True)
    ]
    return found.way, jobs, found.started
