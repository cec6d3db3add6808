"""SQL expressions computed in columns, without Spark."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import polars as pl
import pyarrow as pa

from tests.plan.marked import workspace
from tidemark import dialect
from tidemark.columns import Program
from tidemark.functions.arrow_types import to_arrow
from tidemark.plan.expressions import Expression
from tidemark.plan.nodes import Node, Project
from tidemark.session.workspace import Workspace

NOW = dt.datetime(2024, 5, 6, 7, 8, 9, 123456, tzinfo=dt.UTC)


def table_of(columns: Mapping[str, Sequence[Any]]) -> pa.Table:
    """Columns by their names and types, as in `{"a INT": [1, None]}`."""
    made = {}
    for declared, values in columns.items():
        name, _, type_ = declared.partition(" ")
        made[name] = pa.array(values, to_arrow(dialect.parse_type(type_)))
    return pa.table(made)


def frame_of(columns: Mapping[str, Sequence[Any]]) -> pl.DataFrame:
    frame = pl.from_arrow(table_of(columns))
    assert isinstance(frame, pl.DataFrame)
    return frame


@cache
def _with_table(declared: tuple[str, ...], zone: str) -> Workspace:
    """A workspace with a table of these columns, which queries leave as it is."""
    table = f"CREATE TABLE t ({', '.join(declared)}) WITH ('connector' = 'fake')"
    return workspace(f"SET 'table.local-time-zone' = '{zone}'", table)


def bound(
    expressions: Sequence[str], declared: Sequence[str], zone: str
) -> tuple[tuple[Expression, ...], Node]:
    """The expressions of a SELECT over a table of these columns, and the node below it."""
    listed = ", ".join(f"{sql} AS _x{place}" for place, sql in enumerate(expressions))
    (planned,) = _with_table(tuple(declared), zone).plan_script(f"SELECT {listed} FROM t")
    assert planned.plan is not None
    (root,) = planned.plan.roots
    assert isinstance(root, Project)
    return root.expressions, root.input


def computed(
    expressions: Sequence[str], columns: Mapping[str, Sequence[Any]], zone: str = "UTC"
) -> pl.DataFrame:
    """A column for each expression, named as it is written."""
    written, below = bound(expressions, list(columns), zone)
    frame = frame_of(columns).select(below.edge.names)
    return Program.of(written, frame.columns, zone, NOW).over(frame, expressions)


def values_of(
    expression: str, columns: Mapping[str, Sequence[Any]] | None = None, zone: str = "UTC"
) -> list[Any]:
    """The values of one expression, one for each row of the columns."""
    return computed([expression], columns or {"a INT": [0]}, zone)[expression].to_list()
