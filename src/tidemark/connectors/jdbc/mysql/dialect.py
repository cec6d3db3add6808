"""MySQL, and MariaDB, which speaks the same protocol."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tidemark.connectors.jdbc.contract import Described, SentRows, StoredColumn, TableMerge
from tidemark.connectors.jdbc.mysql import staging
from tidemark.connectors.jdbc.mysql import types as types_of
from tidemark.connectors.jdbc.mysql.connections import (
    connected,
    described,
    load_driver,
    name,
    rows,
    run,
    string,
)
from tidemark.connectors.jdbc.mysql.rights import check_rights
from tidemark.connectors.jdbc.mysql.url import MysqlDatabase, database
from tidemark.connectors.jdbc.values import WrongValue
from tidemark.errors import DataError, JobError
from tidemark.types import DataType

if TYPE_CHECKING:
    import polars as pl
    from pymysql.connections import Connection

# How many rows are read at a time, and how many keys a query has at most.
_ROWS: Final = 50_000
_KEYS: Final = 2_000
_ZERO_DATES: Final = "it is read as NULL if the URL has zeroDateTimeBehavior=CONVERT_TO_NULL"


@dataclass(frozen=True, slots=True)
class MysqlTransaction:
    database: MysqlDatabase
    connection: Connection

    # --- reading -------------------------------------------------------------------------------

    def described(self, table: str) -> Described:
        return described(self.connection, table)

    def frames(self, query: str, types: Mapping[str, DataType]) -> Iterator[pl.DataFrame]:
        # Rows come as they are asked for. Who does not want the rest closes the connection.
        cursor = self.connection.cursor(load_driver().cursors.SSCursor)
        cursor.execute(query)
        while found := cursor.fetchmany(_ROWS):
            yield _frame(found, types, no_zeros=self.database.no_zeros)
        cursor.close()

    def found(
        self,
        query: str,
        keys: pl.DataFrame,
        columns: Sequence[StoredColumn],
        key_types: Sequence[DataType],
        types: Mapping[str, DataType],
    ) -> Iterator[pl.DataFrame]:
        import polars as pl

        names = ", ".join(f"own.{name(column.name)}" for column in columns)
        each = zip(keys.columns, key_types, strict=True)
        values = [types_of.literals(pl.col(column), type_) for column, type_ in each]
        for some in keys.iter_slices(_KEYS):
            for wanted in staging.tuples(some, values):
                yield from self.frames(f"{query} WHERE ({names}) IN ({wanted})", types)

    # --- writing -------------------------------------------------------------------------------

    def prepare(self, merge: TableMerge) -> None:
        _check_columns(merge)
        self._check_table(merge)
        run(self.connection, f"DROP TABLE IF EXISTS {staging.staging_of(merge)}")
        run(self.connection, staging.staging_table(merge))
        if merge.noted_by is not None:
            run(self.connection, staging.batches_table(merge.table))

    def _check_table(self, merge: TableMerge) -> None:
        where = _named(merge.table.schema, merge.table.name)
        found = rows(self.connection, f"SELECT engine FROM information_schema.tables WHERE {where}")
        if found and found[0][0] not in (None, "InnoDB"):
            raise DataError(
                f"table {merge.table.name} cannot be written to",
                notes={"why": f"its engine {found[0][0]} has no transactions"},
                hint=f"ALTER TABLE {merge.table.sql} ENGINE = InnoDB",
            )
        unique: dict[str, set[str]] = {}
        for index, column in rows(self.connection, f"{_UNIQUE} WHERE non_unique = 0 AND {where}"):
            unique.setdefault(str(index), set()).add(str(column))
        wanted = {column.name for column in merge.keys}
        if wanted and wanted not in unique.values():
            raise JobError(
                f"writing to {merge.table.name} failed",
                notes={"why": f"it has no unique key ({', '.join(sorted(wanted))})"},
                hint="add the same PRIMARY KEY or a unique index to the table in the database",
            )

    def send(self, merge: TableMerge, rows: pl.DataFrame, attempt: int, number: int) -> None:
        driver = load_driver()
        try:
            for statement in staging.insertions(merge, merge.staging.piece(rows, attempt, number)):
                run(self.connection, statement)
        except driver.MySQLError as problem:
            # Rows wait under other names.
            said = re.sub(
                r"\bc(\d+)\b", lambda c: merge.columns[int(c[1])].name, str(problem.args[-1])
            )
            raise type(problem)(*problem.args[:-1], said) from None

    def merge(self, merge: TableMerge, sent: SentRows, *, is_first: bool) -> None:
        if is_first or not self._is_done(merge):
            if sent.attempts and self._is_new(merge, sent.batch_id):
                for statement in staging.merging(merge, sent):
                    run(self.connection, statement)
            run(self.connection, staging.done(merge))
            self.commit()
        self.discard(merge)

    def _is_done(self, merge: TableMerge) -> bool:
        """The staging table says so, or is no longer there."""
        where = _named(merge.table.schema, merge.staging.name)
        there = f"SELECT 1 FROM information_schema.tables WHERE {where}"
        said = f"SELECT 1 FROM {staging.staging_of(merge)} WHERE attempt = {staging.DONE}"
        return not rows(self.connection, there) or bool(rows(self.connection, said))

    def _is_new(self, merge: TableMerge, batch_id: int | None) -> bool:
        """Whether a micro-batch has not been added before."""
        if merge.noted_by is None or batch_id is None:
            return True
        return run(self.connection, staging.note_batch(merge.table, merge.noted_by, batch_id)) > 0

    def discard(self, merge: TableMerge) -> None:
        run(self.connection, f"DROP TABLE IF EXISTS {staging.staging_of(merge)}")

    def commit(self) -> None:
        self.connection.commit()

    def may_write(self, table: Described, *, by_key: bool) -> str:
        return check_rights(self.connection, table, by_key=by_key)


def _named(schema: str, table: str) -> str:
    return f"table_schema = {string(schema)} AND table_name = {string(table)}"


_UNIQUE: Final = "SELECT index_name, column_name FROM information_schema.statistics"


def _check_columns(merge: TableMerge) -> None:
    for column, type_ in zip(merge.columns, merge.staging.types, strict=True):
        if not types_of.keeps(column, type_):
            raise DataError(
                f"column `{column.name}` of {merge.table.name} is {column.written}, in which "
                f"{type_.text()} cannot be written",
                notes={"why": "the time would depend on the zone of the connection"},
                hint="declare it as TIMESTAMP",
            )


def _frame(
    found: Sequence[tuple[Any, ...]], wanted: Mapping[str, DataType], *, no_zeros: bool
) -> pl.DataFrame:
    import polars as pl

    columns = []
    for (column, type_), values in zip(wanted.items(), zip(*found, strict=True), strict=False):
        try:
            columns.append(types_of.values_of(values, type_, no_zeros=no_zeros).alias(column))
        except (TypeError, pl.exceptions.PolarsError) as problem:
            if types_of.has_zero(values, type_):
                raise WrongValue(column, "a date such as 0000-00-00", _ZERO_DATES) from None
            raise WrongValue.of_type(column, type_, problem) from None
    return pl.DataFrame(columns or {"counted": [*found]})


@dataclass(frozen=True, slots=True)
class MysqlDialect:
    system: str = "MySQL"
    form: str = "jdbc:mysql://host:port/database"
    instants: str | None = "timestamp"

    def database(self, url: str, login: Mapping[str, str | None], wait_s: int) -> MysqlDatabase:
        return database(url, login, wait_s)

    def is_known(self, type_: DataType) -> bool:
        return types_of.is_known(type_)

    def finds_by(self, type_: DataType) -> bool:
        return True

    def quoted(self, name_: str) -> str:
        return name(name_)

    def asked(self, column: StoredColumn, wanted: DataType, table: str) -> str | None:
        return types_of.asked(column, wanted, table)

    def type_of(self, column: StoredColumn) -> DataType:
        return types_of.type_of(column)

    def number(self, column: StoredColumn) -> str:
        return name(column.name)

    @contextmanager
    def connected(self, database: MysqlDatabase, what: str) -> Iterator[MysqlTransaction]:
        with connected(database, what) as connection:
            yield MysqlTransaction(database, connection)


MYSQL: Final = MysqlDialect()
