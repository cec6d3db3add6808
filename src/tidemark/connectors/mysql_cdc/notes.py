"""What a job notes besides its offsets: how it began, and which columns the table had from where
on. The log has rows without the names of columns.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from tidemark.connectors.jdbc.contract import Described
from tidemark.connectors.mysql_cdc.captured import CapturedMysql, KnownTable
from tidemark.connectors.mysql_cdc.known_columns import KnownColumn
from tidemark.connectors.mysql_cdc.positions import LogPosition
from tidemark.errors import DataError
from tidemark.storage import Location

_START: Final = "start.json"
_IDLE: Final = "idle.json"


def written(known: KnownTable) -> dict[str, Any]:
    """What is known of a table, for JSON."""
    found = known.described
    columns = [asdict(column) for column in known.columns]
    return {"schema": found.schema, "name": found.name, "sql": found.sql, "columns": columns}


def known_from(noted: Mapping[str, Any]) -> KnownTable:
    columns = tuple(KnownColumn(**{**each, "digits": _pair(each)}) for each in noted["columns"])
    stored = {column.name: column.stored for column in columns}
    described = Described(noted["schema"], noted["name"], stored, noted["sql"], folds=True)
    return KnownTable(described, columns)


def _pair(column: Mapping[str, Any]) -> tuple[int, int] | None:
    return None if column["digits"] is None else (column["digits"][0], column["digits"][1])


class JobNotes:
    """The notes of one stream, in its folder of the checkpoint."""

    def __init__(self, folder: Location, captured: CapturedMysql) -> None:
        self._folder, self._captured = folder, captured
        self._noted: dict[str, Any] | None = None
        self._idle: tuple[Mapping[str, Any], Mapping[str, Any]] | None = None

    @property
    def exist(self) -> bool:
        return (self._folder / _START).read() is not None

    def begin(self, start: LogPosition, known: KnownTable, *, snapshot: bool) -> None:
        """How the job began. Until this is noted, it has not."""
        tables = [{"from": start.offset(), "known": written(known)}]
        self._write({"start": start.offset(), "snapshot": snapshot, "tables": tables})

    def define(self, start: LogPosition, known: KnownTable) -> None:
        """The table as it is from a position on."""
        noted = self._read()
        before = [each for each in noted["tables"] if LogPosition.of(each["from"]) < start]
        tables = [*before, {"from": start.offset(), "known": written(known)}]
        self._write({**noted, "tables": tables})

    @property
    def start(self) -> LogPosition:
        return LogPosition.of(self._read()["start"])

    @property
    def has_snapshot(self) -> bool:
        return bool(self._read()["snapshot"])

    def known(self, at: LogPosition) -> KnownTable:
        """The table as it is from a position on."""
        tables = self._read()["tables"]
        found = [each for each in tables if LogPosition.of(each["from"]) <= at]
        return known_from(found[-1]["known"])

    def known_before(self, end: LogPosition) -> tuple[LogPosition, KnownTable]:
        """The table as it was up to a position, and from where on. Before that, there are no
        changes that end with it."""
        tables = self._read()["tables"]
        found = [each for each in tables if LogPosition.of(each["from"]) < end]
        return LogPosition.of(found[-1]["from"]), known_from(found[-1]["known"])

    def idle_until(self, offset: LogPosition) -> LogPosition:
        """The position up to which there are no changes after an offset, as far as is noted."""
        if self._idle is None:
            noted = (self._folder / _IDLE).read()
            self._idle = ({}, {}) if noted is None else tuple(json.loads(noted))
        since, until = self._idle
        return LogPosition.of(until) if since == offset.offset() else offset

    def note_idle(self, offset: LogPosition, until: LogPosition) -> None:
        self._idle = (offset.offset(), until.offset())
        (self._folder / _IDLE).write(json.dumps(self._idle).encode())

    def _read(self) -> dict[str, Any]:
        if self._noted is None:
            noted = (self._folder / _START).read()
            if noted is None:
                raise DataError(
                    f"the checkpoint lacks its notes about {self._captured}",
                    notes={"file": str(self._folder / _START)},
                    hint="start the job without its checkpoint",
                )
            self._noted = json.loads(noted)
        return self._noted

    def _write(self, noted: dict[str, Any]) -> None:
        (self._folder / _START).write(json.dumps(noted).encode())
        self._noted = noted
