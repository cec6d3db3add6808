"""The table whose changes are read, its slot and its publication: their names, and what the
database knows of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tidemark import types as t
from tidemark.connectors.base import ColumnsRequest, ReadRequest
from tidemark.connectors.cdc import metadata
from tidemark.connectors.cdc.captured import CapturedColumns, columns_of
from tidemark.connectors.jdbc.clocks import exchanged
from tidemark.connectors.jdbc.contract import Described, StoredColumn, Transient, again
from tidemark.connectors.jdbc.postgres.connections import (
    connected,
    described,
    name,
    rows,
    string,
)
from tidemark.connectors.jdbc.postgres.dialect import POSTGRES
from tidemark.connectors.jdbc.postgres.types import asked
from tidemark.connectors.jdbc.postgres.url import PostgresDatabase
from tidemark.connectors.jdbc.scan import declared_as
from tidemark.connectors.postgres_cdc import options as o
from tidemark.errors import DataError, SetupError

if TYPE_CHECKING:
    from adbc_driver_manager.dbapi import Cursor


METADATA: Final[Mapping[str, t.DataType]] = {
    **metadata.METADATA,
    "schema_name": t.VarChar(nullable=False),
}


@dataclass(frozen=True, kw_only=True)
class Captured(CapturedColumns):
    """A table of the database as a table of SQL. It is sent to workers."""

    database: PostgresDatabase
    schema: str
    table: str
    slot: str
    publication: str
    creates: bool  # whether a missing publication is created
    partitioned: bool  # whether a partitioned table is read
    upserts: bool
    retries: int  # how often it is tried to connect again

    @classmethod
    def of(cls, request: ReadRequest | ColumnsRequest) -> Captured:
        options = request.options
        return cls(
            database=o.database_of(options),
            schema=options[o.SCHEMA],
            table=options[o.TABLE],
            slot=options[o.SLOT],
            publication=options.get(o.PUBLICATION) or options[o.SLOT],
            creates=options.get(o.AUTOCREATE, "filtered") == "filtered",
            partitioned=options[o.PARTITIONED],
            upserts=options[o.CHANGELOG] == "upsert",
            retries=options[o.RETRIES],
            **columns_of(request),
        )

    def __str__(self) -> str:
        return f"{self.schema}.{self.table}"

    @property
    def names(self) -> dict[str, str]:
        return {
            "table_name": self.table,
            "schema_name": self.schema,
            "database_name": self.database.name or "",
        }

    @property
    def reference(self) -> str:
        """Its name, as `described` finds it: quoted where it would be taken for two names."""
        each = (self.schema, self.table)
        return ".".join(name(one) if re.search(r'[".]', one) else one for one in each)

    def wait_until_reachable(self) -> None:
        """Wait for a server that restarts, but not forever."""

        def reach() -> None:
            try:
                with connected(self.database, f"reading {self}"):
                    return
            except SetupError as problem:
                raise Transient(problem.message, notes=problem.notes, hint=problem.hint) from None

        again(reach, self.retries)


@dataclass(frozen=True, slots=True)
class Known:
    """What the database knows of the table."""

    oid: int
    described: Described
    identity: str  # d(efault), f(ull), i(ndex) or n(othing), as PostgreSQL has it
    identity_key: frozenset[str]  # the columns that an old row has at least
    primary_key: frozenset[str]
    kind: str  # r(elation), p(artitioned), v(iew) and so on
    logged: bool  # whether its changes are in the log
    hides_rows: bool  # whether the user may not see all of its rows
    heirs: str  # the tables that inherit from it, but for partitions
    unlike: str  # the partitions whose replica identity is neither its own nor FULL
    generated: frozenset[str]  # the columns that are computed, which are not in changes
    types: Mapping[int, str]  # the names of its columns' types, by their OIDs

    @classmethod
    def of(cls, cursor: Cursor, captured: Captured) -> Known:
        found = described(cursor, captured.reference, "check 'schema-name' and 'table-name'")
        place = string(found.sql)
        [about] = rows(cursor, _TABLE.format(table=place))
        oid, identity, kind, logged, hides_rows, heirs, unlike = about
        keys = rows(cursor, _KEYS.format(table=place))
        primary = frozenset(column for column, _, is_primary in keys if is_primary)
        own = frozenset(column for column, is_identity, _ in keys if is_identity)
        columns = rows(cursor, _COLUMNS.format(table=place))
        return cls(
            oid,
            found,
            identity,
            {"d": primary, "i": own, "f": frozenset(found.columns)}.get(identity, frozenset()),
            primary,
            kind,
            logged,
            hides_rows,
            heirs,
            unlike,
            frozenset(column for column, _, generated in columns if generated),
            {number: found.columns[column].type for column, number, _ in columns},
        )

    @property
    def partitioned(self) -> bool:
        return self.kind == "p"

    def keys(self, captured: Captured) -> frozenset[str]:
        """The columns by which a change of the key is found."""
        own = (self.described.column(column, str(captured)).name for column in captured.key)
        return self.primary_key.union(own)

    def check(self, captured: Captured) -> None:
        """That it can be read as it is declared. Raises DataError and SetupError."""
        if self.partitioned and not captured.partitioned:
            raise SetupError(
                f"{captured} is a partitioned table",
                hint=f"set '{o.PARTITIONED}' = 'true' (same in Flink)",
            )
        for column, type_ in captured.columns_read.items():
            found = self.described.column(column, str(captured))
            check_fits(found, column, type_, captured)
            if found.name in self.generated:
                raise DataError(
                    f"column `{column}` of {captured} is not in its changes",
                    notes={"why": "it is a generated column"},
                    hint="declare it as a computed column: name AS expression",
                )


def check_fits(found: StoredColumn, column: str, type_: t.DataType, captured: Captured) -> None:
    if asked(found, exchanged(POSTGRES, found, type_)) is None:
        raise DataError(
            f"column `{column}` of {captured} is {found.written}, which cannot be read as "
            f"{type_.text()}",
            notes={"database": str(captured.database)},
            hint=declared_as(POSTGRES, found, type_),
        )


_TABLE = """
SELECT oid::bigint, relreplident::text, relkind::text, relpersistence = 'p',
  row_security_active(oid),
  CASE relkind WHEN 'r' THEN coalesce((
    SELECT string_agg(inhrelid::regclass::text, ', ') FROM pg_inherits WHERE inhparent = oid
  ), '') ELSE '' END,
  coalesce((
    SELECT string_agg(leaf.oid::regclass::text, ', ' ORDER BY leaf.oid)
    FROM pg_partition_tree(pg_class.oid) JOIN pg_class leaf ON leaf.oid = relid
    WHERE isleaf AND leaf.relreplident NOT IN ('f', pg_class.relreplident)
  ), '')
FROM pg_class WHERE oid = to_regclass({table})
"""
_KEYS = """
SELECT a.attname::text, i.indisreplident, i.indisprimary FROM pg_index i
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey::int2[])
WHERE i.indrelid = to_regclass({table}) AND (i.indisreplident OR i.indisprimary)
"""
_COLUMNS = """
SELECT attname::text, atttypid::bigint, attgenerated <> '' FROM pg_attribute
WHERE attrelid = to_regclass({table}) AND attnum > 0 AND NOT attisdropped
"""
