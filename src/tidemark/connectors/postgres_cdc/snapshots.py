"""The table as it was when a job began, in files that can be read again, and which transactions it
has: those that it does not have come as changes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from tidemark.connectors.base import Part
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

# About so many bytes are in a file, which a worker reads.
_FILE_BYTES: Final = 64 << 20
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
    return TableScan(POSTGRES, captured.database, captured.quoted, columns, read, None, (None,))


def take(captured: Captured, folder: Location) -> VisibleTransactions:
    """Write the table into files of a folder; returns which transactions they have."""
    with connected(captured.database, f"reading {captured}") as connection:
        connection.rollback()  # the level must be set before anything is asked
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            visible = VisibleTransactions.now(cursor)
            scan = scan_of(captured)
            query = scan.query(described(cursor, captured.quoted))
            frames = scan.typed(fetched(cursor, query, scan.types_read))
            _write(map(_only_read(captured), frames), folder)
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


def _write(frames: Iterator[pl.DataFrame], folder: Location) -> None:
    import polars as pl
    import pyarrow as pa
    from pyarrow import ipc

    folder.remove_all()
    folder.make()
    compressed = ipc.IpcWriteOptions(compression="zstd")
    number, waiting, size = 0, list[pl.DataFrame](), 0

    def write() -> None:
        nonlocal number, waiting, size
        table = pl.concat(waiting).to_arrow(compat_level=pl.CompatLevel.oldest())
        assert isinstance(table, pa.Table)
        with (
            (folder / f"{number:05}.arrow").output() as file,
            ipc.new_stream(file, table.schema, options=compressed) as writer,
        ):
            writer.write_table(table)
        number, waiting, size = number + 1, [], 0

    for frame in frames:
        waiting.append(frame)
        size += int(frame.estimated_size())
        if size >= _FILE_BYTES:
            write()
    if waiting:
        write()


def files(folder: Location) -> Sequence[Location]:
    return [folder / found.name for found in sorted(folder.files())]


def read(file: Location) -> Iterator[pl.DataFrame]:
    import polars as pl
    from pyarrow import ipc

    with file.input() as source, ipc.open_stream(source) as batches:
        for batch in batches:
            frame = pl.from_arrow(batch)
            assert isinstance(frame, pl.DataFrame)
            yield frame
