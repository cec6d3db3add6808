"""Streams of changes of PostgreSQL."""

from __future__ import annotations

import uuid
from urllib.parse import quote

from servers.ports import HOST
from servers.postgres import PASSWORD, Postgres
from tests.connectors import tables
from tests.connectors.change_streams import ChangeStream, with_clause
from tests.waiting import wait_until
from tidemark.catalog.tables import Table
from tidemark.connectors.base import ColumnsRequest
from tidemark.connectors.postgres_cdc import options as o
from tidemark.connectors.postgres_cdc.captured import Captured
from tidemark.connectors.postgres_cdc.columns.parts import CdcColumns
from tidemark.connectors.postgres_cdc.planning import CdcReading, SlotPlanning
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
    }
    return with_clause(chosen, **more)


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


class Stream(ChangeStream):
    planning: SlotPlanning | None

    def planned_by(self, request: ColumnsRequest) -> SlotPlanning:
        reading = CdcReading(
            Captured.of(request),
            request.options[o.STARTUP],
            request.options[o.HEARTBEAT],
            Location.of(self.folder),
            self.run,
            pause_s=0,
        )
        return SlotPlanning(reading)

    def opened(self, request: ColumnsRequest) -> CdcColumns:
        return CdcColumns(request)

    def end(self) -> None:
        assert self.planning is not None
        self.planning.close()
        self.planning = None

    def settle(self) -> None:
        flushed(self.server)

    def __exit__(self, *_: object) -> None:
        """End, and remove what is in the database."""
        super().__exit__()
        slot = self.table.option("slot.name")
        self.server.rows(
            "SELECT pg_drop_replication_slot(slot_name)::text FROM pg_replication_slots "
            f"WHERE slot_name LIKE '{slot}%' AND NOT active"
        )
        self.server.run(f"DROP PUBLICATION IF EXISTS {slot}")


def flushed(postgres: Postgres) -> None:
    """Wait until all that was committed is in the log: the server of tests does not."""
    query = "SELECT pg_current_wal_flush_lsn() >= %s"
    end = "(SELECT pg_current_wal_insert_lsn())"
    [(at,)] = postgres.rows(f"SELECT {end}::text")
    # Where the next record begins may be after what a page has before it.
    postgres.run("SET synchronous_commit = on; CREATE TABLE IF NOT EXISTS flushing (n int)")
    wait_until(lambda: postgres.rows(query % f"'{at}'::pg_lsn") == [(True,)])
