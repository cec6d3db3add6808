"""CREATE: tables, views, functions, databases and catalogs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from tidemark import functions
from tidemark.catalog import unsupported
from tidemark.catalog.catalogs import Catalog, Catalogs, Database
from tidemark.catalog.checks import check_columns
from tidemark.catalog.like import derive
from tidemark.catalog.options import STAND_IN_PREFIX
from tidemark.catalog.stand_ins import StandIn
from tidemark.catalog.tables import Relation, Table, UserFunction, View
from tidemark.catalog.unsupported import CATALOG_TYPE
from tidemark.dialect import statements as s
from tidemark.errors import CatalogError, OptionError, Source, Span, did_you_mean
from tidemark.functions import aggregates

# Called before a table or view is added: raises if it is not valid.
Check = Callable[[Relation], None]


def create_table(statement: s.CreateTable, catalogs: Catalogs, source: Source, check: Check) -> str:
    if not may_create(statement, catalogs):
        return f"table `{statement.name}` already exists"
    table = declared(statement, catalogs, source)
    check_columns(table)
    check(table)
    catalogs.put(table)
    return f"table `{table.name}` created"


def declared(statement: s.CreateTable, catalogs: Catalogs, source: Source | None) -> Table:
    """The table of the statement, with what LIKE adds; it is not checked."""
    table = Table(
        identifier=catalogs.identify(statement.name),
        columns=statement.columns,
        watermark=statement.watermark,
        primary_key=statement.primary_key,
        options=statement.options,
        distribution=statement.distribution,
        partitioned_by=statement.partitioned_by,
        comment=statement.comment,
        temporary=statement.temporary,
        source=source,
        at=statement.name.span,
    )
    if statement.like is not None:
        table = derive(table, _base(statement.like, catalogs), statement.like)
    return catalogs.completed(table)


def _base(like: s.Like, catalogs: Catalogs) -> Table:
    base = catalogs.relation(like.table)
    if not isinstance(base, Table):
        raise CatalogError(f"LIKE needs a table, and `{base.name}` is a view", at=like.table.span)
    return base


def create_view(statement: s.CreateView, catalogs: Catalogs, source: Source, check: Check) -> str:
    if not may_create(statement, catalogs):
        return f"view `{statement.name}` already exists"
    view = View(
        identifier=catalogs.identify(statement.name),
        query=statement.query,
        columns=statement.columns,
        comment=statement.comment,
        temporary=statement.temporary,
        source=source,
        path=catalogs.path,
    )
    check(view)
    catalogs.put(view)
    return f"view `{view.name}` created"


def may_create(statement: s.CreateTable | s.CreateView, catalogs: Catalogs) -> bool:
    """Whether to create it; False if it already exists and IF NOT EXISTS was given."""
    identifier = catalogs.identify(statement.name)
    taken: Relation | None
    if statement.temporary:
        # As in Flink, a temporary object may even be in a database that does not exist.
        taken = catalogs.temporary.get(identifier)
    else:
        database = catalogs.database(identifier.catalog, identifier.database, statement.name.span)
        taken = database.relations.get(identifier.name)
    if taken is None and isinstance(statement, s.CreateTable) and statement.must_exist:
        raise CatalogError(
            f"table `{statement.name}` does not exist, so it cannot be replaced",
            at=statement.name.span,
            hint=did_you_mean(identifier.name, catalogs.relation_names(*identifier.path))
            or "use CREATE OR REPLACE TABLE",
        )
    if taken is not None and statement.or_replace and catalogs.keeps(identifier):
        raise CatalogError(
            f"`{statement.name}` exists, and catalog `{identifier.catalog}` keeps its rows",
            at=statement.name.span,
            hint="DROP it first to replace it with its rows",
        )
    if taken is None or statement.or_replace:
        return True
    if statement.if_not_exists:
        return False
    kind = "table" if isinstance(taken, Table) else "view"
    raise CatalogError(
        f"{kind} `{statement.name}` already exists",
        at=statement.name.span,
        hint="DROP it first, or use CREATE OR REPLACE or IF NOT EXISTS",
    )


# --- functions ---------------------------------------------------------------------------------


def is_built_in(name: str) -> bool:
    """Whether this is the name of a built-in Flink function, which users cannot redefine."""
    return functions.lookup(name) is not None or aggregates.lookup(name) is not None


def create_function(statement: s.CreateFunction, catalogs: Catalogs, stand_in: StandIn) -> str:
    name = statement.name.parts[-1]
    implementation = _implementation(
        statement.identifier, statement.language, statement.span, stand_in
    )
    if is_built_in(name) or name.upper() in functions.NOT_YET:
        raise CatalogError(
            f"`{name}` is a built-in function and cannot be replaced",
            at=statement.name.span,
            hint="choose a different name",
        )
    temporary = statement.temporary or statement.system
    function = replace(implementation, name=name, temporary=temporary, system=statement.system)
    if catalogs.has_function(statement.name, function):
        if statement.if_not_exists:
            return f"function `{statement.name}` already exists"
        raise CatalogError(f"function `{statement.name}` already exists", at=statement.name.span)
    catalogs.put_function(statement.name, function)
    return f"function `{name}` created"


def _implementation(identifier: str, language: str, at: Span, stand_in: StandIn) -> UserFunction:
    """The function of Python, or that which stands in for one of another language."""
    if language.upper() == "PYTHON":
        return UserFunction("", identifier=identifier)
    found = stand_in(identifier)
    if found is None:
        option = f"{STAND_IN_PREFIX}{identifier}"
        raise unsupported.LANGUAGE.error(
            at,
            language.upper(),
            hint="write the function in Python, and name it before this statement: "
            f"SET '{option}' = 'module.function'",
        )
    return found if isinstance(found, UserFunction) else UserFunction("", identifier=found)


def alter_function(statement: s.Alter, catalogs: Catalogs, stand_in: StandIn) -> str:
    """ALTER FUNCTION: other code under the same name."""
    [action] = statement.actions
    assert isinstance(action, s.SetImplementation)
    implementation = _implementation(action.identifier, action.language, statement.span, stand_in)
    found = catalogs.function_to_drop(statement.name, temporary=False)
    if found is None:
        what = f"function `{statement.name}` does not exist"
        if statement.if_exists:
            return what
        hint = did_you_mean(statement.name.parts[-1], catalogs.function_names())
        raise CatalogError(what, at=statement.name.span, hint=hint)
    catalogs.put_function(statement.name, replace(implementation, name=found.name))
    return f"function `{statement.name}` altered"


# --- databases and catalogs --------------------------------------------------------------------


def create_database(statement: s.CreateDatabase, catalogs: Catalogs) -> str:
    catalog, name = catalogs.identify_database(statement.name)
    databases = catalogs.catalog(catalog, statement.name.span).databases
    if name in databases:
        if statement.if_not_exists:
            return f"database `{name}` already exists"
        raise CatalogError(f"database `{name}` already exists", at=statement.name.span)
    options = {option.key: option.value for option in statement.options}
    databases[name] = Database(statement.comment, options)
    return f"database `{name}` created"


_DEFAULT_DATABASE = "default-database"


def create_catalog(statement: s.CreateCatalog, catalogs: Catalogs) -> str:
    name = statement.name.parts[-1]
    if name in catalogs.catalogs:
        if statement.if_not_exists:
            return f"catalog `{name}` already exists"
        raise CatalogError(f"catalog `{name}` already exists", at=statement.name.span)
    kind = next((option.value for option in statement.options if option.key == "type"), None)
    if kind is not None and kind in catalogs.kinds:
        catalogs.catalogs[name] = catalogs.kinds[kind](statement, runs=catalogs.runs)
        return f"catalog `{name}` created"
    options = _catalog_options(statement)
    first = options.get(_DEFAULT_DATABASE, "default")
    catalogs.catalogs[name] = Catalog(statement.comment, options, {first: Database()}, first)
    return f"catalog `{name}` created"


def _catalog_options(statement: s.CreateCatalog) -> dict[str, str]:
    options = {option.key: option for option in statement.options}
    kind = options.get("type")
    hint = f"use 'type' = '{CATALOG_TYPE}'"
    if kind is None:
        raise OptionError("option 'type' of the catalog is missing", at=statement.span, hint=hint)
    check_catalog_options(statement.options)
    return {key: option.value for key, option in options.items()}


def check_catalog_options(options: Iterable[s.Option]) -> None:
    known = ("type", _DEFAULT_DATABASE, "property-version")
    for option in options:
        if option.key == "type" and option.value != CATALOG_TYPE:
            raise unsupported.CATALOG.error(option.span, option.value)
        if option.key not in known:
            raise OptionError(
                f"unknown catalog option '{option.key}'",
                at=option.span,
                notes={"options": ", ".join(known)},
                hint=did_you_mean(option.key, known),
            )
