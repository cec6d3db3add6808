"""Tables and views as the statements that would create them."""

from __future__ import annotations

from dataclasses import replace

from tidemark.catalog.tables import Identifier, Table, View
from tidemark.dialect import parse_script, to_sql
from tidemark.dialect import statements as s
from tidemark.errors import Source


def create_table(table: Table) -> s.CreateTable:
    """The CREATE TABLE statement of this table."""
    return s.CreateTable(
        name=_full_name(table.identifier),
        columns=table.columns,
        watermark=table.watermark,
        primary_key=table.primary_key,
        comment=table.comment,
        distribution=table.distribution,
        partitioned_by=table.partitioned_by,
        options=table.options,
        temporary=table.temporary,
    )


def create_view(view: View) -> s.CreateView:
    """The CREATE VIEW statement of this view."""
    return s.CreateView(
        name=_full_name(view.identifier),
        query=view.query,
        columns=view.columns,
        comment=view.comment,
        temporary=view.temporary,
    )


def _full_name(identifier: Identifier) -> s.Name:
    return s.Name((identifier.catalog, identifier.database, identifier.name))


def restated(table: Table) -> Table:
    """The same table with a source of its own for errors to point into.

    For tables whose parts come from several sources: LIKE, or a later ALTER.
    """
    source = Source(to_sql(create_table(table)), f"definition of {table.name}")
    [written] = parse_script(source.text, source.name).statements
    assert isinstance(written, s.CreateTable)
    return replace(
        table,
        columns=written.columns,
        watermark=written.watermark,
        primary_key=written.primary_key,
        distribution=written.distribution,
        options=written.options,
        source=source,
        at=written.name.span,
    )
