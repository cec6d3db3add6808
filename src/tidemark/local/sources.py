"""Reads tables: from a scan in a plan to its connector."""

from __future__ import annotations

import datetime as dt
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark.connectors import registry
from tidemark.connectors.base import ColumnsRequest
from tidemark.connectors.options import pointing_at
from tidemark.functions.spark_text import safe_names
from tidemark.local.builder import needs_spark
from tidemark.local.rows import LocalRows
from tidemark.plan.nodes import Scan

if TYPE_CHECKING:
    from tidemark.local.builder import LocalBuilder


def read(scan: Scan, builder: LocalBuilder) -> LocalRows:
    """The rows of a scan."""
    connector = registry.lookup(scan.table)
    if connector.read_columns is None:
        raise needs_spark(f"reading from the connector '{connector.name}'", scan)
    request = replace(
        request_of(scan, builder.zone, builder.now, builder.seed),
        count=builder.report.add,
        threads=os.cpu_count() or 1,
    )
    return rows_of(request, scan)


def rows_of(request: ColumnsRequest, scan: Scan) -> LocalRows:
    """The rows of a request, which its connector makes."""
    read_columns = registry.lookup(request.table).read_columns
    assert read_columns is not None
    with pointing_at(scan.table):
        frames, changelog = read_columns(request), scan.edge.changelog
    return LocalRows(frames, request.columns, changelog, placed=request.placed)


def request_of(scan: Scan, zone: str, now: dt.datetime, seed: str = "") -> ColumnsRequest:
    """What a connector is asked for."""
    connector = registry.lookup(scan.table)
    return ColumnsRequest(
        table=scan.table,
        options=registry.options_of(scan.table),
        columns=safe_names(scan.edge.names),
        types=scan.edge.types,
        metadata=scan.metadata,
        placed=scan.table.watermark is not None and connector.reads_files,
        zone=zone,
        now=now,
        seed=seed,
        read=scan.names_read,
        rows_read=scan.rows_read,
        conditions=scan.conditions,
    )
