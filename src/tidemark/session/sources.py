"""Reads tables: from a scan in a plan to its connector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.connectors import registry
from tidemark.connectors.base import ReadRequest, WatermarkNotes
from tidemark.connectors.options import pointing_at
from tidemark.connectors.unsupported import MARKS_WITHOUT_CHECKPOINT, NOTES_WITHOUT_CHECKPOINT
from tidemark.plan.nodes import Scan
from tidemark.spark.builder import Builder
from tidemark.spark.frame import names_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from tidemark.storage import Location


def read(scan: Scan, builder: Builder) -> DataFrame:
    """The rows of a scan, with columns named as in `names_of(scan.edge)`."""
    connector = registry.lookup(scan.table)
    assert connector.read is not None  # the planner has called it
    with pointing_at(scan.table):
        return connector.read(request_of(scan, builder))


def request_of(scan: Scan, builder: Builder) -> ReadRequest:
    """What a connector is asked for."""
    marks = marks_of(scan, builder)
    return ReadRequest(
        spark=builder.spark,
        table=scan.table,
        options=registry.options_of(scan.table),
        columns=names_of(scan.edge),
        types=scan.edge.types,
        metadata=scan.metadata,
        streaming=builder.streaming,
        zone=builder.zone,
        start=builder.start,
        count_skipped=builder.count_skipped,
        once=builder.once,
        read=scan.names_read,
        folder=_folder(scan, builder),
        marks=marks,
        whole=scan.bounded and builder.outlasts_tables and marks is None,
        conditions=scan.conditions,
        lagging=builder.lagging,
    )


def _folder(scan: Scan, builder: Builder) -> Location | None:
    """Where a source that keeps account of its stream itself has its notes."""
    if not (builder.streaming and scan.keeps_notes):
        return None
    if scan.noted and not builder.state.shared:
        connector = scan.table.option("connector") or ""
        where = f" (table `{scan.table.name}`)"
        raise NOTES_WITHOUT_CHECKPOINT.error(None, connector, where=where, source=scan.table.source)
    return builder.source_folder(scan.number)


def marks_of(scan: Scan, builder: Builder) -> WatermarkNotes | None:
    """Where workers leave the watermarks of a source's partitions, if something follows them."""
    if scan.watermark is None or not builder.streaming:
        return None
    if not builder.state.shared:
        raise MARKS_WITHOUT_CHECKPOINT.error(
            None, where=f" (table `{scan.table.name}`)", source=scan.table.source
        )
    own, others = scan.number, builder.marked
    return WatermarkNotes(
        scan.watermark,
        builder.source_folder(own),
        next((marks.idle_ms for marks in others if marks.number == own), 0),
        tuple(builder.source_folder(marks.number) for marks in others if marks.number != own),
        scan.bounded,
    )
