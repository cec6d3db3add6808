"""What an engine's process is asked: a query over topics, once or live.

Only the standard library is imported here, so that the interpreter with Flink can load it too.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from select import select

from bench.processes import cpu_seconds, used_since
from bench.real_bytes import queries
from bench.real_bytes.query import Query, Wanted
from bench.real_bytes.tables import TABLES
from bench.real_bytes.workload import Case

PARTITIONS = 4
BACKLOG, LIVE = "backlog", "live"
_WANTED = Wanted(warm=2.0, cold=1.0)
QUERIES = {
    name: replace(queries.QUERIES[name], wanted=_WANTED)
    for name in ("copy", "tumbling", "temporal-join")
}
# Orders of a backlog are out of order by less than this; live ones are not.
_DELAY_S = {BACKLOG: 5, LIVE: 0}
# The same tables for both engines. Live, both deliver exactly once.
_BOUNDED = ", 'scan.bounded.mode' = 'latest-offset'"
_ONCE = (
    ", 'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '{topic}'"
    ", 'properties.transaction.timeout.ms' = '600000'"
)


@dataclass(frozen=True)
class Backlog(Case):
    """A query over a backlog of JSON records."""

    format: str = "json"
    files: int = PARTITIONS
    mode: str = "stream"

    @property
    def asked(self) -> Query:
        return QUERIES[self.query]

    def __str__(self) -> str:
        return self.query


@dataclass(frozen=True)
class Job:
    """A query for an engine's process: the topics that it reads, and those that it may write."""

    query: str
    brokers: str
    orders: str
    rates: str
    # The topics for the rows of each run; empty where rows are discarded.
    results: tuple[str, ...]
    # Where checkpoints may be.
    folder: Path
    # Flink's connector.
    jars: tuple[Path, ...] = ()

    @property
    def asked(self) -> Query:
        return QUERIES[self.query]

    def arguments(self) -> list[str]:
        """The command line that `parsed` understands; the time of the start is now."""
        return [
            f"--query={self.query}",
            f"--brokers={self.brokers}",
            f"--orders={self.orders}",
            f"--rates={self.rates}",
            *(f"--result={topic}" for topic in self.results),
            f"--folder={self.folder}",
            *(f"--jar={jar}" for jar in self.jars),
            f"--started={time.time()}",
        ]

    def tables(self, way: str) -> Iterator[str]:
        """The statements before the query."""
        topics = {"orders": self.orders, "rates": self.rates}
        bounded = _BOUNDED if way == BACKLOG else ""
        for name in self.asked.tables:
            schema = TABLES[name].schema(_DELAY_S[way])
            options = (self._table if name == "orders" else self._upserts)(topics[name])
            yield f"CREATE TABLE {name} ({schema})\nWITH ({options}{bounded})"

    def targets(self, way: str) -> list[Target]:
        """A sink for each run."""
        return [self._target(number, topic, way) for number, topic in enumerate(self.results)]

    def _target(self, number: int, topic: str, way: str) -> Target:
        name, columns = f"result_{number}", self.asked.columns
        if not topic:
            return Target(name, f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'blackhole')")
        once = _ONCE.format(topic=topic) if way == LIVE else ""
        options = f"'connector' = 'kafka', 'format' = 'json', {self._topic(topic)}{once}"
        return Target(name, f"CREATE TABLE {name} ({columns}) WITH ({options})")

    def _table(self, topic: str) -> str:
        start = "'scan.startup.mode' = 'earliest-offset'"
        return f"'connector' = 'kafka', 'format' = 'json', {start}, {self._topic(topic)}"

    def _upserts(self, topic: str) -> str:
        """A table with a primary key, the newest value of which is in the topic."""
        formats = "'key.format' = 'json', 'value.format' = 'json'"
        return f"'connector' = 'upsert-kafka', {formats}, {self._topic(topic)}"

    def _topic(self, topic: str) -> str:
        return f"'topic' = '{topic}', 'properties.bootstrap.servers' = '{self.brokers}'"


@dataclass(frozen=True)
class Target:
    """The table that the rows of a run go to, and the statement that creates it."""

    name: str
    sink: str


def parsed(command_line: Sequence[str] | None = None) -> tuple[str, Job, float]:
    """The way to run, the job and when the process was started."""
    parser = argparse.ArgumentParser()
    parser.add_argument("way", choices=(BACKLOG, LIVE))
    parser.add_argument("--query", choices=QUERIES, required=True)
    for name in ("brokers", "orders", "rates"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--result", action="append", required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--jar", type=Path, action="append", default=[])
    parser.add_argument("--started", type=float, required=True)
    found = parser.parse_args(command_line)
    topics = (found.brokers, found.orders, found.rates, tuple(found.result))
    return found.way, Job(found.query, *topics, found.folder, tuple(found.jar)), found.started


def attend(has_ended: Callable[[], bool]) -> None:
    """Let a live job run. Answers with the CPU seconds between the two lines that it is sent."""
    _next_line(has_ended)
    before = cpu_seconds()
    _next_line(has_ended)
    print(json.dumps(used_since(before)), flush=True)


def _next_line(has_ended: Callable[[], bool]) -> None:
    while not select([sys.stdin], [], [], 1.0)[0]:
        if has_ended():
            raise SystemExit("the live job has ended early")
    sys.stdin.readline()
