"""Reads the table as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.connectors.jdbc.mysql.dialect import MysqlTransaction
from tidemark.connectors.jdbc.scan import TableScan
from tidemark.connectors.made_rows import NO_COLUMN
from tidemark.connectors.mysql_cdc.captured import CapturedMysql, KnownTable
from tidemark.connectors.mysql_cdc.dialect import CdcDialect
from tidemark.connectors.mysql_cdc.known_columns import KnownColumn, is_moment

if TYPE_CHECKING:
    import polars as pl
    from pymysql.connections import Connection


def frames_of(
    connection: Connection, captured: CapturedMysql, known: KnownTable
) -> Iterator[pl.DataFrame]:
    """The table as a transaction sees it: the columns that are read, and one that counts."""
    moments = _moments(captured, known)
    types = {
        column: t.TimestampLtz(6) if column in moments else _fetched(type_)
        for column, type_ in captured.columns.items()
    }
    read = captured.read if types else frozenset[str]()
    scan = TableScan(
        CdcDialect(),
        captured.database,
        captured.quoted,
        types or {NO_COLUMN: t.BigInt()},
        read,
        None,
        (None,),
    )
    transaction = MysqlTransaction(captured.database, connection)
    frames = scan.fetched(transaction, known.described)
    return map(_only_read(captured, moments), frames)


def of_now(captured: CapturedMysql) -> Iterator[pl.DataFrame]:
    """The table as it is."""
    with captured.connected("reading") as connection:
        known = KnownTable.of(connection, captured)
        known.check(captured)
        yield from frames_of(connection, captured, known)


def _fetched(type_: t.DataType) -> t.DataType:
    """The server writes the members of a SET as one string."""
    return t.STRING if isinstance(type_, t.Array) else type_


def _moments(captured: CapturedMysql, known: KnownTable) -> dict[str, KnownColumn]:
    """The columns that are read as what clocks show."""
    found = {c: known.columns[known.place(c, captured)] for c in captured.columns_read}
    return {c: own for c, own in found.items() if is_moment(own, captured.columns[c])}


def _only_read(
    captured: CapturedMysql, moments: dict[str, KnownColumn]
) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """A function that leaves out the columns of a frame that are not read."""

    def only(frame: pl.DataFrame) -> pl.DataFrame:
        import polars as pl

        from tidemark.connectors.mysql_cdc.columns.values import members_of, of_moments

        found = []
        for column, type_ in captured.columns_read.items():
            values = frame[column]
            if column in moments:
                values = of_moments(values, moments[column], type_, captured.zone).alias(column)
            elif isinstance(type_, t.Array):
                values = members_of(values)
            found.append(values)
        found.append(pl.repeat(True, frame.height, eager=True).alias(NO_COLUMN))
        return pl.DataFrame(found)

    return only
