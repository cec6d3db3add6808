"""Registers DataFrames and functions as tables of the catalog."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from tidemark.catalog.checks import check_columns
from tidemark.catalog.tables import Identifier, Table
from tidemark.dialect import parse_expression, parse_type
from tidemark.dialect import statements as s
from tidemark.errors import PlanError, Source, did_you_mean
from tidemark.session.rows_in_memory import arrow_table, is_of_spark
from tidemark.types import Row

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


def table_of(
    identifier: Identifier,
    frame: Any,
    watermark: str | None,
    primary_key: Sequence[str] | None,
    row_kind: str | None,
    *,
    in_order: bool,
) -> Table:
    """The table for a DataFrame, with what the user declares about it."""
    if is_of_spark(frame):
        connector, every = "dataframe", _columns_of_spark(frame)
    else:
        connector, frame = "arrow", arrow_table(frame, row_kind)
        every = _columns_of_arrow(frame)
    names = [column.name for column in every]
    if row_kind is not None and row_kind not in names:
        raise PlanError(
            f"row_kind column `{row_kind}` does not exist in the DataFrame",
            hint=did_you_mean(row_kind, names),
        )
    columns = tuple(column for column in every if column.name != row_kind)
    options = [s.Option("connector", connector)]
    if connector == "arrow" and not in_order:
        options.append(s.Option("in-order", "false"))
    if row_kind is not None:
        options.append(s.Option("row-kind", row_kind))
    table = Table(
        identifier=identifier,
        columns=columns,
        watermark=_watermark(watermark, [c.name for c in columns]),
        primary_key=s.PrimaryKey(tuple(primary_key)) if primary_key else None,
        options=tuple(options),
        temporary=True,
        source=Source(watermark or "", "watermark"),
        dataframe=frame,
    )
    check_columns(table)
    return table


def _columns_of_spark(frame: DataFrame) -> list[s.PhysicalColumn]:
    from tidemark.spark.types import from_spark

    return [
        s.PhysicalColumn(field.name, from_spark(field.dataType, nullable=field.nullable))
        for field in frame.schema.fields
    ]


def _columns_of_arrow(rows: pa.Table) -> list[s.PhysicalColumn]:
    from tidemark.functions.arrow_types import from_arrow

    return [
        s.PhysicalColumn(field.name, from_arrow(field.type, nullable=field.nullable))
        for field in rows.schema
    ]


def _watermark(text: str | None, columns: Sequence[str]) -> s.Watermark | None:
    """The time attribute is the column that the expression is computed from."""
    if text is None:
        return None
    expression = parse_expression(text)
    used = list(dict.fromkeys(column.name for column in expression.find_all(exp.Column)))
    times = [name for name in used if name in columns] or used
    if len(times) != 1:
        raise PlanError(
            f"the watermark `{text}` must be an expression of exactly one column, the event time",
            notes={"columns": ", ".join(columns)},
            hint="for example: ts - INTERVAL '5' SECOND",
        )
    return s.Watermark((times[0],), expression)


def lookup_table_of(
    identifier: Identifier,
    function: Callable[..., Any],
    columns: str,
    primary_key: Sequence[str] | None,
    options: Mapping[str, str],
) -> Table:
    """The table for a function that finds rows by key."""
    row = parse_type(f"ROW<{columns}>")
    assert isinstance(row, Row)
    table = Table(
        identifier=identifier,
        columns=tuple(s.PhysicalColumn(field.name, field.type) for field in row.fields),
        primary_key=s.PrimaryKey(tuple(primary_key)) if primary_key else None,
        options=(
            s.Option("connector", "python"),
            *(s.Option(key, value) for key, value in options.items()),
        ),
        temporary=True,
        function=function,
    )
    check_columns(table)
    return table
