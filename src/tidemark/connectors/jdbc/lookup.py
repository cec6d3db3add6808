"""Looks rows up in a table of the database by their keys, many in one query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from tidemark.connectors.base import Part
from tidemark.connectors.jdbc.postgres import Described, described, name
from tidemark.connectors.jdbc.scan import TableScan
from tidemark.connectors.jdbc.staging import sent_as
from tidemark.connectors.jdbc.types import staged, stored
from tidemark.connectors.lookups import Lookup, LookupRequest
from tidemark.errors import NotSupported
from tidemark.types import Array

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

# How many keys a query has at most.
_KEYS: Final = 20_000


def lookup(request: LookupRequest) -> Lookup:
    # The bounds of a scan are not those of lookups, as in Flink.
    scan = replace(TableScan.of(request), divided_by=None, ranges=(None,))
    keys = [[*scan.types][place] for place in request.keys]
    for key in keys:
        if isinstance(scan.types[key], Array):
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

        with self.scan.connected() as connection, connection.cursor() as cursor:
            query = self._query(described(cursor, self.scan.table))
            found = [
                frame
                for some in keys.iter_slices(_KEYS)
                for frame in self.scan.fetched(cursor, query, self._parameters(some))
            ]
        rows = pl.concat(found) if found else self.scan.nothing
        rows.columns = list(self.columns)
        return rows

    def _query(self, table: Described) -> str:
        """The keys come as one array each."""
        numbered = list(enumerate(self.keys, start=1))
        types = [staged(self.scan.types[key]) for key in self.keys]
        arrays = ", ".join(f"${place}::{type_}[]" for place, type_ in enumerate(types, start=1))
        names = ", ".join(f"k{place}" for place, _ in numbered)
        same = " AND ".join(self._same(table, f"wanted.k{place}", key) for place, key in numbered)
        return f"{self.scan.query(table)} JOIN unnest({arrays}) AS wanted ({names}) ON {same}"

    def _same(self, table: Described, wanted: str, key: str) -> str:
        column = table.column(key, self.scan.table)
        value = stored(wanted, self.scan.types[key], column) or wanted
        return f"own.{name(column.name)} = {value}"

    def _parameters(self, keys: pl.DataFrame) -> pa.RecordBatch:
        """A row with all keys."""
        import polars as pl
        import pyarrow as pa

        arrays = []
        for key, values in zip(self.keys, keys.iter_columns(), strict=True):
            plain = values.to_arrow(compat_level=pl.CompatLevel.oldest())
            typed = plain.cast(sent_as(self.scan.types[key]))
            arrays.append(pa.ListArray.from_arrays(pa.array([0, len(typed)], pa.int32()), typed))
        return pa.RecordBatch.from_arrays(arrays, [f"k{n}" for n in range(len(arrays))])

    def close(self) -> None:
        """What does not answer is not used again."""
