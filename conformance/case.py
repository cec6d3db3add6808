"""A conformance case: tables with rows in arrival order, one query, and Flink's answer."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

CASES = Path(__file__).resolve().parent / "cases"

# Settings of every case; a case adds to or overrides them with SET in its `setup`.
BASE_SETTINGS = {
    "parallelism.default": "1",
    # One watermark per record instead of one every 200 ms.
    "pipeline.auto-watermark-interval": "0",
    "table.local-time-zone": "UTC",
}

Compare = Literal["append", "materialized", "changelog", "error"]
COMPARE: tuple[Compare, ...] = ("append", "materialized", "changelog", "error")

Row = dict[str, Any]
Change = tuple[str, Row]  # (+I, -U, +U or -D; the row by column name)

SET_STATEMENT = re.compile(r"^\s*SET\s+'([^']+)'\s*=\s*'((?:[^']|'')*)'\s*;?\s*$", re.I | re.S)


@dataclass
class Table:
    """`columns` is what is between the parentheses of the DDL; `rows` are as in the format:
    objects for JSON, arrays for CSV.
    """

    name: str
    columns: str
    format: str
    rows: list[Any]
    options: dict[str, Any] = field(default_factory=dict)
    # The columns in a database, if it is one that Flink looks up (`databases.py`).
    looked_up: str | None = None
    # The same of a table that INSERTs of `setup` fill; its key is that of the database.
    filled: str | None = None

    @property
    def in_database(self) -> str | None:
        return self.looked_up or self.filled


@dataclass
class Case:
    """One file in `cases/`. `flink` says how it was recorded; it is missing before that."""

    path: Path
    title: str
    area: str
    tables: list[Table]
    query: str
    compare: Compare
    notes: str | None = None
    arrival: list[str] | None = None  # which table delivers the next change, if it matters
    setup: list[str] = field(default_factory=list)
    key: list[str] | None = None
    error: str | None = None
    error_mentions: list[str] = field(default_factory=list)
    expected: list[Any] | None = None
    flink: dict[str, Any] | None = None

    @property
    def name(self) -> str:
        return f"{self.area}/{self.path.stem}"

    @property
    def schema(self) -> dict[str, str]:
        """The result's columns and their Flink types, empty before the case is recorded."""
        return dict((self.flink or {}).get("schema") or {})

    @property
    def settings(self) -> dict[str, str]:
        """The options that the case runs with."""
        own = (SET_STATEMENT.match(statement) for statement in self.setup)
        return BASE_SETTINGS | {m[1]: m[2].replace("''", "'") for m in own if m}

    @property
    def own_settings(self) -> dict[str, str]:
        """The options that differ from those of every case."""
        return {k: v for k, v in self.settings.items() if BASE_SETTINGS.get(k) != v}

    @property
    def statements(self) -> list[str]:
        """The statements in `setup` other than SET: views, functions."""
        return [s.strip().rstrip(";").strip() for s in self.setup if not SET_STATEMENT.match(s)]

    @property
    def final_query(self) -> str:
        return self.query.strip().rstrip(";")
