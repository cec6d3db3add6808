"""Sinks of lake tables in tests, which get the changes of tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from tests.connectors import tables
from tidemark.catalog.tables import Changelog, Table
from tidemark.connectors import registry
from tidemark.connectors.base import Target, WorkerSink
from tidemark.local.arrow import schema_of

Change = tuple[Any, ...]  # its kind, and the values of the columns


def target_of(table: Table, changelog: Changelog = Changelog.APPEND, **more: Any) -> Target:
    request = tables.columns_request(table)
    return Target(
        **{
            "table": table,
            "options": registry.options_of(table),
            "columns": request.columns,
            "types": request.types,
            "changelog": changelog,
            "overwrite": False,
            "zone": "UTC",
            **more,
        }
    )


class Sink:
    """A sink that gets the changes of tasks."""

    def __init__(self, ddl: str, changelog: Changelog = Changelog.RETRACT, **more: Any) -> None:
        self.target = target_of(tables.declared(ddl), changelog, **more)
        kinds = changelog is not Changelog.APPEND
        self.schema = schema_of(self.target.columns, self.target.types, kinds=kinds)

    def opened(self) -> WorkerSink:
        sink_of = registry.lookup(self.target.table).worker_sink
        assert sink_of is not None
        found = sink_of(self.target)
        assert isinstance(found, WorkerSink)
        return found

    def take(self, *tasks: Sequence[Change], batch_id: int | None = None) -> None:
        sink = self.opened()
        sink.commit(lambda: self.written(sink, tasks), batch_id)

    def written(self, sink: WorkerSink, tasks: Sequence[Sequence[Change]]) -> list[str]:
        found = [one for task in tasks for one in sink.write(iter([self.batch(task)]))]
        return [note for _, note in found if note is not None]

    def batch(self, changes: Sequence[Change]) -> pa.RecordBatch:
        rows = [
            dict(zip(self.schema.names, (*values, kind), strict=False)) for kind, *values in changes
        ]
        return pa.RecordBatch.from_pylist(rows, schema=self.schema)
