"""Looks rows up in a table of the database by their keys, many in one query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from tidemark.connectors.base import Part
from tidemark.connectors.jdbc.clocks import as_instants, exchanged
from tidemark.connectors.jdbc.scan import TableScan
from tidemark.connectors.lookups import Lookup, LookupRequest
from tidemark.errors import NotSupported

if TYPE_CHECKING:
    import polars as pl


def lookup(request: LookupRequest) -> Lookup:
    # The bounds of a scan are not those of lookups, as in Flink.
    scan = replace(TableScan.of(request), divided_by=None, ranges=(None,))
    keys = [[*scan.types][place] for place in request.keys]
    for key in keys:
        if not scan.dialect.finds_by(scan.types[key]):
            raise NotSupported(
                f"a lookup by column `{key}` of {scan.types[key].text()} is not supported",
                source=request.table.source,
            )
    columns = request.columns
    load = partial(_all_rows, scan, columns)
    return Lookup(open=partial(KeyedRows, scan, tuple(keys), columns), load=load)


def _all_rows(scan: TableScan, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
    for frame in scan.frames([Part("", 0, 1)]):
        frame.columns = list(columns)
        yield frame


@dataclass(frozen=True, slots=True)
class KeyedRows:
    """Finds the rows of keys. Its connection is one of those that the process keeps."""

    scan: TableScan
    keys: tuple[str, ...]  # their names in the DDL
    columns: tuple[str, ...]

    def find(self, keys: pl.DataFrame) -> pl.DataFrame:
        import polars as pl

        scan = self.scan
        with scan.connected() as transaction:
            table = transaction.described(scan.table)
            columns = [table.column(key, scan.table) for key in self.keys]
            types = [
                exchanged(scan.dialect, column, scan.types[key])
                for key, column in zip(self.keys, columns, strict=True)
            ]
            keys = as_instants(keys, types, scan.zone)
            sent = scan.types_sent(table)
            frames = transaction.found(scan.query(table), keys, columns, types, sent)
            found = [*scan.typed(frames)]
        rows = pl.concat(found) if found else scan.nothing
        rows.columns = list(self.columns)
        return rows

    def close(self) -> None:
        """What does not answer is not used again."""
