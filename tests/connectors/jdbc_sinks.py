"""A sink of connector jdbc that gets the changes of tasks, over any database."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from tests.connectors import tables
from tidemark import connect
from tidemark.catalog.tables import Changelog
from tidemark.connectors import registry
from tidemark.connectors.base import Target, WorkerSink
from tidemark.connectors.jdbc.sink import sink_of
from tidemark.local.arrow import schema_of
from tidemark.session.result import JobResult

Change = tuple[str, int, int | None]


class Database(Protocol):
    """What tests do with a database: each makes tables of its own."""

    def options(self, table: str, **more: str) -> str: ...
    def run(self, *statements: str) -> None: ...
    def rows(self, query: str) -> list[tuple[Any, ...]]: ...
    def table(self, columns: str, *rows: str) -> str: ...
    def staging(self) -> list[str]: ...


def target_of(table: Any, changelog: Changelog, **more: Any) -> Target:
    request = tables.columns_request(table)
    return Target(
        table=table,
        options=registry.options_of(table),
        columns=request.columns,
        types=request.types,
        changelog=changelog,
        overwrite=False,
        zone="UTC",
        **more,
    )


class Sink:
    """A sink of `k INT, v INT` that gets the changes of tasks."""

    def __init__(
        self,
        database: Database,
        changelog: Changelog = Changelog.RETRACT,
        key: bool = True,
        **more: Any,
    ) -> None:
        self.database = database
        self.name = database.table(
            "k int NOT NULL" + " PRIMARY KEY" * key + ", v int CHECK (v < 100)"
        )
        tail = ", PRIMARY KEY (k) NOT ENFORCED" * key
        declared = tables.declared(
            f"CREATE TABLE t (k INT NOT NULL, v INT{tail}) {database.options(self.name)}"
        )
        self.target = target_of(declared, changelog, **more)
        kinds = changelog is not Changelog.APPEND
        self.schema = schema_of(self.target.columns, self.target.types, kinds=kinds)

    def take(self, *tasks: Sequence[Change], batch_id: int | None = None) -> None:
        sink = sink_of(self.target)
        sink.commit(lambda: self.copied(sink, tasks), batch_id)

    def copied(self, sink: WorkerSink, tasks: Sequence[Sequence[Change]]) -> list[str]:
        found = (sink.write(iter([self.batch(task)])) for task in tasks)
        return [note for task in found for _, note in task if note is not None]

    def batch(self, changes: Sequence[Change]) -> pa.RecordBatch:
        columns = [[c[1] for c in changes], [c[2] for c in changes], [c[0] for c in changes]]
        named = dict(zip(self.schema.names, columns, strict=False))
        return pa.RecordBatch.from_pydict(named, schema=self.schema)

    def empty(self) -> None:
        self.database.run(f"DELETE FROM {self.name}")

    def rows(self) -> list[tuple[Any, ...]]:
        return self.database.rows(f"SELECT k, v FROM {self.name} ORDER BY k, v")


def run_locally(script: str) -> None:
    with connect(engine="local") as session:
        for result in session.run(script):
            if isinstance(result, JobResult):
                result.wait()


def queried(script: str) -> list[dict[str, Any]]:
    """The rows of a script's last query."""
    with connect(engine="local") as session:
        *_, last = session.run(script)
        return sorted(last.rows(), key=str)


def run_on(spark: Any, script: str, checkpoint: Path | None = None) -> None:
    session = connect(spark, checkpoint=checkpoint)
    try:
        for result in session.run(script):
            if isinstance(result, JobResult):
                result.wait()
    finally:
        session.stop()
