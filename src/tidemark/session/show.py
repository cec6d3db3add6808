"""What SHOW and SET print."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from tidemark import functions
from tidemark.catalog.catalogs import Catalogs
from tidemark.catalog.definitions import create_table, create_view
from tidemark.catalog.modules import CORE
from tidemark.catalog.options import SessionOptions
from tidemark.catalog.partitions import partition_values
from tidemark.catalog.tables import Table, View
from tidemark.catalog.unsupported import CATALOG_TYPE
from tidemark.connectors import registry
from tidemark.dialect import statements as s
from tidemark.dialect import to_sql
from tidemark.errors import CatalogError, Span
from tidemark.plan.planner import Planner
from tidemark.redaction import shown
from tidemark.session.describe import columns_of
from tidemark.session.table_result import TableResult, table


def text(name: str, content: str) -> TableResult:
    return table([name], [(content,)])


def options(values: SessionOptions) -> TableResult:
    return table(["key", "value"], [(key, shown(key, value)) for key, value in values.items()])


def show(statement: s.Show, catalogs: Catalogs, planner: Planner) -> TableResult:
    match statement.what:
        case "COLUMNS":
            assert statement.name is not None
            return _filtered(columns_of(statement.name, catalogs, planner), statement)
        case "CREATE TABLE" | "CREATE VIEW":
            return text("result", _create_statement(statement, catalogs))
        case "CREATE CATALOG":
            return text("result", _create_catalog(statement, catalogs))
        case "CURRENT CATALOG":
            return text("current catalog name", catalogs.current_catalog)
        case "CURRENT DATABASE":
            return text("current database name", catalogs.current_database)
        case "FULL MODULES":
            return table(["module name", "used"], [(CORE, True)])
        case "PARTITIONS":
            return table(["partition name"], [(name,) for name in _partitions(statement, catalogs)])
    column = _COLUMN.get(statement.what) or statement.what.lower().removesuffix("s") + " name"
    names = sorted(_names(statement, catalogs))
    return _filtered(table([column], [(name,) for name in names]), statement)


_COLUMN = {
    "JARS": "jars",
    "MATERIALIZED TABLES": "materialized table",
    "USER FUNCTIONS": "function name",
}


def _names(statement: s.Show, catalogs: Catalogs) -> list[str]:
    match statement.what:
        case "CATALOGS":
            return list(catalogs.catalogs)
        case "DATABASES":
            return list(catalogs.catalog(*_catalog(statement, catalogs)).databases)
        case "MODULES":
            return [CORE]
    path = _database(statement, catalogs)
    match statement.what:
        case "TABLES":
            return catalogs.relation_names(*path)
        case "VIEWS":
            return [r.name for r in catalogs.relations(*path) if isinstance(r, View)]
        case "USER FUNCTIONS":
            return catalogs.function_names(*path)
        case "FUNCTIONS":
            built_in = [name.lower() for name in functions.BUILT_IN if name[0].isalpha()]
            return [*built_in, *catalogs.function_names(*path)]
    return []  # jars, models, procedures and materialized tables: none can be created


def _partitions(statement: s.Show, catalogs: Catalogs) -> Iterator[str]:
    """Those that ALTER TABLE has added. As in Flink, others are not known to the catalog."""
    assert statement.name is not None
    found = catalogs.relation(statement.name)
    if not isinstance(found, Table) or not found.partitioned_by:
        raise CatalogError(f"`{found.name}` is not partitioned", at=statement.name.span)
    wanted = partition_values(statement.partition, found, whole=False)
    for partition in found.partitions:
        if set(wanted) <= set(partition):
            yield "/".join(f"{name}={value}" for name, value in partition)


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
    parts = (_pattern_of(part) for part in re.findall(r"\\?.", statement.like, re.DOTALL))
    pattern = re.compile("".join(parts), re.DOTALL | (re.IGNORECASE if statement.any_case else 0))
    rows = tuple(
        row for row in table.rows if bool(pattern.fullmatch(str(row[0]))) is not statement.negated
    )
    return TableResult(table.columns, rows)


def _pattern_of(part: str) -> str:
    """A character of LIKE, perhaps escaped with a backslash, as a regular expression."""
    return {"%": ".*", "_": "."}.get(part) or re.escape(part.removeprefix("\\") or part)


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
    return to_sql(create_table(replace(relation, options=registry.shown_options(relation))))


def _create_catalog(statement: s.Show, catalogs: Catalogs) -> str:
    assert statement.name is not None
    name = statement.name.parts[-1]
    catalog = catalogs.catalog(name, statement.name.span)
    options = {"type": CATALOG_TYPE, **catalog.options}
    values = tuple(s.Option(key, shown(key, value)) for key, value in sorted(options.items()))
    return to_sql(s.CreateCatalog(s.Name((name,)), catalog.comment, values))
