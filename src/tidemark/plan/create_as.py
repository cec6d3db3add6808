"""CREATE TABLE ... AS: a table with the columns of a query, and the INSERT that fills it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tidemark.catalog.checks import check_columns
from tidemark.catalog.create import declared, may_create
from tidemark.dialect import span_of
from tidemark.dialect import statements as s
from tidemark.errors import CatalogError, did_you_mean
from tidemark.functions.casts import can_cast_implicitly
from tidemark.plan.context import Context
from tidemark.plan.inserts import bind_insert, bind_into
from tidemark.plan.nodes import Column, Sink
from tidemark.plan.queries import bind_result
from tidemark.plan.tables import bind_table
from tidemark.types import DataType


def bind_create_as(statement: s.CreateTable, context: Context) -> Sink:
    """The plan that fills the table, which its sink knows. The catalog is not changed.

    A table that IF NOT EXISTS finds is filled, too, as in Flink.
    """
    assert statement.query is not None
    insert = s.Insert(statement.name, statement.query, span=statement.span)
    if not may_create(statement, context.catalogs):
        return bind_insert(insert, context)
    selected = bind_result(statement.query, context).edge.columns
    columns = _columns(statement, selected)
    table = declared(replace(statement, columns=columns), context.catalogs, None)
    check_columns(table)
    if context.traits(table, "write").readable:
        bind_table(table, context)  # its expressions must be valid
    filled = tuple(column.name for column in selected)
    return bind_into(table, replace(insert, columns=filled), context)


def _columns(statement: s.CreateTable, selected: Sequence[Column]) -> tuple[s.Column, ...]:
    """First those that only the statement has, then those of the query, as in Flink."""
    own = {column.name: column for column in statement.columns}
    names = [column.name for column in selected]
    taken = [_taken(statement, column, own.get(column.name)) for column in selected]
    if statement.order:
        _check_order(statement, names)
        taken = [taken[names.index(name)] for name in statement.order]
    return (*(column for name, column in own.items() if name not in names), *taken)


def _taken(statement: s.CreateTable, selected: Column, own: s.Column | None) -> s.Column:
    """A column of the query, as it is declared if it is."""
    key = statement.primary_key
    in_key = key is not None and selected.name in key.columns
    if own is None:
        if in_key and selected.type.nullable:
            raise _nullable_key(statement, selected)
        return s.PhysicalColumn(selected.name, selected.type, span=statement.name.span)
    if isinstance(own, s.ComputedColumn):
        raise CatalogError(
            f"computed column `{own.name}` is also a column of the query",
            at=own.span,
            hint="give one of them another name",
        )
    target = own.type.with_nullable(own.type.nullable and not in_key)
    if not _fits(selected.type, target):
        raise CatalogError(
            f"column `{own.name}` is {target}, but the query returns {selected.type}",
            at=own.span,
            hint=f"cast it in the query: CAST({own.name} AS {target})"
            if target.nullable
            else "a NOT NULL column needs a value that is never NULL, such as COALESCE(...)",
        )
    return own


def _fits(given: DataType, wanted: DataType) -> bool:
    return can_cast_implicitly(given, wanted) and (wanted.nullable or not given.nullable)


def _nullable_key(statement: s.CreateTable, selected: Column) -> CatalogError:
    assert statement.primary_key is not None
    return CatalogError(
        f"primary key column `{selected.name}` may be NULL in the query",
        at=statement.primary_key.span,
        notes={"query": f"{selected.name} {selected.type}"},
        hint=f"make it NOT NULL: COALESCE({selected.name}, ...) AS {selected.name}",
    )


def _check_order(statement: s.CreateTable, names: Sequence[str]) -> None:
    """A list of names without types has all columns of the query, in another order."""
    assert statement.query is not None
    for name in statement.order:
        if name not in names:
            raise CatalogError(
                f"the query has no column `{name}`",
                at=span_of(statement.query),
                hint=did_you_mean(name, names),
            )
    if sorted(statement.order) != sorted(names):
        raise CatalogError(
            "the list of columns must have each column of the query once",
            at=statement.name.span,
            notes={"query": ", ".join(names), "table": ", ".join(statement.order)},
            hint="select only the columns that the table needs",
        )
