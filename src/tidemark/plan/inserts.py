"""INSERT INTO: the query's columns as the target's, by position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from tidemark import types as t
from tidemark.catalog.tables import Changelog, Table, View
from tidemark.dialect import span_of
from tidemark.dialect import statements as s
from tidemark.errors import NotSupported, PlanError, did_you_mean
from tidemark.functions.casts import can_cast_implicitly
from tidemark.plan import literals
from tidemark.plan.context import Context
from tidemark.plan.conversions import convert
from tidemark.plan.expressions import Cast, Expression
from tidemark.plan.nodes import Column, Node, Sink
from tidemark.plan.queries import bind_query, project
from tidemark.plan.relations import with_options
from tidemark.plan.scope import Scope


def bind_insert(statement: s.Insert, context: Context) -> Sink:
    """The plan of one INSERT, down from its sink."""
    target = context.catalogs.relation(statement.target)
    if isinstance(target, View):
        raise PlanError(
            f"`{target.name}` is a view; only tables take rows", at=statement.target.span
        )
    table = with_options(target, statement.options)
    traits = context.traits(table)
    if not traits.writable:
        raise PlanError(
            f"table `{table.name}` cannot be written to; its connector is a source only",
            at=statement.target.span,
        )
    if statement.emit is not None:
        refuse_emit(statement.emit)
    query = bind_query(statement.query, context)
    _check_changelog(query.edge.changelog, traits.accepts_updates, table, statement)
    columns = writable_columns(table)
    rows = _as_columns(query, columns, statement, table)
    return Sink(rows, table, statement.overwrite, rows.edge)


def refuse_emit(emit: s.Emit) -> NoReturn:
    raise NotSupported(
        "EMIT cannot be run yet", at=emit.span, notes={"why": "windows are not there yet"}
    )


def writable_columns(table: Table) -> list[s.PhysicalColumn | s.MetadataColumn]:
    """The columns that an INSERT fills: not the computed ones, nor virtual metadata."""
    return [
        column
        for column in table.columns
        if isinstance(column, s.PhysicalColumn)
        or (isinstance(column, s.MetadataColumn) and not column.virtual)
    ]


def _check_changelog(
    changelog: Changelog, accepts_updates: bool, table: Table, statement: s.Insert
) -> None:
    if changelog is not Changelog.APPEND and not accepts_updates:
        raise PlanError(
            f"table `{table.name}` takes inserts only, and the query updates and deletes rows",
            at=statement.target.span,
            notes={"query": changelog.value},
            hint="write to a sink that takes a changelog, such as `print`",
        )


def _as_columns(
    query: Node,
    columns: Sequence[s.PhysicalColumn | s.MetadataColumn],
    statement: s.Insert,
    table: Table,
) -> Node:
    """The query's rows with the columns of the target, in its order and types."""
    fixed = {option.key: option.value for option in statement.partition}
    names = [column.name for column in columns]
    for name in (*fixed, *statement.columns):
        if name not in names:
            raise PlanError(
                f"table `{table.name}` has no column `{name}` to write to",
                at=statement.target.span,
                hint=did_you_mean(name, names),
            )
    filled = list(statement.columns) or [name for name in names if name not in fixed]
    if len(filled) != len(query.edge.columns):
        raise _mismatch(query, columns, statement, table, "different numbers of columns")
    scope = Scope.of(query.edge)
    source: dict[str, Expression] = {name: scope.ref(i) for i, name in enumerate(filled)}
    source.update({key: literals.text(value) for key, value in fixed.items()})
    values = []
    for column in columns:
        value = source.get(column.name, literals.null(column.type))
        values.append(
            _assign(value, column, column.name in fixed, query, columns, statement, table)
        )
    return project(query, values, names)


def _assign(
    value: Expression,
    column: s.PhysicalColumn | s.MetadataColumn,
    fixed: bool,
    query: Node,
    columns: Sequence[s.PhysicalColumn | s.MetadataColumn],
    statement: s.Insert,
    table: Table,
) -> Expression:
    if fixed:  # PARTITION (dt = '2024-01-01') is text, whatever the column is
        return Cast(value, column.type, implicit=True)
    if not isinstance(value.type, t.Null) and not can_cast_implicitly(value.type, column.type):
        why = f"`{column.name}` takes {column.type.text()}, the query gives {value.type.text()}"
        raise _mismatch(query, columns, statement, table, why)
    if isinstance(value.type, t.Null) and not column.type.nullable:
        raise PlanError(
            f"column `{column.name}` of `{table.name}` is NOT NULL and gets no value",
            at=statement.target.span,
        )
    return convert(value, column.type)


def _mismatch(
    query: Node,
    columns: Sequence[Column | s.PhysicalColumn | s.MetadataColumn],
    statement: s.Insert,
    table: Table,
    why: str,
) -> PlanError:
    return PlanError(
        f"the query does not fit table `{table.name}`: {why}",
        at=span_of(statement.query),
        notes={
            "query": _schema(query.edge.columns),
            "table": _schema(columns),
        },
    )


def _schema(columns: Sequence[Column | s.PhysicalColumn | s.MetadataColumn]) -> str:
    return "(" + ", ".join(f"{c.name} {c.type.text()}" for c in columns) + ")"
