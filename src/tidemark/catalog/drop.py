"""DROP: what can be removed, and what must stay."""

from __future__ import annotations

from tidemark.catalog.catalogs import Catalogs
from tidemark.catalog.tables import Relation, Table, View
from tidemark.dialect import statements as s
from tidemark.errors import CatalogError, did_you_mean


def drop(statement: s.Drop, catalogs: Catalogs) -> str:
    """Remove the object that the statement names. Returns a one-line confirmation."""
    match statement.kind:
        case "TABLE" | "VIEW":
            return _drop_relation(statement, catalogs)
        case "FUNCTION":
            return _drop_function(statement, catalogs)
        case "DATABASE":
            return _drop_database(statement, catalogs)
        case _:
            return _drop_catalog(statement, catalogs)


def _missing(statement: s.Drop, hint: str | None) -> str:
    temporary = "temporary " if statement.temporary else ""
    what = f"{temporary}{statement.kind.lower()} `{statement.name}` does not exist"
    if statement.if_exists:
        return what
    raise CatalogError(what, at=statement.name.span, hint=hint)


def _drop_relation(statement: s.Drop, catalogs: Catalogs) -> str:
    wanted = Table if statement.kind == "TABLE" else View
    identifier = catalogs.identify(statement.name)
    temporary = catalogs.temporary.get(identifier)
    if not statement.temporary and isinstance(temporary, wanted):
        raise CatalogError(
            f"`{statement.name}` is a temporary {statement.kind.lower()}",
            at=statement.name.span,
            hint=f"drop it with DROP TEMPORARY {statement.kind}",
        )
    found = temporary if statement.temporary else catalogs.permanent(identifier)
    if not isinstance(found, wanted):
        return _missing(statement, _other_kind(found, statement, catalogs))
    catalogs.remove(found)
    return f"{statement.kind.lower()} `{statement.name}` dropped"


def _other_kind(found: Relation | None, statement: s.Drop, catalogs: Catalogs) -> str | None:
    if found is None:
        lasting = statement.temporary and catalogs.permanent(catalogs.identify(statement.name))
        if lasting:
            kind = "TABLE" if isinstance(lasting, Table) else "VIEW"
            return f"it is not temporary: DROP {kind} {statement.name}"
        return did_you_mean(statement.name.parts[-1], catalogs.relation_names())
    return f"`{statement.name}` is a {'table' if isinstance(found, Table) else 'view'}"


def _drop_function(statement: s.Drop, catalogs: Catalogs) -> str:
    found = catalogs.function_to_drop(statement.name, statement.temporary)
    if found is None:
        hint = did_you_mean(statement.name.parts[-1], catalogs.function_names())
        if not statement.temporary and catalogs.function(statement.name) is not None:
            hint = "drop it with DROP TEMPORARY FUNCTION"
        return _missing(statement, hint)
    catalogs.remove_function(statement.name, found)
    return f"function `{statement.name}` dropped"


def _drop_database(statement: s.Drop, catalogs: Catalogs) -> str:
    catalog, name = catalogs.identify_database(statement.name)
    databases = catalogs.catalog(catalog, statement.name.span).databases
    if name not in databases:
        return _missing(statement, did_you_mean(name, databases))
    if (catalog, name) == catalogs.path:
        raise CatalogError(
            f"database `{name}` is in use",
            at=statement.name.span,
            hint="switch to another database with USE first",
        )
    if databases[name].relations and not statement.cascade:
        raise CatalogError(
            f"database `{name}` is not empty",
            at=statement.name.span,
            notes={"contains": ", ".join(sorted(databases[name].relations))},
            hint="add CASCADE to drop them too",
        )
    catalogs.drop_database(catalog, name)
    return f"database `{name}` dropped"


def _drop_catalog(statement: s.Drop, catalogs: Catalogs) -> str:
    name = statement.name.parts[-1]
    if name not in catalogs.catalogs:
        return _missing(statement, did_you_mean(name, catalogs.catalogs))
    if name == catalogs.current_catalog:
        raise CatalogError(
            f"catalog `{name}` is in use",
            at=statement.name.span,
            hint="switch to another catalog with USE CATALOG first",
        )
    catalogs.drop_catalog(name)
    return f"catalog `{name}` dropped"
