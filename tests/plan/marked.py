"""SQL with the guilty part marked: `SELECT «nope» FROM t`.

`refused` runs such a text and asserts that the error's caret covers exactly what is marked.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tidemark import types as t
from tidemark.catalog.tables import Changelog, LookupTraits, Table, TableTraits, Use
from tidemark.errors import PlanError, SqlError
from tidemark.plan.nodes import Edge, Node
from tidemark.plan.planner import Plan
from tidemark.session.workspace import Workspace

OPEN, CLOSE = "«", "»"

TABLES = """
CREATE TABLE t (
  a INT, b STRING, c BIGINT NOT NULL, d DECIMAL(10, 2), ts TIMESTAMP(3),
  r ROW<x INT, y ROW<z STRING, w INT NOT NULL>>,
  arr ARRAY<INT>, ar ARRAY<ROW<p INT, q STRING>>, m MAP<STRING, INT>,
  pt AS PROCTIME(), comp AS a + 1,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'fake');
CREATE TABLE u (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'fake');
CREATE TABLE k (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'fake');
CREATE TABLE cdc (id INT, n INT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'fake', 'changelog' = 'RETRACT');
CREATE TABLE endless (a INT) WITH ('connector' = 'fake', 'bounded' = 'false');
CREATE TABLE sink (id INT, name STRING) WITH ('connector' = 'fake');
"""

METADATA: Mapping[str, t.DataType] = {
    "offset": t.BigInt(nullable=False),
    "timestamp": t.TimestampLtz(3, nullable=False),
}


def fake_traits(table: Table, use: Use = "read") -> TableTraits:
    """A connector that is what the table's options say."""
    by = table.option("lookup")
    return TableTraits(
        lookup=LookupTraits("keys" if by == "keys" else "whole", "none") if by else None,
        bounded=table.option("bounded") != "false",
        changelog=Changelog[table.option("changelog") or "APPEND"],
        metadata=METADATA,
        readable=table.option("readable") != "false",
        writable=table.option("writable") != "false",
        accepts_updates=table.option("updates") == "true",
        upserts=table.option("upserts") in ("true", "alone"),
        updates_alone=table.option("upserts") == "alone",
        ordered=table.option("ordered") == "true",
    )


def workspace(*scripts: str) -> Workspace:
    """A workspace in which the scripts were run, with a connector for every table."""
    made = Workspace(traits=fake_traits)
    for script in scripts:
        made.plan_script(script)
    return made


def world(*scripts: str) -> Workspace:
    """A workspace with `TABLES`, and what else the scripts declare."""
    return workspace(TABLES, *scripts)


def plan(sql: str, at: Workspace | None = None) -> Plan:
    """The plan of the last statement."""
    planned = (at or world()).plan_script(sql)[-1].plan
    assert planned is not None
    return planned


def root(sql: str, at: Workspace | None = None) -> Node:
    """The plan of the last statement, which has one root."""
    [only] = plan(sql, at).roots
    return only


def edge(sql: str, at: Workspace | None = None) -> Edge:
    return root(sql, at).edge


def schema(sql: str, at: Workspace | None = None) -> str:
    """The columns of a query, as `a INT, ts TIMESTAMP(3) *event*`."""
    marks = {"event": " *event*", "processing": " *processing*", None: ""}
    return ", ".join(f"{c.name} {c.type}{marks[c.time]}" for c in edge(sql, at).columns)


def types_of(expressions: str, at: Workspace | None = None) -> list[str]:
    """The types of scalar expressions over table `t`."""
    return [str(type_) for type_ in edge(f"SELECT {expressions} FROM t", at).types]


def unmarked(sql: str) -> str:
    return sql.replace(OPEN, "").replace(CLOSE, "")


def remarked(error: SqlError) -> str:
    """The text an error points into, with its place marked."""
    assert error.source is not None, f"the error knows no text: {error}"
    text = error.source.text
    if error.at is None:
        return text
    return (
        text[: error.at.start]
        + OPEN
        + text[error.at.start : error.at.end]
        + CLOSE
        + text[error.at.end :]
    )


def refused(
    marked: str,
    kind: type[SqlError] = PlanError,
    *,
    at: Workspace | None = None,
    inside: str | None = None,
) -> SqlError:
    """The error of a script whose guilty part is marked.

    `inside` is the marked text that the error lies in where that is not the script itself, such
    as the one that declared a view.
    """
    with pytest.raises(kind) as caught:
        (at or world()).plan_script(unmarked(marked))
    error = caught.value
    assert type(error) is kind, f"a {type(error).__name__}: {error}"
    assert remarked(error) == (inside or marked)
    return error
