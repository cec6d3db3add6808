"""CREATE, DROP, ALTER and USE: statements that only change the catalog."""

from __future__ import annotations

from tidemark.catalog.alter import alter
from tidemark.catalog.catalogs import Catalogs
from tidemark.catalog.create import (
    Check,
    alter_function,
    create_catalog,
    create_database,
    create_function,
    create_table,
    create_view,
)
from tidemark.catalog.drop import drop
from tidemark.catalog.modules import apply_modules
from tidemark.catalog.stand_ins import StandIn, known_stand_in
from tidemark.dialect import statements as s
from tidemark.errors import Source

Definition = (
    s.CreateTable
    | s.CreateView
    | s.CreateFunction
    | s.CreateDatabase
    | s.CreateCatalog
    | s.Drop
    | s.Alter
    | s.Use
    | s.Modules
)


def apply(
    statement: Definition,
    catalogs: Catalogs,
    source: Source,
    check: Check,
    stand_in: StandIn = known_stand_in,
) -> str:
    """Apply the statement to the catalog. Returns a one-line confirmation.

    `check` is called before a table or view is added and raises if it is not valid; the catalog is
    unchanged then. `stand_in` finds the functions of Python for those of Java classes.
    """
    match statement:
        case s.CreateTable():
            return create_table(statement, catalogs, source, check)
        case s.CreateView():
            return create_view(statement, catalogs, source, check)
        case s.CreateFunction():
            return create_function(statement, catalogs, stand_in)
        case s.CreateDatabase():
            return create_database(statement, catalogs)
        case s.CreateCatalog():
            return create_catalog(statement, catalogs)
        case s.Drop():
            return drop(statement, catalogs)
        case s.Alter(kind="FUNCTION"):
            return alter_function(statement, catalogs, stand_in)
        case s.Alter():
            return alter(statement, catalogs, source, check)
        case s.Use():
            return _use(statement, catalogs)
        case s.Modules():
            return apply_modules(statement)


def _use(statement: s.Use, catalogs: Catalogs) -> str:
    if statement.kind == "CATALOG":
        name = statement.name.parts[-1]
        catalog = catalogs.catalog(name, statement.name.span)
        catalogs.current_catalog, catalogs.current_database = name, catalog.default_database
        return f"catalog `{name}` is current"
    catalog_name, name = catalogs.identify_database(statement.name)
    catalogs.database(catalog_name, name, statement.name.span)
    catalogs.current_catalog, catalogs.current_database = catalog_name, name
    return f"database `{name}` is current"
