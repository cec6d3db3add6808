"""Streams of changes of MySQL."""

from __future__ import annotations

import os
import sys

import pytest

from servers.mysql import DATABASE, MYSQLD, PASSWORD, USER, MySql
from servers.ports import HOST
from tests.connectors import tables
from tests.connectors.change_streams import ChangeStream, with_clause
from tidemark.catalog.tables import Table
from tidemark.connectors.base import ColumnsRequest
from tidemark.connectors.mysql_cdc.captured import CapturedMysql
from tidemark.connectors.mysql_cdc.columns.parts import BinlogColumns
from tidemark.connectors.mysql_cdc.planning import BinlogPlanning, BinlogReading
from tidemark.storage import Location

ONLY_MARIADB = pytest.mark.skipif(MYSQLD in os.environ, reason="MySQL has no such thing")


def options(mysql: MySql, table: str, **more: str) -> str:
    """The WITH clause of a table; options are named with `__` for `.` and `_` for `-`."""
    chosen = {
        "connector": "mysql-cdc",
        "hostname": HOST,
        "port": str(mysql.port),
        "username": USER,
        "password": PASSWORD,
        "database-name": DATABASE,
        "table-name": table,
    }
    return with_clause(chosen, **more)


def table(mysql: MySql, columns: str, name: str, **more: str) -> Table:
    return tables.declared(f"CREATE TABLE t ({columns}) {options(mysql, name, **more)}")


def in_small_pieces(patched: pytest.MonkeyPatch, window: int, block: int) -> None:
    """Read so many bytes of the log in a micro-batch, and in a block."""
    patched.setattr(sys.modules[BinlogPlanning.__module__], "_WINDOW", window)
    patched.setattr("tidemark.connectors.mysql_cdc.columns.packets._BLOCK_BYTES", block)


class Stream(ChangeStream):
    planning: BinlogPlanning | None

    def planned_by(self, request: ColumnsRequest) -> BinlogPlanning:
        reading = BinlogReading(
            CapturedMysql.of(request), request.options, Location.of(self.folder), pause_s=0
        )
        return BinlogPlanning(reading)

    def opened(self, request: ColumnsRequest) -> BinlogColumns:
        return BinlogColumns(request)

    def end(self) -> None:
        self.planning = None
