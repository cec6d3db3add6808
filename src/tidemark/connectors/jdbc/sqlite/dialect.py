"""SQLite: a file, read and written in this process."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tidemark import types as t
from tidemark.connectors.jdbc.contract import Described, SentRows, StoredColumn, TableMerge
from tidemark.connectors.jdbc.sqlite import staging, types
from tidemark.connectors.jdbc.sqlite.connections import (
    SqliteDatabase,
    database,
    described,
    name,
    opened,
)
from tidemark.connectors.jdbc.values import WrongValue
from tidemark.errors import DataError, SetupError
from tidemark.types import DataType

if TYPE_CHECKING:
    import polars as pl

# How many rows are read at a time.
_ROWS: Final = 50_000


@dataclass(frozen=True, slots=True)
class SqliteTransaction:
    database: SqliteDatabase
    connection: sqlite3.Connection

    # --- reading -------------------------------------------------------------------------------

    def described(self, table: str) -> Described:
        return described(self.connection, table)

    def frames(self, query: str, types: Mapping[str, DataType]) -> Iterator[pl.DataFrame]:
        # An open cursor keeps others from writing.
        with closing(self.connection.execute(query)) as cursor:
            while found := cursor.fetchmany(_ROWS):
                yield _frame(found, types)

    def found(
        self,
        query: str,
        keys: pl.DataFrame,
        columns: Sequence[StoredColumn],
        key_types: Sequence[DataType],
        types: Mapping[str, DataType],
    ) -> Iterator[pl.DataFrame]:
        names = [f"k{place}" for place in range(len(columns))]
        self.connection.execute("DROP TABLE IF EXISTS temp.wanted")
        self.connection.execute(f"CREATE TEMP TABLE wanted ({', '.join(names)})")
        values = map(_sent, keys.iter_columns(), key_types)
        places = ", ".join("?" * len(names))
        self.connection.executemany(
            f"INSERT INTO temp.wanted VALUES ({places})", zip(*values, strict=True)
        )
        each = zip(names, columns, key_types, strict=True)
        same = " AND ".join(_same(f"wanted.{key}", column, type_) for key, column, type_ in each)
        yield from self.frames(f"{query} JOIN temp.wanted AS wanted ON {same}", types)

    # --- writing -------------------------------------------------------------------------------

    def prepare(self, merge: TableMerge) -> None:
        for column, type_ in zip(merge.columns, merge.staging.types, strict=True):
            if not types.keeps(column, type_):
                raise DataError(
                    f"column `{column.name}` of {merge.table.name} is {column.written}, in which "
                    f"{type_.text()} cannot be written",
                    notes={"why": f"SQLite would change values: its affinity is {column.type}"},
                    hint=f"declare it as {_DECLARED.get(type(type_), 'INTEGER')} in the database",
                )
        staging.make(self.database, merge)
        if merge.noted_by is not None:
            staging.make_batches(self.connection)

    def send(self, merge: TableMerge, rows: pl.DataFrame, attempt: int, number: int) -> None:
        staging.add(self.database, merge, rows, attempt, number)

    def merge(self, merge: TableMerge, sent: SentRows, *, is_first: bool) -> None:
        # There is no answer to lose: what failed was not done.
        if sent.attempts:
            staging.merged(self.connection, self.database, merge, sent)
        staging.remove(self.database, merge)

    def discard(self, merge: TableMerge) -> None:
        staging.remove(self.database, merge)

    def commit(self) -> None:
        """Each piece is committed when it is sent."""

    def may_write(self, table: Described, *, by_key: bool) -> str:
        path = self.database.path
        for needed in (path, path.parent):
            if not os.access(needed, os.W_OK):
                raise SetupError(
                    f"the rights to write to {needed} are missing",
                    hint="SQLite writes to the file, and to others beside it",
                )
        return "the file and its folder can be written to"


_DECLARED: Final[dict[type[DataType], str]] = {
    t.Float: "REAL",
    t.Double: "REAL",
    t.Char: "TEXT",
    t.VarChar: "TEXT",
    t.Decimal: "TEXT",
}


def _frame(found: list[tuple[Any, ...]], wanted: Mapping[str, DataType]) -> pl.DataFrame:
    import polars as pl

    columns = []
    for (column, type_), values in zip(wanted.items(), zip(*found, strict=True), strict=False):
        try:
            columns.append(types.values_of(values, type_).alias(column))
        except (TypeError, OverflowError, pl.exceptions.PolarsError) as problem:
            raise WrongValue.of_type(column, type_, problem) from None
    return pl.DataFrame(columns or {"counted": [*found]})


def _sent(values: pl.Series, type_: DataType) -> list[Any]:
    return types.sent(values, type_)


def _same(wanted: str, column: StoredColumn, type_: DataType) -> str:
    if isinstance(type_, t.Decimal) and column.type in ("TEXT", "BLOB"):
        # Whatever their zeros; the join compares all digits.
        return f"CAST(own.{name(column.name)} AS NUMERIC) = CAST({wanted} AS NUMERIC)"
    return f"own.{name(column.name)} = {wanted}"


@dataclass(frozen=True, slots=True)
class SqliteDialect:
    system: str = "SQLite"
    form: str = "jdbc:sqlite:path"
    instants: str | None = None

    def database(self, url: str, login: Mapping[str, str | None], wait_s: int) -> SqliteDatabase:
        return database(url, login, wait_s)

    def is_known(self, type_: DataType) -> bool:
        return types.is_known(type_)

    def finds_by(self, type_: DataType) -> bool:
        return True

    def quoted(self, name_: str) -> str:
        return name(name_)

    def asked(self, column: StoredColumn, wanted: DataType, table: str) -> str | None:
        return types.asked(column, wanted, table)

    def type_of(self, column: StoredColumn) -> None:
        return None  # Flink has no catalog of SQLite

    def number(self, column: StoredColumn) -> str:
        return types.as_number(column)

    @contextmanager
    def connected(self, database: SqliteDatabase, what: str) -> Iterator[SqliteTransaction]:
        with opened(database, what) as connection:
            yield SqliteTransaction(database, connection)


SQLITE: Final = SqliteDialect()
