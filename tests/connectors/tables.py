"""Tables for tests: from DDL to what the connectors are given."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from tidemark.catalog.tables import Changelog, Identifier, Table
from tidemark.connectors import registry
from tidemark.connectors.base import ColumnsRequest, ReadRequest, WriteRequest
from tidemark.dialect import parse_script
from tidemark.dialect.statements import CreateTable, MetadataColumn, PhysicalColumn
from tidemark.errors import DataError
from tidemark.functions.spark_text import safe_names
from tidemark.session.failures import diagnose
from tidemark.spark.first_start import FirstStart


def declared(ddl: str) -> Table:
    """The table that a CREATE TABLE declares, not yet checked by its connector."""
    script = parse_script(ddl, "t.sql")
    (statement,) = script.statements
    assert isinstance(statement, CreateTable)
    return Table(
        identifier=Identifier("default_catalog", "default_database", statement.name.parts[-1]),
        columns=statement.columns,
        options=statement.options,
        partitioned_by=statement.partitioned_by,
        watermark=statement.watermark,
        primary_key=statement.primary_key,
        source=script.source,
    )


def files(
    columns: str, path: Path | str, format_: str = "json", tail: str = "", **options: str
) -> Table:
    """A filesystem table `t`; options are named like `json.x` with `__` for `.` and `_` for `-`."""
    more = "".join(f", '{k}' = '{v}'" for k, v in spelled(options).items())
    return declared(
        f"CREATE TABLE t ({columns}) {tail} "
        f"WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = '{format_}'{more})"
    )


def datagen(columns: str, *, name: str = "t", **options: str) -> Table:
    more = "".join(f", '{k}' = '{v}'" for k, v in spelled(options).items())
    return declared(f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'datagen'{more})")


def nexmark(**options: str) -> Table:
    """A table of Nexmark's events."""
    more = "".join(f", '{k}' = '{v}'" for k, v in spelled(options).items())
    return declared(f"CREATE TABLE t ({NEXMARK}) WITH ('connector' = 'nexmark'{more})")


NEXMARK = """
  event_type INT,
  person ROW<
    id BIGINT, name STRING, emailAddress STRING, creditCard STRING, city STRING, state STRING,
    `dateTime` TIMESTAMP(3), extra STRING>,
  auction ROW<
    id BIGINT, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT,
    `dateTime` TIMESTAMP(3), expires TIMESTAMP(3), seller BIGINT, category BIGINT, extra STRING>,
  bid ROW<
    auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING,
    `dateTime` TIMESTAMP(3), extra STRING>
"""


NOW = dt.datetime(2024, 5, 6, 23, 30, 12, 345_000, tzinfo=dt.UTC)


def columns_request(table: Table, **changes: Any) -> ColumnsRequest:
    asked = request_of(None, table)
    request = ColumnsRequest(
        table=table,
        options=asked.options,
        columns=asked.columns,
        types=asked.types,
        metadata=(),
        zone="UTC",
        now=NOW,
        seed="s",
    )
    return replace(request, **changes)


def frame(table: Table, **changes: Any) -> pl.DataFrame:
    """The rows that the table's connector makes without Spark."""
    read_columns = registry.lookup(table).read_columns
    assert read_columns is not None
    return pl.concat(read_columns(columns_request(table, **changes))())


def spelled(options: dict[str, str]) -> dict[str, str]:
    return {
        k.replace("__", ".").replace("_", "-"): v.replace("'", "''") for k, v in options.items()
    }


def read(
    spark: Any,
    table: Table,
    *,
    streaming: bool = False,
    zone: str = "UTC",
    start: FirstStart | None = None,
) -> Any:
    reader = registry.lookup(table).read
    assert reader is not None
    return reader(request_of(spark, table, streaming=streaming, zone=zone, start=start))


def request_of(
    spark: Any,
    table: Table,
    *,
    streaming: bool = False,
    zone: str = "UTC",
    start: FirstStart | None = None,
) -> ReadRequest:
    physical = [c for c in table.columns if isinstance(c, PhysicalColumn)]
    metadata = [c for c in table.columns if isinstance(c, MetadataColumn)]
    return ReadRequest(
        spark=spark,
        table=table,
        options=registry.options_of(table),
        columns=safe_names([c.name for c in (*physical, *metadata)]),
        types=tuple(c.type for c in (*physical, *metadata)),
        metadata=tuple(c.key or c.name for c in metadata),
        streaming=streaming,
        zone=zone,
        start=start or FirstStart(),
        count_skipped=lambda data, condition: data,
        once=lambda data: data,
    )


def rows(frame: Any) -> list[tuple[Any, ...]]:
    """The rows, or the bad record that kept them from being read."""
    try:
        return [tuple(row) for row in frame.collect()]
    except Exception as failure:
        found = diagnose(failure)
        if not isinstance(found, DataError):
            raise
        raise found from None


def write(
    table: Table,
    frame: Any,
    *,
    batch_id: int | None = None,
    job: str | None = None,
    overwrite: bool = False,
    changelog: Changelog = Changelog.APPEND,
) -> None:
    physical = [c for c in table.columns if isinstance(c, PhysicalColumn)]
    writer = registry.lookup(table).write
    assert writer is not None
    writer(
        WriteRequest(
            frame=frame,
            table=table,
            options=registry.options_of(table),
            columns=safe_names([c.name for c in physical]),
            types=tuple(c.type for c in physical),
            changelog=changelog,
            batch_id=batch_id,
            overwrite=overwrite,
            zone="UTC",
            job=job,
        )
    )
