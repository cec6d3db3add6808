"""CREATE, DROP and USE: statements that change the catalog and nothing else."""

from __future__ import annotations

from tidemark.catalog.alter import alter
from tidemark.catalog.catalogs import Catalog, Catalogs, Database
from tidemark.catalog.like import derive
from tidemark.catalog.tables import Relation, Table, UserFunction, View
from tidemark.dialect import statements as s
from tidemark.errors import CatalogError, NotSupported, OptionError, Source, Span, did_you_mean

Definition = (
    s.CreateTable
    | s.CreateView
    | s.CreateFunction
    | s.CreateDatabase
    | s.CreateCatalog
    | s.Drop
    | s.Alter
    | s.Use
)


def apply(statement: Definition, catalogs: Catalogs, source: Source) -> str:
    """Change the catalog as the statement says. Returns one line that says what happened."""
    match statement:
        case s.CreateTable():
            return _create_table(statement, catalogs, source)
        case s.CreateView():
            return _create_view(statement, catalogs, source)
        case s.CreateFunction():
            return _create_function(statement, catalogs)
        case s.CreateDatabase():
            return _create_database(statement, catalogs)
        case s.CreateCatalog():
            return _create_catalog(statement, catalogs)
        case s.Drop():
            return _drop(statement, catalogs)
        case s.Alter():
            return alter(statement, catalogs, source)
        case s.Use():
            return _use(statement, catalogs)


# --- create ------------------------------------------------------------------------------------


def _create_table(statement: s.CreateTable, catalogs: Catalogs, source: Source) -> str:
    if not _may_create(statement, catalogs):
        return f"table `{statement.name}` exists already"
    table = Table(
        identifier=catalogs.identify(statement.name),
        columns=statement.columns,
        watermark=statement.watermark,
        primary_key=statement.primary_key,
        options=statement.options,
        partitioned_by=statement.partitioned_by,
        comment=statement.comment,
        temporary=statement.temporary,
        source=source,
    )
    if statement.like is not None:
        base = catalogs.relation(statement.like.table)
        if not isinstance(base, Table):
            raise CatalogError(f"`{base.name}` is a view; LIKE takes a table", at=statement.span)
        table = derive(table, base, statement.like)
    check_columns(table)
    catalogs.put(table)
    return f"table `{table.name}` created"


def check_columns(table: Table) -> None:
    """Names must be distinct, and constraints must name columns that are there."""
    seen: set[str] = set()
    for column in table.columns:
        if column.name in seen:
            raise CatalogError(f"column `{column.name}` is declared twice", at=column.span)
        seen.add(column.name)
    if table.primary_key is not None:
        for name in table.primary_key.columns:
            _require_column(name, seen, "primary key", table.primary_key.span)
        for column in table.columns:
            if column.name in table.primary_key.columns and isinstance(column, s.MetadataColumn):
                raise CatalogError(
                    f"primary key column `{column.name}` must be a physical column",
                    at=table.primary_key.span,
                )
    if table.watermark is not None:
        _require_column(table.watermark.column[0], seen, "watermark", table.watermark.span)
    for name in table.partitioned_by:
        _require_column(name, seen, "PARTITIONED BY", None)


def _require_column(name: str, known: set[str], what: str, at: Span | None) -> None:
    if name not in known:
        raise CatalogError(
            f"{what} column `{name}` is not a column of the table",
            at=at,
            hint=did_you_mean(name, known),
        )


def _create_view(statement: s.CreateView, catalogs: Catalogs, source: Source) -> str:
    if not _may_create(statement, catalogs):
        return f"view `{statement.name}` exists already"
    view = View(
        identifier=catalogs.identify(statement.name),
        query=statement.query,
        columns=statement.columns,
        comment=statement.comment,
        temporary=statement.temporary,
        source=source,
    )
    catalogs.put(view)
    return f"view `{view.name}` created"


def _may_create(statement: s.CreateTable | s.CreateView, catalogs: Catalogs) -> bool:
    """Whether to go on; False where IF NOT EXISTS found the name taken."""
    identifier = catalogs.identify(statement.name)
    database = catalogs.database(identifier.catalog, identifier.database, statement.name.span)
    taken: Relation | None
    if statement.temporary:
        taken = catalogs.temporary.get(identifier)
    else:
        taken = database.relations.get(identifier.name)
    if taken is None or statement.or_replace:
        return True
    if statement.if_not_exists:
        return False
    kind = "table" if isinstance(taken, Table) else "view"
    raise CatalogError(
        f"{kind} `{statement.name}` exists already",
        at=statement.name.span,
        hint="DROP it first, or write CREATE OR REPLACE, or IF NOT EXISTS",
    )


def _create_function(statement: s.CreateFunction, catalogs: Catalogs) -> str:
    if statement.language.upper() != "PYTHON":
        raise NotSupported(
            f"functions in {statement.language.upper()} cannot be run; only LANGUAGE PYTHON",
            at=statement.span,
            hint="CREATE FUNCTION f AS 'module.function' LANGUAGE PYTHON",
        )
    temporary = statement.temporary or statement.system
    if catalogs.function(statement.name) is not None:
        if statement.if_not_exists:
            return f"function `{statement.name}` exists already"
        raise CatalogError(f"function `{statement.name}` exists already", at=statement.name.span)
    function = UserFunction(
        name=statement.name.parts[-1], identifier=statement.identifier, temporary=temporary
    )
    catalogs.put_function(statement.name, function)
    return f"function `{function.name}` created"


def _create_database(statement: s.CreateDatabase, catalogs: Catalogs) -> str:
    parts = statement.name.parts
    catalog_name = parts[0] if len(parts) > 1 else catalogs.current_catalog
    databases = catalogs.catalog(catalog_name, statement.name.span).databases
    if parts[-1] in databases:
        if statement.if_not_exists:
            return f"database `{parts[-1]}` exists already"
        raise CatalogError(f"database `{parts[-1]}` exists already", at=statement.name.span)
    options = {option.key: option.value for option in statement.options}
    databases[parts[-1]] = Database(statement.comment, options)
    return f"database `{parts[-1]}` created"


CATALOG_OPTIONS = ("type", "default-database")


def _create_catalog(statement: s.CreateCatalog, catalogs: Catalogs) -> str:
    name = statement.name.parts[-1]
    if name in catalogs.catalogs:
        if statement.if_not_exists:
            return f"catalog `{name}` exists already"
        raise CatalogError(f"catalog `{name}` exists already", at=statement.name.span)
    options = {}
    for option in statement.options:
        if option.key not in CATALOG_OPTIONS:
            raise OptionError(
                f"unknown option '{option.key}' of a catalog",
                at=option.span,
                hint=did_you_mean(option.key, CATALOG_OPTIONS),
            )
        options[option.key] = option.value
    if options.get("type") != "generic_in_memory":
        raise NotSupported(
            f"a catalog of type '{options.get('type', '')}' cannot be created",
            at=statement.span,
            hint="use 'type' = 'generic_in_memory'",
        )
    first = options.get("default-database", "default")
    catalogs.catalogs[name] = Catalog(statement.comment, options, {first: Database()})
    return f"catalog `{name}` created"


# --- drop and use ------------------------------------------------------------------------------


def _drop(statement: s.Drop, catalogs: Catalogs) -> str:
    match statement.kind:
        case "TABLE" | "VIEW":
            return _drop_relation(statement, catalogs)
        case "FUNCTION":
            return _drop_function(statement, catalogs)
        case "DATABASE":
            return _drop_database(statement, catalogs)
        case _:
            return _drop_catalog(statement, catalogs)


def _missing(statement: s.Drop, hint: str | None = None) -> str:
    what = f"{statement.kind.lower()} `{statement.name}` does not exist"
    if statement.if_exists:
        return what
    raise CatalogError(what, at=statement.name.span, hint=hint)


def _drop_relation(statement: s.Drop, catalogs: Catalogs) -> str:
    wanted = Table if statement.kind == "TABLE" else View
    identifier = catalogs.identify(statement.name)
    temporary = catalogs.temporary.get(identifier)
    if statement.temporary:
        found: Relation | None = temporary
    else:
        database = catalogs.database(identifier.catalog, identifier.database, statement.name.span)
        found = database.relations.get(identifier.name)
        if temporary is not None and isinstance(temporary, wanted):
            raise CatalogError(
                f"a temporary {statement.kind.lower()} `{statement.name}` exists",
                at=statement.name.span,
                hint=f"drop it first with DROP TEMPORARY {statement.kind}",
            )
    if not isinstance(found, wanted):
        return _missing(statement, did_you_mean(identifier.name, catalogs.relation_names()))
    catalogs.remove(found)
    return f"{statement.kind.lower()} `{statement.name}` dropped"


def _drop_function(statement: s.Drop, catalogs: Catalogs) -> str:
    found = catalogs.function(statement.name)
    if found is None:
        return _missing(
            statement, did_you_mean(statement.name.parts[-1], catalogs.function_names())
        )
    catalogs.remove_function(statement.name, found.temporary)
    return f"function `{statement.name}` dropped"


def _drop_database(statement: s.Drop, catalogs: Catalogs) -> str:
    parts = statement.name.parts
    catalog_name = parts[0] if len(parts) > 1 else catalogs.current_catalog
    databases = catalogs.catalog(catalog_name, statement.name.span).databases
    if parts[-1] not in databases:
        return _missing(statement, did_you_mean(parts[-1], databases))
    if (catalog_name, parts[-1]) == (catalogs.current_catalog, catalogs.current_database):
        raise CatalogError(
            f"database `{parts[-1]}` is in use",
            at=statement.name.span,
            hint="USE another one first",
        )
    if databases[parts[-1]].relations and not statement.cascade:
        raise CatalogError(
            f"database `{parts[-1]}` is not empty", at=statement.name.span, hint="add CASCADE"
        )
    del databases[parts[-1]]
    return f"database `{parts[-1]}` dropped"


def _drop_catalog(statement: s.Drop, catalogs: Catalogs) -> str:
    name = statement.name.parts[-1]
    if name not in catalogs.catalogs:
        return _missing(statement, did_you_mean(name, catalogs.catalogs))
    if name == catalogs.current_catalog:
        raise CatalogError(
            f"catalog `{name}` is in use", at=statement.name.span, hint="USE CATALOG another first"
        )
    del catalogs.catalogs[name]
    return f"catalog `{name}` dropped"


def _use(statement: s.Use, catalogs: Catalogs) -> str:
    parts = statement.name.parts
    if statement.kind == "CATALOG":
        catalog = catalogs.catalog(parts[-1], statement.name.span)
        catalogs.current_catalog = parts[-1]
        catalogs.current_database = next(iter(catalog.databases), "default")
        return f"catalog `{parts[-1]}` is current"
    catalog_name = parts[0] if len(parts) > 1 else catalogs.current_catalog
    catalogs.database(catalog_name, parts[-1], statement.name.span)
    catalogs.current_catalog, catalogs.current_database = catalog_name, parts[-1]
    return f"database `{parts[-1]}` is current"
