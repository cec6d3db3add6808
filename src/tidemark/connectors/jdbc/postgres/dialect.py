"""PostgreSQL: rows come and go as Arrow columns, in the server's binary form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tidemark import types as t
from tidemark.connectors.jdbc.contract import Described, SentRows, StoredColumn, TableMerge
from tidemark.connectors.jdbc.postgres import types
from tidemark.connectors.jdbc.postgres.connections import connected, described, name, rows, string
from tidemark.connectors.jdbc.postgres.merging import (
    batches_table,
    merging,
    note_batch,
    staging_of,
    staging_table,
)
from tidemark.connectors.jdbc.postgres.reading import fetched, row_of_keys, sent_as, with_keys
from tidemark.connectors.jdbc.postgres.url import PostgresDatabase, postgres
from tidemark.connectors.jdbc.staging import ATTEMPT, PIECE
from tidemark.connectors.last_changes import GONE
from tidemark.errors import SetupError
from tidemark.types import DataType

if TYPE_CHECKING:
    import polars as pl
    from adbc_driver_manager.dbapi import Connection, Cursor

# How many keys a query has at most.
_KEYS: Final = 20_000
_OF_KEYS: Final = ("INSERT", "UPDATE", "DELETE")


@dataclass(frozen=True, slots=True)
class PostgresTransaction:
    """A transaction of PostgreSQL."""

    connection: Connection
    cursor: Cursor

    # --- reading -------------------------------------------------------------------------------

    def described(self, table: str) -> Described:
        return described(self.cursor, table)

    def frames(self, query: str, types: Mapping[str, DataType]) -> Iterator[pl.DataFrame]:
        return fetched(self.cursor, query, types)

    def found(
        self,
        query: str,
        keys: pl.DataFrame,
        columns: Sequence[StoredColumn],
        key_types: Sequence[DataType],
        types: Mapping[str, DataType],
    ) -> Iterator[pl.DataFrame]:
        joined = with_keys(query, columns, key_types)
        for some in keys.iter_slices(_KEYS):
            yield from fetched(self.cursor, joined, types, row_of_keys(some, key_types))

    # --- writing -------------------------------------------------------------------------------

    def prepare(self, merge: TableMerge) -> None:
        self.cursor.execute(f"DROP TABLE IF EXISTS {staging_of(merge)}")
        self.cursor.execute(staging_table(merge))
        if merge.noted_by is not None:
            self.cursor.execute(batches_table(merge.table))
        self.commit()

    def send(self, merge: TableMerge, rows: pl.DataFrame, attempt: int, number: int) -> None:
        import polars as pl
        import pyarrow as pa

        staging = merge.staging
        sent = staging.piece(rows, attempt, number)
        each = zip(staging.columns, staging.types, strict=True)
        fields = [(ATTEMPT, pa.int64()), (PIECE, pa.int64()), (GONE, pa.bool_())]
        fields += [(column, sent_as(type_)) for column, type_ in each]
        table = sent.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(pa.schema(fields))
        self.cursor.adbc_ingest(
            staging.name, table, mode="append", db_schema_name=merge.table.schema
        )

    def merge(self, merge: TableMerge, sent: SentRows, *, is_first: bool) -> None:
        if not is_first and self._is_done(merge):
            return
        if sent.attempts and self._is_new(merge, sent.batch_id):
            self.cursor.execute(merging(merge, sent.attempts, sent.pieces))
        self.cursor.execute(f"DROP TABLE {staging_of(merge)}")
        self.commit()

    def _is_done(self, merge: TableMerge) -> bool:
        """The staging table goes with what is done."""
        gone = f"SELECT to_regclass({string(staging_of(merge))}) IS NULL"
        return rows(self.cursor, gone) == [(True,)]

    def _is_new(self, merge: TableMerge, batch_id: int | None) -> bool:
        """Whether a micro-batch has not been added before."""
        if merge.noted_by is None or batch_id is None:
            return True
        return bool(rows(self.cursor, note_batch(merge.table, merge.noted_by, batch_id)))

    def discard(self, merge: TableMerge) -> None:
        self.cursor.execute(f"DROP TABLE IF EXISTS {staging_of(merge)}")
        self.commit()

    def commit(self) -> None:
        self.connection.commit()

    def may_write(self, table: Described, *, by_key: bool) -> str:
        wanted = _OF_KEYS if by_key else _OF_KEYS[:1]
        for right in wanted:
            self._need(right, f"has_table_privilege({string(table.sql)}, '{right}')", table.sql)
        on_schema = f"has_schema_privilege({string(table.schema)}, 'CREATE')"
        self._need("CREATE", on_schema, f"SCHEMA {table.schema}")
        return ", ".join([*wanted, "CREATE"])

    def _need(self, right: str, test: str, on: str) -> None:
        [(granted, user)] = rows(self.cursor, f"SELECT {test}, current_user::text")
        if not granted:
            raise SetupError(
                f"user {user} lacks the right to {right} on {on}",
                hint=f"GRANT {right} ON {on} TO {user}",
            )


@dataclass(frozen=True, slots=True)
class PostgresDialect:
    system: str = "PostgreSQL"
    form: str = "jdbc:postgresql://host:port/database"
    instants: str | None = "timestamptz"

    def database(self, url: str, login: Mapping[str, str | None], wait_s: int) -> PostgresDatabase:
        return postgres(url, login, wait_s)

    def is_known(self, type_: DataType) -> bool:
        return types.is_known(type_)

    def finds_by(self, type_: DataType) -> bool:
        return not isinstance(type_, t.Array)

    def quoted(self, name_: str) -> str:
        return name(name_)

    def asked(self, column: StoredColumn, wanted: DataType, table: str) -> str | None:
        return types.asked(column, wanted, table)

    def type_of(self, column: StoredColumn) -> DataType:
        return types.type_of(column)

    def number(self, column: StoredColumn) -> str:
        return name(column.name)

    @contextmanager
    def connected(self, database: PostgresDatabase, what: str) -> Iterator[PostgresTransaction]:
        with connected(database, what) as connection, connection.cursor() as cursor:
            yield PostgresTransaction(connection, cursor)


POSTGRES: Final = PostgresDialect()
