"""Checks of a table's declaration that do not depend on the meaning of its expressions."""

from __future__ import annotations

from collections.abc import Iterable

from tidemark.catalog.tables import Table
from tidemark.dialect import statements as s
from tidemark.errors import CatalogError, Span, did_you_mean


def check_columns(table: Table) -> None:
    """Names must be distinct, and constraints must name columns of a suitable kind."""
    try:
        _check_columns(table)
    except CatalogError as error:
        # After an ALTER, and with LIKE, the table has a source of its own.
        raise (error.located_in(table.source) if table.source else error) from None


def _check_columns(table: Table) -> None:
    seen: set[str] = set()
    for column in table.columns:
        if column.name in seen:
            raise CatalogError(f"column `{column.name}` is declared twice", at=column.span)
        seen.add(column.name)
    _check_primary_key(table)
    _check_partitions(table)
    _check_distribution(table)
    if table.watermark is not None:
        _require_column(table.watermark.column[0], seen, "watermark", table.watermark.span)


def _check_primary_key(table: Table) -> None:
    key = table.primary_key
    if key is None:
        return
    repeated = {name for name in key.columns if key.columns.count(name) > 1}
    if repeated:
        raise CatalogError(f"the primary key lists column `{min(repeated)}` twice", at=key.span)
    _require_physical(table, key.columns, "primary key", key.span)


def _check_partitions(table: Table) -> None:
    _require_physical(table, table.partitioned_by, "PARTITIONED BY", table.at)


def _check_distribution(table: Table) -> None:
    if (given := table.distribution) is not None:
        _require_physical(table, given.columns, "DISTRIBUTED BY", given.span)


def _require_physical(table: Table, names: Iterable[str], what: str, at: Span | None) -> None:
    columns = {column.name: column for column in table.columns}
    for name in names:
        _require_column(name, columns, what, at)
        if not isinstance(columns[name], s.PhysicalColumn):
            raise CatalogError(
                f"{what} column `{name}` must be a physical column",
                at=at,
                notes={
                    "why": f"`{name}` is a computed or metadata column and is not stored in rows"
                },
            )


def _require_column(name: str, known: Iterable[str], what: str, at: Span | None) -> None:
    if name not in known:
        raise CatalogError(
            f"{what} column `{name}` does not exist in the table",
            at=at,
            hint=did_you_mean(name, known),
        )
