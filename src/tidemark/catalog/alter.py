"""ALTER: changes a table, view, database or catalog in place."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from tidemark.catalog.catalogs import Catalog, Catalogs, Database
from tidemark.catalog.checks import check_columns
from tidemark.catalog.create import Check, check_catalog_options
from tidemark.catalog.definitions import restated
from tidemark.catalog.foreign import Foreign
from tidemark.catalog.partitions import with_partitions, without_partitions
from tidemark.catalog.tables import Identifier, Relation, Table, View
from tidemark.dialect import statements as s
from tidemark.errors import CatalogError, OptionError, Source, Span, did_you_mean


def alter(statement: s.Alter, catalogs: Catalogs, source: Source, check: Check) -> str:
    """Apply the actions in order, all or none. Returns a one-line confirmation."""
    match statement.kind:
        case "DATABASE":
            return _alter_database(statement, catalogs)
        case "CATALOG":
            return _alter_catalog(statement, catalogs)
    found = catalogs.find(statement.name)
    wanted = Table if statement.kind == "TABLE" else View
    if not isinstance(found, wanted):
        return _missing(found, statement, catalogs)
    changed = _altered(found, statement, source, catalogs)
    check(changed)
    _replace(found, changed, statement, catalogs)
    return f"{statement.kind.lower()} `{statement.name}` altered"


def _missing(found: Relation | None, statement: s.Alter, catalogs: Catalogs) -> str:
    what = f"{statement.kind.lower()} `{statement.name}` does not exist"
    if statement.if_exists:
        return what
    hint = did_you_mean(statement.name.parts[-1], catalogs.relation_names())
    if found is not None:
        hint = f"`{statement.name}` is a {'table' if isinstance(found, Table) else 'view'}"
    raise CatalogError(what, at=statement.name.span, hint=hint)


def _altered(found: Relation, statement: s.Alter, source: Source, catalogs: Catalogs) -> Relation:
    if isinstance(found, View):
        for action in statement.actions:
            found = _alter_view(found, action, statement, source, catalogs)
        return found
    table = found
    for action in statement.actions:
        table = _alter_table(table, action, statement)
    if table.source is not source and table.dataframe is None and table.function is None:
        table = restated(table)
    check_columns(table)
    return table


def _replace(old: Relation, new: Relation, statement: s.Alter, catalogs: Catalogs) -> None:
    if new.identifier != old.identifier:
        if catalogs.find(s.Name((*new.identifier.path, new.name))) is not None:
            raise CatalogError(f"`{new.name}` already exists", at=statement.span)
        catalogs.rename(old, new)
    else:
        catalogs.put(new)


def _renamed(identifier: Identifier, name: s.Name) -> Identifier:
    path = (*identifier.path[: 3 - len(name.parts)], *name.parts[:-1])
    if path != identifier.path:
        raise CatalogError(
            "RENAME cannot move a table or view to another database",
            at=name.span,
            hint=f"RENAME TO {name.parts[-1]}",
        )
    return replace(identifier, name=name.parts[-1])


def _alter_view(
    view: View, action: s.AlterAction, statement: s.Alter, source: Source, catalogs: Catalogs
) -> View:
    match action:
        case s.RenameTo(name=name):
            return replace(view, identifier=_renamed(view.identifier, name))
        case s.SetQuery(query=query):
            return replace(view, query=query, columns=(), source=source, path=catalogs.path)
        case s.SetComment(comment=comment):
            return replace(view, comment=comment)
    raise CatalogError(
        "ALTER VIEW supports only RENAME TO, AS query and COMMENT", at=statement.span
    )


# --- tables ------------------------------------------------------------------------------------


def _alter_table(table: Table, action: s.AlterAction, statement: s.Alter) -> Table:
    match action:
        case s.RenameTo(name=name):
            return replace(table, identifier=_renamed(table.identifier, name))
        case s.SetOptions(options=options):
            changed = {option.key for option in options}
            kept = tuple(o for o in table.options if o.key not in changed)
            return replace(table, options=(*kept, *options))
        case s.ResetOptions(keys=keys):
            if "connector" in keys:
                raise OptionError("'connector' cannot be reset", at=statement.span)
            return replace(table, options=tuple(o for o in table.options if o.key not in keys))
        case s.SetWatermark(watermark=watermark, add=add):
            _check_presence("watermark", table.watermark is not None, add, statement)
            return replace(table, watermark=watermark)
        case s.SetPrimaryKey(primary_key=key, add=add, constraint=constraint):
            _check_presence("primary key", table.primary_key is not None, add, statement)
            _check_constraint(table, constraint, statement)
            return replace(_with_key_columns_not_null(table), primary_key=key)
        case s.SetDistribution(distribution=distribution, add=add):
            _check_presence("distribution", table.distribution is not None, add, statement)
            return replace(table, distribution=distribution)
        case s.SetComment(comment=comment):
            return replace(table, comment=comment)
        case s.RenameColumn():
            return _with_renamed(table, action)
        case s.AddPartitions():
            return with_partitions(table, action)
        case s.DropPartitions():
            return without_partitions(table, action)
        case s.SetImplementation():
            raise CatalogError("only functions have an implementation", at=statement.span)
        case s.SetQuery():
            raise CatalogError("ALTER TABLE does not take a query", at=statement.span)
    return replace(table, columns=_alter_columns(table, action))


def _check_presence(what: str, present: bool, add: bool, statement: s.Alter) -> None:
    """ADD requires that it does not exist, MODIFY and DROP that it does."""
    if present and add:
        raise CatalogError(
            f"the table already has a {what}",
            at=statement.span,
            hint="use MODIFY, or DROP it first",
        )
    if not present and not add:
        raise CatalogError(f"the table has no {what}", at=statement.span)


def _check_constraint(table: Table, name: str | None, statement: s.Alter) -> None:
    """DROP CONSTRAINT names the primary key; without a name of its own it is called PK_column."""
    key = table.primary_key
    if name is None or key is None:
        return
    known = key.constraint or "PK_" + "_".join(key.columns)
    if name != known:
        raise CatalogError(
            f"constraint `{name}` does not exist",
            at=statement.span,
            hint=f"the primary key of `{table.name}` is `{known}`",
        )


def _with_key_columns_not_null(table: Table) -> Table:
    """Columns of a primary key stay NOT NULL when it is dropped or changed, as in Flink."""
    key = table.primary_key
    if key is None:
        return table
    return replace(
        table,
        columns=tuple(
            replace(column, type=column.type.with_nullable(False))
            if isinstance(column, s.PhysicalColumn) and column.name in key.columns
            else column
            for column in table.columns
        ),
    )


def _with_renamed(table: Table, action: s.RenameColumn) -> Table:
    """The primary key follows. Whatever else uses the column keeps it from being renamed."""
    columns, key = list(table.columns), table.primary_key
    old, new = str(action.old), str(action.new)
    position = _position(columns, old, action.old.span)
    _refuse_if_used(replace(table, primary_key=None), action.old)
    _refuse_if_there(columns, new, action.new.span)
    columns[position] = replace(columns[position], name=new)
    if key is not None:
        renamed = (new if name == old else name for name in key.columns)
        key = replace(key, columns=tuple(renamed))
    return replace(table, columns=tuple(columns), primary_key=key)


def _alter_columns(
    table: Table, action: s.AddColumn | s.ModifyColumn | s.DropColumns
) -> tuple[s.Column, ...]:
    columns = list(table.columns)
    match action:
        case s.AddColumn(column=column):
            _refuse_if_there(columns, column.name, column.span)
            columns.insert(_place(columns, action, len(columns)), column)
        case s.ModifyColumn(column=column):
            position = _position(columns, column.name, column.span)
            del columns[position]
            columns.insert(_place(columns, action, position), column)
        case s.DropColumns(names=names):
            _refuse_twice(names)
            for name in names:
                _refuse_if_used(table, name, going=tuple(map(str, names)))
                del columns[_position(columns, str(name), name.span)]
    return tuple(columns)


def _refuse_twice(names: tuple[s.Name, ...]) -> None:
    for position, name in enumerate(names):
        if name in names[:position]:
            raise CatalogError(f"column `{name}` is listed twice", at=name.span)


def _place(columns: list[s.Column], action: s.AddColumn | s.ModifyColumn, default: int) -> int:
    if action.first:
        return 0
    if action.after is None:
        return default
    return _position(columns, str(action.after), action.after.span) + 1


def _position(columns: list[s.Column], name: str, at: Span) -> int:
    for position, column in enumerate(columns):
        if column.name == name:
            return position
    raise CatalogError(
        f"column `{name}` does not exist",
        at=at,
        hint=did_you_mean(name, [c.name for c in columns]),
    )


def _refuse_if_there(columns: list[s.Column], name: str, at: Span) -> None:
    if any(column.name == name for column in columns):
        raise CatalogError(f"column `{name}` already exists", at=at)


def _refuse_if_used(table: Table, named: s.Name, going: tuple[str, ...] = ()) -> None:
    """A column that other columns are computed from must stay, unless they are all dropped with
    it.
    """
    name = str(named)
    uses = [
        f"computed column `{column.name}`"
        for column in table.columns
        if isinstance(column, s.ComputedColumn)
        and column.name not in going
        and name in _columns_in(column.expression)
    ]
    if table.primary_key is not None and name in table.primary_key.columns:
        uses.append("the primary key")
    if table.watermark is not None and name in (
        table.watermark.column[0],
        *_columns_in(table.watermark.expression),
    ):
        uses.append("the watermark")
    if name in table.partitioned_by:
        uses.append("PARTITIONED BY")
    if table.distribution is not None and name in table.distribution.columns:
        uses.append("DISTRIBUTED BY")
    if uses:
        raise CatalogError(f"column `{name}` is used by {' and '.join(uses)}", at=named.span)


def _columns_in(expression: exp.Expression) -> set[str]:
    """Every part of every name: `a.b` may be field `b` of column `a`, or column `b` of `a`."""
    return {part.name for column in expression.find_all(exp.Column) for part in column.parts}


# --- databases and catalogs --------------------------------------------------------------------


def _alter_database(statement: s.Alter, catalogs: Catalogs) -> str:
    catalog, name = catalogs.identify_database(statement.name)
    database = catalogs.database(catalog, name, statement.name.span)
    if isinstance(catalogs.catalog(catalog).databases, Foreign):
        raise CatalogError(
            f"database `{name}` cannot be altered here: it is in catalog `{catalog}`",
            at=statement.name.span,
            hint="alter it in the system that keeps it",
        )
    _set_properties(database, statement)
    return f"database `{name}` altered"


def _alter_catalog(statement: s.Alter, catalogs: Catalogs) -> str:
    name = statement.name.parts[-1]
    catalog = catalogs.catalog(name, statement.name.span)
    for action in statement.actions:
        if isinstance(action, s.SetOptions):
            check_catalog_options(action.options)
        if isinstance(action, s.ResetOptions) and "type" in action.keys:
            raise OptionError("the type of a catalog cannot be reset", at=statement.span)
    _set_properties(catalog, statement)
    return f"catalog `{name}` altered"


def _set_properties(of: Database | Catalog, statement: s.Alter) -> None:
    options = of.options
    for action in statement.actions:
        match action:
            case s.SetComment(comment=comment):
                of.comment = comment
            case s.SetOptions(options=new):
                options.update({option.key: option.value for option in new})
            case s.ResetOptions(keys=keys):
                for key in keys:
                    options.pop(key, None)
            case _:
                raise CatalogError(
                    "only options and the comment can be altered here", at=statement.span
                )
