"""The table as it was when a job began, and which transactions it has: those that it does not have
come as changes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from tidemark.connectors.base import Part
from tidemark.connectors.cdc import snapshot_files
from tidemark.connectors.jdbc.postgres.connections import connected, described, rows
from tidemark.connectors.jdbc.postgres.dialect import POSTGRES
from tidemark.connectors.jdbc.postgres.reading import fetched
from tidemark.connectors.jdbc.scan import TableScan
from tidemark.connectors.made_rows import NO_COLUMN
from tidemark.connectors.postgres_cdc.captured import Captured
from tidemark.storage import Location
from tidemark.types import BigInt

if TYPE_CHECKING:
    import polars as pl
    from adbc_driver_manager.dbapi import Cursor

    from tidemark.formats.pgoutput import Flags, Longs

_ALL_BITS: Final = 1 << 32


@dataclass(frozen=True, slots=True)
class VisibleTransactions:
    """Which transactions a snapshot has: those that were committed when it was taken."""

    before: int  # all of them are before this position in the log
    next: int  # the number of the first one that had not begun
    running: tuple[int, ...]

    @classmethod
    def now(cls, cursor: Cursor) -> VisibleTransactions:
        """Those of the transaction of a cursor, whose first statement this is."""
        [(position, following, running)] = rows(cursor, _SNAPSHOT)
        return cls(position, int(following), tuple(map(int, filter(None, running.split(",")))))

    @classmethod
    def read(cls, text: str) -> VisibleTransactions:
        fields = json.loads(text)
        return cls(fields["before"], fields["next"], tuple(fields["running"]))

    def written(self) -> str:
        return json.dumps(asdict(self))

    def has(self, committed: Longs, numbers: Longs) -> Flags:
        """Which transactions it has. Numbers in the log have only 32 bits."""
        import numpy as np

        behind = (self.next - numbers) % _ALL_BITS
        behind = np.where(behind >= _ALL_BITS // 2, behind - _ALL_BITS, behind)
        whole = self.next - behind
        done = ~np.isin(whole, np.array(self.running, np.int64))
        return np.asarray((committed < self.before) & (whole < self.next) & done)


_SNAPSHOT = """
SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint, pg_snapshot_xmax(s)::text,
  coalesce((SELECT string_agg(x::text, ',') FROM pg_snapshot_xip(s) x), '')
FROM pg_current_snapshot() s
"""


def scan_of(captured: Captured) -> TableScan:
    """What reads the table as it is."""
    columns = captured.columns or {NO_COLUMN: BigInt()}
    read = captured.read if captured.columns else frozenset[str]()
    return TableScan(POSTGRES, captured.database, captured.reference, columns, read, None, (None,))


def take(captured: Captured, folder: Location) -> VisibleTransactions:
    """Write the table into files of a folder; returns which transactions they have."""
    with connected(captured.database, f"reading {captured}") as connection:
        connection.rollback()  # the level must be set before anything is asked
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            visible = VisibleTransactions.now(cursor)
            scan = scan_of(captured)
            query = scan.query(described(cursor, captured.reference))
            frames = scan.typed(fetched(cursor, query, scan.types_read))
            snapshot_files.write(map(_only_read(captured), frames), folder)
    return visible


def of_now(captured: Captured) -> Iterator[pl.DataFrame]:
    """The table as it is."""
    return map(_only_read(captured), scan_of(captured).frames([Part("", 0, 1)]))


def _only_read(captured: Captured) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """A function that leaves out the columns of a frame that are not read."""
    wanted = [*captured.columns_read]

    def only(frame: pl.DataFrame) -> pl.DataFrame:
        import polars as pl

        counted = pl.repeat(True, frame.height, eager=True).alias(NO_COLUMN)
        return pl.DataFrame([*(frame[column] for column in wanted), counted])

    return only
