"""What a sink has: its rows, whether all of them are there, and what is compared."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chaos.data import ENDS, is_result
from chaos.patience import answer_of
from servers.kafka import Broker
from servers.postgres import Postgres

Row = dict[str, Any]


@dataclass(frozen=True)
class Sink:
    """Reads a sink's rows. Each has a key, by which the rows of the end are known."""

    rows: Callable[[], list[Row]]
    key: str = "k"

    def contents(self) -> Counter[str]:
        """The rows that are compared, in no order."""
        compared = [row for row in self.rows() if is_result(row[self.key])]
        return Counter(json.dumps(row, sort_keys=True, default=str) for row in compared)

    def is_complete(self) -> bool:
        return {row[self.key] for row in self.rows()} >= ENDS


def json_folder(folder: Path) -> Sink:
    return Sink(lambda: [json.loads(line) for line in _lines(folder)])


def csv_folder(folder: Path, *columns: str) -> Sink:
    return Sink(
        lambda: [dict(zip(columns, row, strict=True)) for row in csv.reader(_lines(folder))]
    )


def _lines(folder: Path) -> Iterator[str]:
    """The lines of all finished files; what is staged is hidden."""
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not any(p[0] in "._" for p in file.relative_to(folder).parts):
            yield from file.read_text("utf-8").splitlines()


def topic(broker: Broker, name: str) -> Sink:
    """All records: one that is there twice is a difference."""
    return Sink(lambda: [json.loads(message.value()) for message in broker.read(name)])


def keyed_topic(broker: Broker, name: str) -> Sink:
    """The last record of each key."""

    def rows() -> list[Row]:
        last = {message.key(): message.value() for message in broker.read(name)}
        return [json.loads(value) for value in last.values() if value is not None]

    return Sink(rows)


def table(postgres: Postgres, name: str, *columns: str) -> Sink:
    query = f"SELECT {', '.join(columns)} FROM {name}"

    def rows() -> list[Row]:
        found = answer_of(postgres, lambda: postgres.rows(query))
        return [dict(zip(columns, row, strict=True)) for row in found]

    return Sink(rows)
