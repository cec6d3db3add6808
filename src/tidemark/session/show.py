"""What SHOW, DESCRIBE and SET print."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tidemark import connectors, functions
from tidemark import types as t
from tidemark.catalog.catalogs import Catalogs
from tidemark.catalog.definitions import create_table, create_view
from tidemark.catalog.options import SessionOptions
from tidemark.catalog.tables import Relation, Table, View
from tidemark.dialect import statements as s
from tidemark.dialect import to_sql
from tidemark.dialect.unsupported import SHOW
from tidemark.errors import CatalogError, Span
from tidemark.plan import late_rows
from tidemark.plan.nodes import Column
from tidemark.plan.planner import Planner
from tidemark.redaction import shown


@dataclass(frozen=True, slots=True)
class TableResult:
    """A small table that is completely known."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[object, ...], ...]


def _table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> TableResult:
    columns = tuple(Column(name, t.STRING) for name in names)
    return TableResult(columns, tuple(tuple(row) for row in rows))


def text(name: str, content: str) -> TableResult:
    return _table([name], [(content,)])


def options(values: SessionOptions) -> TableResult:
    return _table(["key", "value"], [(key, shown(key, value)) for key, value in values.items()])


def show(statement: s.Show, catalogs: Catalogs, planner: Planner) -> TableResult:
    match statement.what:
        case "COLUMNS":
            assert statement.name is not None
            return _filtered(describe(statement.name, catalogs, planner), statement)
        case "CREATE TABLE" | "CREATE VIEW":
            return text("result", _create_statement(statement, catalogs))
        case "CURRENT CATALOG":
            return text("current catalog name", catalogs.current_catalog)
        case "CURRENT DATABASE":
            return text("current database name", catalogs.current_database)
        case "MODULES":
            return text("module name", "core")
        case "TABLES" | "VIEWS" | "FUNCTIONS" | "CATALOGS" | "DATABASES":
            column = statement.what.lower().removesuffix("s") + " name"
            names = sorted(_names(statement, catalogs))
            return _filtered(_table([column], [(name,) for name in names]), statement)
    raise SHOW.error(statement.span, statement.what)


def _names(statement: s.Show, catalogs: Catalogs) -> list[str]:
    match statement.what:
        case "CATALOGS":
            return list(catalogs.catalogs)
        case "DATABASES":
            return list(catalogs.catalog(*_catalog(statement, catalogs)).databases)
    path = _database(statement, catalogs)
    match statement.what:
        case "TABLES":
            return catalogs.relation_names(*path)
        case "VIEWS":
            return [r.name for r in catalogs.relations(*path) if isinstance(r, View)]
        case _:
            built_in = [name.lower() for name in functions.BUILT_IN if name[0].isalpha()]
            return [*built_in, *catalogs.function_names(*path)]


def _catalog(statement: s.Show, catalogs: Catalogs) -> tuple[str, Span | None]:
    """The catalog after FROM in SHOW DATABASES."""
    if statement.name is None:
        return catalogs.current_catalog, None
    return statement.name.parts[-1], statement.name.span


def _database(statement: s.Show, catalogs: Catalogs) -> tuple[str, str]:
    """The database after FROM in SHOW TABLES; it must exist."""
    if statement.name is None:
        return catalogs.path
    path = catalogs.identify_database(statement.name)
    catalogs.database(*path, statement.name.span)
    return path


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
    """A row for each column, as in Flink's DESCRIBE; comments only if there are any."""
    parent = late_rows.relation_of(name, catalogs)
    if parent is not None:
        columns = planner.late_rows(parent, name).columns
        return _table(_DESCRIBED[:-1], [_undeclared(column) for column in columns])
    relation = catalogs.relation(name)
    rows = [_described(column, relation) for column in planner.relation(relation).columns]
    if any(row[-1] for row in rows):
        return _table(_DESCRIBED, rows)
    return _table(_DESCRIBED[:-1], [row[:-1] for row in rows])


_DESCRIBED = ("name", "type", "null", "key", "extras", "watermark", "comment")


def _undeclared(column: Column) -> tuple[object, ...]:
    time = {"event": " *ROWTIME*", "processing": " *PROCTIME*", None: ""}[column.time]
    null = "TRUE" if column.type.nullable else "FALSE"
    return (column.name, column.type.text() + time, null, None, None, None)


def _described(column: Column, relation: Relation) -> tuple[object, ...]:
    if isinstance(relation, View):
        return (*_undeclared(column), None)
    key, watermark = relation.primary_key, relation.watermark
    in_key = key is not None and column.name in key.columns
    marked = watermark is not None and watermark.column == (column.name,)
    declared = next(c for c in relation.columns if c.name == column.name)
    return (
        *_undeclared(column)[:3],
        f"PRI({', '.join(key.columns)})" if in_key and key else None,
        _extras(declared),
        to_sql(watermark.expression) if marked and watermark else None,
        declared.comment,
    )


def _extras(column: s.Column) -> str | None:
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
    if isinstance(relation, View):
        return to_sql(create_view(relation))
    return to_sql(create_table(replace(relation, options=connectors.shown_options(relation))))
