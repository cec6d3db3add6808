"""ALTER: a table, view, database or catalog changed in place."""

from __future__ import annotations

from dataclasses import replace

from tidemark.catalog.catalogs import Catalogs
from tidemark.catalog.tables import Identifier, Relation, Table, View
from tidemark.dialect import statements as s
from tidemark.errors import CatalogError, Source, did_you_mean


def alter(statement: s.Alter, catalogs: Catalogs, source: Source) -> str:
    """Apply the actions in order. Returns one line that says what happened."""
    match statement.kind:
        case "DATABASE":
            return _alter_database(statement, catalogs)
        case "CATALOG":
            return _alter_catalog(statement, catalogs)
        case "FUNCTION":
            raise CatalogError(
                "functions cannot be altered", at=statement.span, hint="DROP and CREATE it"
            )
    wanted = Table if statement.kind == "TABLE" else View
    found = catalogs.find(statement.name)
    if not isinstance(found, wanted):
        if statement.if_exists:
            return f"{statement.kind.lower()} `{statement.name}` does not exist"
        raise CatalogError(
            f"{statement.kind.lower()} `{statement.name}` does not exist",
            at=statement.name.span,
            hint=did_you_mean(statement.name.parts[-1], catalogs.relation_names()),
        )
    changed: Relation = found
    for action in statement.actions:
        changed = (
            _alter_table(changed, action, statement, source)
            if isinstance(changed, Table)
            else _alter_view(changed, action, statement, source)
        )
    _replace(found, changed, statement, catalogs)
    return f"{statement.kind.lower()} `{statement.name}` altered"


def _replace(old: Relation, new: Relation, statement: s.Alter, catalogs: Catalogs) -> None:
    if new.identifier != old.identifier:
        if catalogs.find(s.Name((*_path(new.identifier),))) is not None:
            raise CatalogError(f"`{new.name}` exists already", at=statement.span)
        catalogs.remove(old)
    catalogs.put(new)


def _path(identifier: Identifier) -> tuple[str, str, str]:
    return identifier.catalog, identifier.database, identifier.name


def _renamed(identifier: Identifier, name: s.Name) -> Identifier:
    return Identifier(*_path(identifier)[: 3 - len(name.parts)], *name.parts)


def _alter_view(view: View, action: s.AlterAction, statement: s.Alter, source: Source) -> View:
    match action:
        case s.RenameTo(name=name):
            return replace(view, identifier=_renamed(view.identifier, name))
        case s.SetQuery(query=query):
            return replace(view, query=query, columns=(), source=source)
    raise CatalogError("a view can be renamed or given another query", at=statement.span)


def _alter_table(table: Table, action: s.AlterAction, statement: s.Alter, source: Source) -> Table:
    match action:
        case s.RenameTo(name=name):
            return replace(table, identifier=_renamed(table.identifier, name))
        case s.SetOptions(options=options):
            changed = {option.key for option in options}
            kept = tuple(o for o in table.options if o.key not in changed)
            return replace(table, options=(*kept, *options), source=_shared(table, source))
        case s.ResetOptions(keys=keys):
            return replace(table, options=tuple(o for o in table.options if o.key not in keys))
        case s.SetWatermark(watermark=watermark, add=add):
            if add and table.watermark is not None:
                raise CatalogError("the table has a watermark already", at=statement.span)
            return replace(table, watermark=watermark, source=_shared(table, source))
        case s.SetPrimaryKey(primary_key=key, add=add):
            if add and table.primary_key is not None:
                raise CatalogError("the table has a primary key already", at=statement.span)
            return replace(table, primary_key=key)
        case s.SetQuery():
            raise CatalogError("a table has no query", at=statement.span)
    columns = _alter_columns(table, action, statement)
    return replace(table, columns=columns, source=_shared(table, source))


def _shared(table: Table, source: Source) -> Source | None:
    """The text that old and new spans point into, if it is one text."""
    return source if table.source is source else None


def _alter_columns(
    table: Table,
    action: s.AddColumn | s.ModifyColumn | s.RenameColumn | s.DropColumns,
    statement: s.Alter,
) -> tuple[s.Column, ...]:
    columns = list(table.columns)
    match action:
        case s.AddColumn(column=column):
            if any(c.name == column.name for c in columns):
                raise CatalogError(f"column `{column.name}` exists already", at=statement.span)
            columns.insert(_place(columns, action, statement, len(columns)), column)
        case s.ModifyColumn(column=column):
            position = _position(columns, column.name, statement)
            del columns[position]
            columns.insert(_place(columns, action, statement, position), column)
        case s.RenameColumn(old=old, new=new):
            position = _position(columns, old, statement)
            _refuse_if_used(table, old, statement)
            columns[position] = replace(columns[position], name=new)
        case s.DropColumns(names=names):
            for name in names:
                _refuse_if_used(table, name, statement)
                del columns[_position(columns, name, statement)]
    return tuple(columns)


def _place(
    columns: list[s.Column], action: s.AddColumn | s.ModifyColumn, at: s.Alter, default: int
) -> int:
    if action.first:
        return 0
    return default if action.after is None else _position(columns, action.after, at) + 1


def _position(columns: list[s.Column], name: str, statement: s.Alter) -> int:
    for position, column in enumerate(columns):
        if column.name == name:
            return position
    raise CatalogError(
        f"column `{name}` does not exist",
        at=statement.span,
        hint=did_you_mean(name, [c.name for c in columns]),
    )


def _refuse_if_used(table: Table, name: str, statement: s.Alter) -> None:
    uses = []
    if table.primary_key is not None and name in table.primary_key.columns:
        uses.append("the primary key")
    if table.watermark is not None and name == table.watermark.column[0]:
        uses.append("the watermark")
    if name in table.partitioned_by:
        uses.append("PARTITIONED BY")
    if uses:
        raise CatalogError(f"column `{name}` is used by {' and '.join(uses)}", at=statement.span)


def _alter_database(statement: s.Alter, catalogs: Catalogs) -> str:
    parts = statement.name.parts
    catalog = parts[0] if len(parts) > 1 else catalogs.current_catalog
    database = catalogs.database(catalog, parts[-1], statement.name.span)
    _set_options(database.options, statement)
    return f"database `{parts[-1]}` altered"


def _alter_catalog(statement: s.Alter, catalogs: Catalogs) -> str:
    name = statement.name.parts[-1]
    _set_options(catalogs.catalog(name, statement.name.span).options, statement)
    return f"catalog `{name}` altered"


def _set_options(options: dict[str, str], statement: s.Alter) -> None:
    for action in statement.actions:
        match action:
            case s.SetOptions(options=new):
                options.update({option.key: option.value for option in new})
            case s.ResetOptions(keys=keys):
                for key in keys:
                    options.pop(key, None)
            case _:
                raise CatalogError("only options can be altered here", at=statement.span)
