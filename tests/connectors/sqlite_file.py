"""A database of SQLite for tests, with the interface of the servers."""

from __future__ import annotations

import sqlite3
import uuid
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class SqliteFile:
    path: Path

    @classmethod
    def new(cls, folder: Path) -> SqliteFile:
        here = cls(folder / "shop.db")
        sqlite3.connect(here.path).close()
        return here

    def options(self, table: str, **more: str) -> str:
        """The WITH clause of a table; options are named with `__` for `.` and `_` for `-`."""
        options = {
            "connector": "jdbc",
            "url": f"jdbc:sqlite:{self.path}",
            "table-name": table,
            **{key.replace("__", ".").replace("_", "-"): value for key, value in more.items()},
        }
        quoted = {key: value.replace("'", "''") for key, value in options.items()}
        return "WITH (" + ", ".join(f"'{k}' = '{v}'" for k, v in quoted.items()) + ")"

    def run(self, *statements: str) -> None:
        with closing(sqlite3.connect(self.path, timeout=60)) as connection:
            for statement in statements:
                connection.executescript(statement)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.path)) as connection:
            return connection.execute(query).fetchall()

    def table(self, columns: str, *rows: str) -> str:
        """A new table with these rows."""
        name = f"t{uuid.uuid4().hex[:12]}"
        self.run(
            f"CREATE TABLE {name} ({columns})",
            *([f"INSERT INTO {name} VALUES {', '.join(rows)}"] if rows else []),
        )
        return name

    def staging(self) -> list[str]:
        """What is left of rows on their way."""
        return [file.name for file in self.path.parent.glob("*-tidemark_staging_*")]
