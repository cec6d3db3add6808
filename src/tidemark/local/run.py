"""A bounded root of a plan in this process: its rows, and what becomes of them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tidemark.catalog.tables import Changelog
from tidemark.connectors import registry
from tidemark.connectors.base import Target, WorkerSink
from tidemark.local import sources
from tidemark.local.arrow import as_arrow, schema_of
from tidemark.local.builder import LocalBuilder, needs_spark
from tidemark.local.faults import checked
from tidemark.local.lowering import lower
from tidemark.local.rows import LocalRows
from tidemark.physical import Settings, physical_plan
from tidemark.plan.nodes import Node, Sink
from tidemark.runtime.source_report import SourceReport

if TYPE_CHECKING:
    import pyarrow as pa

    from tidemark.runtime.batch import Tally

# Takes all batches of a root, and returns how many rows they had.
Take = Callable[[Iterator["pa.Table"]], int]


@dataclass(frozen=True, slots=True)
class LocalPlan:
    """A root that is ready to run."""

    root: Node
    rows: LocalRows
    tallies: dict[str, Tally]
    report: SourceReport

    @classmethod
    def of(cls, root: Node, settings: Settings) -> LocalPlan:
        """Raises NotSupported if a part of the plan needs Spark, or it is unbounded."""
        if not root.edge.bounded:
            raise needs_spark("an unbounded job", root)
        now = dt.datetime.now(dt.UTC)
        builder = LocalBuilder(settings.zone, settings.ttl_ms, now, sources.read, lower)
        # There is no exchange here that would be spared any rows.
        physical = physical_plan(root, replace(settings, phases="one_phase"), streaming=False)
        return cls(root, checked(builder.build(physical.root)), builder.tallies, builder.report)

    @property
    def schema(self) -> pa.Schema:
        kinds = self.rows.changelog is not Changelog.APPEND
        return schema_of(self.rows.columns, self.root.edge.types, kinds=kinds)

    def tables(self) -> Iterator[pa.Table]:
        """The rows as Arrow tables."""
        schema = self.schema
        for frame in self.rows.frames():
            yield as_arrow(frame, schema)

    def writer(self, zone: str) -> Take:
        """Passes all rows to the connector of the root's table."""
        sink = self.root
        assert isinstance(sink, Sink)
        connector = registry.lookup(sink.table)
        target = Target(
            table=sink.table,
            options=registry.options_of(sink.table),
            columns=self.rows.columns,
            types=sink.edge.types,
            changelog=self.rows.changelog,
            overwrite=sink.overwrite,
            zone=zone,
        )
        sink_of = connector.local_sink or connector.worker_sink
        found = None if sink_of is None else sink_of(target)
        if not isinstance(found, WorkerSink):
            raise needs_spark(f"writing `{sink.table.name}`", sink)
        worker_sink = found

        def take(tables: Iterator[pa.Table]) -> int:
            rows = 0

            def notes() -> list[str]:
                nonlocal rows
                batches = (batch for table in tables for batch in table.to_batches())
                written = [*worker_sink.write(batches)]
                rows = sum(count for count, _ in written)
                return [note for _, note in written if note is not None]

            worker_sink.commit(notes, None)
            return rows

        return take
