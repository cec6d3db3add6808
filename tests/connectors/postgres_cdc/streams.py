"""A stream of changes as Spark runs it, micro-batch by micro-batch, but without Spark."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl

from servers.ports import HOST
from servers.postgres import PASSWORD, Postgres
from tests.connectors import tables
from tests.waiting import wait_until
from tidemark.catalog.tables import Table
from tidemark.connectors.base import Part
from tidemark.connectors.postgres_cdc import options as o
from tidemark.connectors.postgres_cdc.captured import Captured
from tidemark.connectors.postgres_cdc.columns.parts import CdcColumns
from tidemark.connectors.postgres_cdc.planning import CdcReading, SlotPlanning
from tidemark.dialect.statements import MetadataColumn
from tidemark.kernels.columns import KIND
from tidemark.storage import Location


def options(postgres: Postgres, table: str, **more: str) -> str:
    """The WITH clause of a table; options are named with `__` for `.` and `_` for `-`."""
    chosen = {
        "connector": "postgres-cdc",
        "hostname": HOST,
        "port": str(postgres.port),
        "username": "postgres",
        "password": PASSWORD,
        "database-name": "postgres",
        "schema-name": "public",
        "table-name": table,
        "slot.name": f"s{uuid.uuid4().hex[:12]}",
        **{key.replace("__", ".").replace("_", "-"): value for key, value in more.items()},
    }
    quoted = {key: value.replace("'", "''") for key, value in chosen.items()}
    return "WITH (" + ", ".join(f"'{k}' = '{v}'" for k, v in quoted.items()) + ")"


def table(postgres: Postgres, columns: str, name: str, **more: str) -> Table:
    return tables.declared(f"CREATE TABLE t ({columns}) {options(postgres, name, **more)}")


def uri_of(postgres: Postgres) -> str:
    return f"postgresql://postgres:{quote(PASSWORD)}@{HOST}:{postgres.port}/postgres"


def captured(postgres: Postgres, columns: str, *rows: str, full: bool = True) -> str:
    """A new table of the database."""
    name = postgres.table(columns, *rows)
    if full:
        postgres.run(f"ALTER TABLE {name} REPLICA IDENTITY FULL")
    return name


@dataclass
class Stream:
    """Runs micro-batches. `log` is Spark's checkpoint: the offsets where they end."""

    postgres: Postgres
    table: Table
    folder: Path
    log: list[dict[str, Any]] = field(default_factory=list)
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    skipped: int = 0
    run: str = field(default_factory=lambda: uuid.uuid4().hex[:8])
    planning: SlotPlanning | None = None

    def __enter__(self) -> Stream:
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        """End, and remove what is in the database."""
        if self.planning is not None:
            self.end()
        slot = self.table.option("slot.name")
        self.postgres.rows(
            "SELECT pg_drop_replication_slot(slot_name)::text FROM pg_replication_slots "
            f"WHERE slot_name LIKE '{slot}%' AND NOT active"
        )
        self.postgres.run(f"DROP PUBLICATION IF EXISTS {slot}")

    def begin(self) -> None:
        """Start, or go on from where the last one has ended."""
        asked = tables.columns_request(self.table, **self._metadata)
        self.request = replace(asked, count=self._count)
        reading = CdcReading(
            Captured.of(self.request),
            self.request.options[o.STARTUP],
            self.request.options[o.HEARTBEAT],
            Location.of(self.folder),
            self.run,
            pause_s=0,
        )
        self.planning = SlotPlanning(reading)
        if not self.log:
            self.log.append(_json(self.planning.initial()))

    @property
    def _metadata(self) -> dict[str, Any]:
        keys = [c.key or c.name for c in self.table.columns if isinstance(c, MetadataColumn)]
        return {"metadata": tuple(keys)}

    def _count(self, rows: int, skipped: int) -> None:
        self.skipped += skipped

    def end(self) -> None:
        assert self.planning is not None
        self.planning.close()
        self.planning = None

    def restart(self) -> None:
        self.end()
        self.begin()

    def restart_and_read(self) -> list[tuple[Any, ...]]:
        """What the last micro-batch reads if it was not committed when the job ended."""
        self.restart()
        return self.read()

    def planned(self) -> bool:
        """Write into the log where the next micro-batch ends; whether there is one."""
        assert self.planning is not None
        end = _json(self.planning.latest(self.log[-1]))
        if end == self.log[-1]:
            return False
        self.log.append(end)
        return True

    def read(self) -> list[tuple[Any, ...]]:
        """The rows of the last micro-batch that was planned: row kind first."""
        assert self.planning is not None
        start, end = self.log[-2:]
        parts = self.planning.parts(start, end)
        return [row for part in parts for row in self._rows(part)]

    def _rows(self, part: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        file, first, last, details = part
        for frame in CdcColumns(self.request)(Part(file, first, last, details=details)):
            kinds = frame[KIND].to_list() if KIND in frame.columns else ["+I"] * frame.height
            yield from ((k, *row) for k, row in zip(kinds, _values(frame), strict=True))

    def step(self) -> list[tuple[Any, ...]]:
        """All rows that there are now, by as many micro-batches as it takes."""
        flushed(self.postgres)
        came = []
        while self.planned():
            came += self.read()
            assert self.planning is not None
            self.planning.commit(self.log[-1])
        self.rows += came
        return came


def _values(frame: pl.DataFrame) -> list[tuple[Any, ...]]:
    return frame.drop(KIND, strict=False).rows()


def _json(offset: dict[str, Any]) -> dict[str, Any]:
    return dict(json.loads(json.dumps(offset)))


def flushed(postgres: Postgres) -> None:
    """Wait until all that was committed is in the log: the server of tests does not."""
    query = "SELECT pg_current_wal_flush_lsn() >= %s"
    end = "(SELECT pg_current_wal_insert_lsn())"
    [(at,)] = postgres.rows(f"SELECT {end}::text")
    # Where the next record begins may be after what a page has before it.
    postgres.run("SET synchronous_commit = on; CREATE TABLE IF NOT EXISTS flushing (n int)")
    wait_until(lambda: postgres.rows(query % f"'{at}'::pg_lsn") == [(True,)])
