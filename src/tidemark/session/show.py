"""What SHOW, DESCRIBE and SET print."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tidemark import functions
from tidemark import types as t
from tidemark.catalog.catalogs import Catalogs
from tidemark.catalog.options import SessionOptions
from tidemark.catalog.tables import Table, View
from tidemark.dialect import statements as s
from tidemark.dialect import to_sql
from tidemark.errors import CatalogError, NotSupported
from tidemark.plan.nodes import Column
from tidemark.plan.planner import Planner


@dataclass(frozen=True, slots=True)
class TableResult:
    """A small table that is known whole."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[object, ...], ...]


def _table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> TableResult:
    columns = tuple(Column(name, t.STRING) for name in names)
    return TableResult(columns, tuple(tuple(row) for row in rows))


def text(name: str, content: str) -> TableResult:
    return _table([name], [(content,)])


def options(values: SessionOptions) -> TableResult:
    return _table(["key", "value"], values.items())


def show(statement: s.Show, catalogs: Catalogs, planner: Planner) -> TableResult:
    match statement.what:
        case "COLUMNS":
            assert statement.name is not None
            return _filtered(describe(statement.name, catalogs, planner), statement)
        case "CREATE TABLE" | "CREATE VIEW":
            assert statement.name is not None
            return text("result", _create_statement(statement, catalogs))
        case "CURRENT CATALOG":
            return text("current catalog name", catalogs.current_catalog)
        case "CURRENT DATABASE":
            return text("current database name", catalogs.current_database)
        case "TABLES" | "VIEWS" | "FUNCTIONS" | "CATALOGS" | "DATABASES":
            column = statement.what.lower().removesuffix("s") + " name"
            names = sorted(_names(statement, catalogs))
            return _filtered(_table([column], [(name,) for name in names]), statement)
    raise NotSupported(f"SHOW {statement.what} cannot be run yet", at=statement.span)


def _names(statement: s.Show, catalogs: Catalogs) -> list[str]:
    match statement.what:
        case "TABLES":
            return catalogs.relation_names()
        case "VIEWS":
            return [r.name for r in catalogs.relations() if isinstance(r, View)]
        case "FUNCTIONS":
            built_in = [name.lower() for name in functions.BUILT_IN if name[0].isalpha()]
            return [*built_in, *catalogs.function_names()]
        case "DATABASES":
            return list(catalogs.catalog(catalogs.current_catalog).databases)
        case _:
            return list(catalogs.catalogs)


def _filtered(table: TableResult, statement: s.Show) -> TableResult:
    """Rows whose first value matches LIKE."""
    if statement.like is None:
        return table
    parts = (".*" if c == "%" else "." if c == "_" else re.escape(c) for c in statement.like)
    pattern = re.compile("".join(parts), re.DOTALL)
    rows = tuple(
        row for row in table.rows if bool(pattern.fullmatch(str(row[0]))) is not statement.negated
    )
    return TableResult(table.columns, rows)


def describe(name: s.Name, catalogs: Catalogs, planner: Planner) -> TableResult:
    """A row for each column, as Flink's DESCRIBE gives it."""
    relation = catalogs.relation(name)
    edge = planner.relation(relation)
    declared = {c.name: c for c in relation.columns} if isinstance(relation, Table) else {}
    key = relation.primary_key if isinstance(relation, Table) else None
    watermark = relation.watermark if isinstance(relation, Table) else None
    rows = []
    for column in edge.columns:
        time = {"event": " *ROWTIME*", "processing": " *PROCTIME*", None: ""}[column.time]
        in_key = key is not None and column.name in key.columns
        marked = watermark is not None and watermark.column == (column.name,)
        rows.append(
            (
                column.name,
                column.type.text() + time,
                "TRUE" if column.type.nullable else "FALSE",
                f"PRI({', '.join(key.columns)})" if in_key and key else None,
                _extras(declared.get(column.name)),
                to_sql(watermark.expression) if marked and watermark else None,
            )
        )
    return _table(["name", "type", "null", "key", "extras", "watermark"], rows)


def _extras(column: s.Column | None) -> str | None:
    match column:
        case s.ComputedColumn(expression=expression):
            return f"AS {to_sql(expression)}"
        case s.MetadataColumn(key=key, virtual=virtual):
            source = f" FROM '{key}'" if key else ""
            return f"METADATA{source}{' VIRTUAL' if virtual else ''}"
    return None


def _create_statement(statement: s.Show, catalogs: Catalogs) -> str:
    assert statement.name is not None
    relation = catalogs.relation(statement.name)
    wanted = Table if statement.what == "CREATE TABLE" else View
    if not isinstance(relation, wanted):
        other = "VIEW" if wanted is Table else "TABLE"
        raise CatalogError(
            f"`{relation.name}` is not a {statement.what.split()[1].lower()}",
            at=statement.name.span,
            hint=f"SHOW CREATE {other} {relation.name}",
        )
    identifier = relation.identifier
    name = s.Name((identifier.catalog, identifier.database, identifier.name))
    if isinstance(relation, View):
        return to_sql(
            s.CreateView(
                name,
                relation.query,
                relation.columns,
                relation.comment,
                temporary=relation.temporary,
            )
        )
    return to_sql(
        s.CreateTable(
            name,
            relation.columns,
            relation.watermark,
            relation.primary_key,
            relation.comment,
            relation.partitioned_by,
            tuple(_without_secret(option) for option in relation.options),
            temporary=relation.temporary,
        )
    )


def _without_secret(option: s.Option) -> s.Option:
    hidden = any(word in option.key.lower() for word in ("password", "secret", "token"))
    return s.Option(option.key, "******") if hidden else option
