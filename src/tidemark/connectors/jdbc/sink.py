"""Writes to tables of a database: tasks send their rows to where they wait, and when all have done
so, one transaction brings the rows into the table: all of a micro-batch or nothing.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidemark.catalog.tables import Changelog
from tidemark.connectors.base import Target, WorkerSink, WriteRequest
from tidemark.connectors.by_workers import noted
from tidemark.connectors.jdbc import options as o
from tidemark.connectors.jdbc.clocks import as_instants, exchanged
from tidemark.connectors.jdbc.contract import Dialect, SentRows, TableMerge, Transaction, again
from tidemark.connectors.jdbc.dialects import dialect_of
from tidemark.connectors.jdbc.staging import Staging
from tidemark.errors import PlanError, TidemarkError
from tidemark.plan.inserts import writable_columns
from tidemark.types import DataType

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


def sink_of(target: Target) -> WorkerSink:
    """Looks at the table in the database, so that what is wrong with it is an error at once."""
    if target.overwrite:
        raise PlanError(
            f"INSERT OVERWRITE is not supported for `{target.table.name}`, as in Flink",
            source=target.table.source,
            hint="delete the rows in the database, and write INSERT INTO",
        )
    dialect, table = dialect_of(target.options["url"]), target.options["table-name"]
    database = o.database_of(target.options)
    with dialect.connected(database, f"writing to {table}") as transaction:
        found = transaction.described(table)
    names = [column.name for column in writable_columns(target.table)]
    columns = tuple(found.column(one, table) for one in names)
    each = zip(columns, target.types, strict=True)
    staging = _staging(target, tuple(exchanged(dialect, *one) for one in each))
    noted_by = None if target.job is None or staging.keys else f"{target.job}-{target.started}"
    into = Into(dialect, database, TableMerge(found, columns, staging, noted_by), target.zone)
    delivery = TableDelivery(into, target.options[o.MAX_RETRIES])
    return WorkerSink(Sending(into), delivery.commit, tasks=target.options["sink.parallelism"])


def _staging(target: Target, types: tuple[DataType, ...]) -> Staging:
    key = target.table.primary_key
    names = [column.name for column in writable_columns(target.table)]
    # What a job has left when it was killed is removed when it goes on.
    known = (
        f"{target.job or secrets.token_hex(8)} {target.table.identifier} {target.options['url']}"
    )
    return Staging(
        f"tidemark_staging_{hashlib.sha256(known.encode()).hexdigest()[:16]}",
        types,
        () if key is None else tuple(names.index(one) for one in key.columns),
        target.changelog is Changelog.RETRACT,
    )


def write(request: WriteRequest) -> None:
    """The rows of Spark."""
    sink = sink_of(request)
    frame = request.frame if sink.tasks is None else request.frame.coalesce(sink.tasks)
    sink.commit(lambda: noted(frame, sink.write), request.batch_id)


@dataclass(frozen=True, slots=True)
class Into:
    """Where rows go. It is sent to workers."""

    dialect: Dialect
    database: Any
    merge: TableMerge
    zone: str

    def connected(self) -> AbstractContextManager[Transaction]:
        return self.dialect.connected(self.database, f"writing to {self.merge.table.name}")

    def rows(self, table: pa.Table) -> pl.DataFrame:
        """Rows as they are sent."""
        import polars as pl

        frame = pl.from_arrow(table)
        assert isinstance(frame, pl.DataFrame)
        return as_instants(frame, self.merge.staging.types, self.zone)


# --- in workers --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sending:
    """Sends the rows of a task. Its note has a number of this attempt, and that of its pieces."""

    into: Into

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, str | None]]:
        # Spark tries the task again if it is to.
        yield again(lambda: self._sent(batches), 0)

    def _sent(self, batches: Iterator[pa.RecordBatch]) -> tuple[int, str | None]:
        from tidemark.runtime.combining import gathered

        attempt, rows_sent, pieces = secrets.randbits(62), 0, 0
        with ExitStack() as closing:
            transaction: Transaction | None = None
            for table in gathered(batch for batch in batches if batch.num_rows):
                if transaction is None:
                    transaction = closing.enter_context(self.into.connected())
                transaction.send(self.into.merge, self.into.rows(table), attempt, pieces)
                rows_sent, pieces = rows_sent + table.num_rows, pieces + 1
            if transaction is not None:
                transaction.commit()
        return rows_sent, f"{attempt} {pieces}" if pieces else None


# --- where the job is --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TableDelivery:
    """Brings what tasks have sent into the table."""

    into: Into
    retries: int

    def commit(self, notes: Callable[[], Sequence[str]], batch_id: int | None) -> None:
        merge = self.into.merge
        again(
            lambda: self._do(lambda transaction: transaction.prepare(merge)),
            self.retries,
        )
        try:
            each = [[int(number) for number in note.split()] for note in notes()]
            attempts = tuple(attempt for attempt, _ in each)
            sent = SentRows(attempts, sum(pieces for _, pieces in each), batch_id)
            tried = 0

            def finish() -> None:
                nonlocal tried
                tried += 1
                self._do(lambda transaction: transaction.merge(merge, sent, is_first=tried == 1))

            again(finish, self.retries)
        except BaseException:
            with suppress(TidemarkError):
                self._do(lambda transaction: transaction.discard(merge))
            raise

    def _do(self, work: Callable[[Transaction], None]) -> None:
        with self.into.connected() as transaction:
            work(transaction)
