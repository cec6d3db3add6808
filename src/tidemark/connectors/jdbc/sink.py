"""Writes to tables of PostgreSQL: tasks copy their rows into a staging table, and when all have
done so, one transaction brings the rows into the table: all of a micro-batch or nothing.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.catalog.tables import Changelog
from tidemark.connectors.base import Target, WorkerSink, WriteRequest
from tidemark.connectors.by_workers import noted
from tidemark.connectors.jdbc import options as o
from tidemark.connectors.jdbc.merging import TableMerge, batches_table, note_batch
from tidemark.connectors.jdbc.postgres import (
    Described,
    again,
    connected,
    described,
    rows,
    string,
)
from tidemark.connectors.jdbc.staging import Staging
from tidemark.connectors.jdbc.url import PostgresDatabase
from tidemark.errors import PlanError, TidemarkError
from tidemark.plan.inserts import writable_columns

if TYPE_CHECKING:
    import pyarrow as pa
    from adbc_driver_manager.dbapi import Connection, Cursor


def sink_of(target: Target) -> WorkerSink:
    """Looks at the table in the database, so that what is wrong with it is an error at once."""
    if target.overwrite:
        raise PlanError(
            f"INSERT OVERWRITE is not supported for `{target.table.name}`, as in Flink",
            source=target.table.source,
            hint="delete the rows in the database, and write INSERT INTO",
        )
    database, table = o.database_of(target.options), target.options["table-name"]
    staging = _staging(target)
    with connected(database, f"writing to {table}") as connection, connection.cursor() as cursor:
        found = described(cursor, table)
    names = [column.name for column in writable_columns(target.table)]
    columns = tuple(found.column(one, table) for one in names)
    delivery = TableDelivery(
        database,
        TableMerge(found, columns, staging),
        target.options[o.MAX_RETRIES],
        None if target.job is None or staging.keys else f"{target.job}-{target.started}",
    )
    return WorkerSink(
        Copying(database, found, staging), delivery.commit, tasks=target.options["sink.parallelism"]
    )


def _staging(target: Target) -> Staging:
    key = target.table.primary_key
    names = [column.name for column in writable_columns(target.table)]
    # What a job has left when it was killed is removed when it goes on.
    known = (
        f"{target.job or secrets.token_hex(8)} {target.table.identifier} {target.options['url']}"
    )
    return Staging(
        f"tidemark_staging_{hashlib.sha256(known.encode()).hexdigest()[:16]}",
        target.types,
        () if key is None else tuple(names.index(one) for one in key.columns),
        target.changelog is Changelog.RETRACT,
    )


def write(request: WriteRequest) -> None:
    """The rows of Spark."""
    sink = sink_of(request)
    frame = request.frame if sink.tasks is None else request.frame.coalesce(sink.tasks)
    sink.commit(lambda: noted(frame, sink.write), request.batch_id)


# --- in workers --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Copying:
    """Copies the rows of a task. Its note has a number of this attempt, and that of its pieces."""

    database: PostgresDatabase
    table: Described
    staging: Staging

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, str | None]]:
        # Spark tries the task again if it is to.
        yield again(lambda: self._copied(batches), 0)

    def _copied(self, batches: Iterator[pa.RecordBatch]) -> tuple[int, str | None]:
        import polars as pl

        from tidemark.runtime.combining import gathered

        attempt, rows_sent, pieces = secrets.randbits(62), 0, 0
        with ExitStack() as closing:
            connection: Connection | None = None
            for table in gathered(batch for batch in batches if batch.num_rows):
                if connection is None:
                    connection = closing.enter_context(self._connected())
                frame = pl.from_arrow(table)
                assert isinstance(frame, pl.DataFrame)
                self._copy(connection, self.staging.piece(frame, attempt, pieces))
                rows_sent, pieces = rows_sent + table.num_rows, pieces + 1
            if connection is not None:
                connection.commit()
        return rows_sent, f"{attempt} {pieces}" if pieces else None

    def _connected(self) -> AbstractContextManager[Connection]:
        return connected(self.database, f"writing to {self.table.name}")

    def _copy(self, connection: Connection, sent: pa.Table) -> None:
        with connection.cursor() as cursor:
            cursor.adbc_ingest(
                self.staging.name, sent, mode="append", db_schema_name=self.table.schema
            )


# --- where the job is --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TableDelivery:
    """Brings what tasks have copied into the table."""

    database: PostgresDatabase
    merge: TableMerge
    retries: int
    # Under which name micro-batches are noted that would be added twice if they came again.
    noted_by: str | None

    def commit(self, notes: Callable[[], Sequence[str]], batch_id: int | None) -> None:
        again(self._make_staging, self.retries)
        try:
            sent = [[int(number) for number in note.split()] for note in notes()]
            tried = 0

            def finish() -> None:
                nonlocal tried
                tried += 1
                self._finish(sent, batch_id, is_first=tried == 1)

            again(finish, self.retries)
        except BaseException:
            with suppress(TidemarkError):
                self._remove_staging()
            raise

    def _make_staging(self) -> None:
        with self._cursor() as cursor:
            cursor.execute(f"DROP TABLE IF EXISTS {self._staging}")
            cursor.execute(self.merge.staging.ddl(self.merge.table))
            if self.noted_by is not None:
                cursor.execute(batches_table(self.merge.table))

    def _finish(self, sent: Sequence[Sequence[int]], batch_id: int | None, is_first: bool) -> None:
        with self._cursor() as cursor:
            if not is_first and self._is_done(cursor):
                return  # only the answer was lost
            if sent and self._is_new(cursor, batch_id):
                attempts = [attempt for attempt, _ in sent]
                cursor.execute(self.merge.sql(attempts, sum(pieces for _, pieces in sent)))
            cursor.execute(f"DROP TABLE {self._staging}")

    def _is_done(self, cursor: Cursor) -> bool:
        """The staging table goes with what is done."""
        return rows(cursor, f"SELECT to_regclass({string(self._staging)}) IS NULL") == [(True,)]

    def _is_new(self, cursor: Cursor, batch_id: int | None) -> bool:
        """Whether a micro-batch has not been added before."""
        if self.noted_by is None or batch_id is None:
            return True
        return bool(rows(cursor, note_batch(self.merge.table, self.noted_by, batch_id)))

    def _remove_staging(self) -> None:
        with self._cursor() as cursor:
            cursor.execute(f"DROP TABLE IF EXISTS {self._staging}")

    @property
    def _staging(self) -> str:
        return self.merge.staging.beside(self.merge.table)

    @contextmanager
    def _cursor(self) -> Iterator[Cursor]:
        """A transaction, which counts if nothing in it fails."""
        what = f"writing to {self.merge.table.name}"
        with connected(self.database, what) as connection, connection.cursor() as cursor:
            yield cursor
            connection.commit()
