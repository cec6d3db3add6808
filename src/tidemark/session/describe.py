"""What DESCRIBE prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tidemark import functions
from tidemark.catalog.catalogs import Catalogs
from tidemark.catalog.tables import Relation, UserFunction, View
from tidemark.catalog.unsupported import CATALOG_TYPE
from tidemark.dialect import statements as s
from tidemark.dialect import to_sql
from tidemark.errors import CatalogError, did_you_mean
from tidemark.functions import aggregates
from tidemark.plan import late_rows
from tidemark.plan.nodes import Column
from tidemark.plan.planner import Planner
from tidemark.redaction import shown
from tidemark.session.table_result import TableResult, table


def describe(statement: s.Describe, catalogs: Catalogs, planner: Planner) -> TableResult:
    match statement.kind:
        case "CATALOG":
            return _catalog(statement, catalogs)
        case "DATABASE":
            return _database(statement, catalogs)
        case "FUNCTION":
            return _function(statement, catalogs)
    return columns_of(statement.name, catalogs, planner)


def columns_of(name: s.Name, catalogs: Catalogs, planner: Planner) -> TableResult:
    """A row for each column, as in Flink's DESCRIBE; comments only if there are any."""
    parent = late_rows.relation_of(name, catalogs)
    if parent is not None:
        columns = planner.late_rows(parent, name).columns
        return table(_DESCRIBED[:-1], [_undeclared(column) for column in columns])
    relation = catalogs.relation(name)
    rows = [_described(column, relation) for column in planner.relation(relation).columns]
    if any(row[-1] for row in rows):
        return table(_DESCRIBED, rows)
    return table(_DESCRIBED[:-1], [row[:-1] for row in rows])


_DESCRIBED = ("name", "type", "null", "key", "extras", "watermark", "comment")


def _undeclared(column: Column) -> tuple[object, ...]:
    time = {"event": " *ROWTIME*", "processing": " *PROCTIME*", None: ""}[column.time]
    return (column.name, column.type.text() + time, column.type.nullable, None, None, None)


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


# --- other objects: a row for each property, as in Flink -----------------------------------------


def _properties(rows: Iterable[tuple[str, object]]) -> TableResult:
    return table(["info name", "info value"], rows)


def _options(options: Mapping[str, str]) -> list[tuple[str, object]]:
    return [(f"option:{key}", shown(key, value)) for key, value in sorted(options.items())]


def _catalog(statement: s.Describe, catalogs: Catalogs) -> TableResult:
    name = statement.name.parts[-1]
    catalog = catalogs.catalog(name, statement.name.span)
    options = {key: value for key, value in catalog.options.items() if key != "type"}
    rows: list[tuple[str, object]] = [
        ("name", name),
        ("type", catalog.options.get("type", CATALOG_TYPE)),
    ]
    rows.append(("comment", catalog.comment))
    return _properties([*rows, *(_options(options) if statement.extended else ())])


def _database(statement: s.Describe, catalogs: Catalogs) -> TableResult:
    catalog, name = catalogs.identify_database(statement.name)
    database = catalogs.database(catalog, name, statement.name.span)
    rows: list[tuple[str, object]] = [("name", name), ("comment", database.comment)]
    return _properties([*rows, *(_options(database.options) if statement.extended else ())])


def _function(statement: s.Describe, catalogs: Catalogs) -> TableResult:
    found = catalogs.function(statement.name)
    if found is not None:
        return _properties(_of_user(found, extended=statement.extended))
    name = statement.name.parts[-1]
    aggregate = aggregates.lookup(name) is not None
    if len(statement.name.parts) > 1 or not (aggregate or functions.lookup(name)):
        known = [*catalogs.function_names(), *functions.BUILT_IN]
        raise CatalogError(
            f"function `{statement.name}` does not exist",
            at=statement.name.span,
            hint=did_you_mean(name, known),
        )
    rows: list[tuple[str, object]] = [("is system function", "true"), ("is temporary", "false")]
    if statement.extended:
        rows += _extended("AGGREGATE" if aggregate else "SCALAR", deterministic=True)
    return _properties(rows)


def _of_user(function: UserFunction, *, extended: bool) -> list[tuple[str, object]]:
    identifier = function.identifier or _code_of(function)
    rows: list[tuple[str, object]] = [
        ("is system function", _word(function.system)),
        ("is temporary", _word(function.temporary)),
        ("class name", identifier),
        ("function language", "PYTHON"),
        ("resource uris", "[]"),
    ]
    if function.system:
        rows = rows[:2]
    if extended:
        kind = "AGGREGATE" if function.aggregate else "TABLE" if function.table else "SCALAR"
        rows += _extended(kind, deterministic=function.deterministic)
    return rows


def _extended(kind: str, *, deterministic: bool) -> list[tuple[str, object]]:
    return [
        ("kind", kind),
        ("requirements", "[]"),
        ("is deterministic", _word(deterministic)),
        ("supports constant folding", _word(deterministic)),
    ]


def _word(value: bool) -> str:
    return "true" if value else "false"


def _code_of(function: UserFunction) -> str:
    code = function.implementation
    named = code if hasattr(code, "__qualname__") else type(code)
    return f"{named.__module__}.{named.__qualname__}"
