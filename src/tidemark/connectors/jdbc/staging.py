"""Rows on their way into a table: they wait in a staging table beside it until all have come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.connectors.jdbc.postgres import Described, name
from tidemark.connectors.jdbc.types import staged
from tidemark.connectors.last_changes import GONE, last_changes, with_gone
from tidemark.functions.arrow_types import loose_arrow
from tidemark.types import DataType

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

# Columns of the staging table, besides GONE: which attempt of a task has sent a row, and in which
# of its pieces.
ATTEMPT, PIECE = "attempt", "piece"


@dataclass(frozen=True, slots=True)
class Staging:
    """The staging table of a sink, and the columns of the rows in it: `c0`, `c1`, ..."""

    name: str
    types: tuple[DataType, ...]
    keys: tuple[int, ...]  # the places of the primary key's columns
    # Whether rows come with the rows that they replace.
    retracts: bool

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(f"c{place}" for place in range(len(self.types)))

    def beside(self, table: Described) -> str:
        return f"{name(table.schema)}.{name(self.name)}"

    def ddl(self, table: Described) -> str:
        columns = [
            f"{column} {staged(type_)}"
            for column, type_ in zip(self.columns, self.types, strict=True)
        ]
        own = [f"{ATTEMPT} bigint", f"{PIECE} bigint", f"{GONE} boolean"]
        return f"CREATE UNLOGGED TABLE {self.beside(table)} ({', '.join([*own, *columns])})"

    def piece(self, rows: pl.DataFrame, attempt: int, number: int) -> pa.Table:
        """Rows as they are sent: of a key the last one."""
        import polars as pl
        import pyarrow as pa

        own = [pl.lit(attempt).alias(ATTEMPT), pl.lit(number, pl.Int64).alias(PIECE)]
        sent = self._last(rows).select(*own, GONE, *self.columns)
        fields = [(ATTEMPT, pa.int64()), (PIECE, pa.int64()), (GONE, pa.bool_())]
        fields += [(c, sent_as(type_)) for c, type_ in zip(self.columns, self.types, strict=True)]
        return sent.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(pa.schema(fields))

    def _last(self, rows: pl.DataFrame) -> pl.DataFrame:
        rows = with_gone(rows, self.columns)
        if not self.keys:
            return rows
        keys = [self.columns[place] for place in self.keys]
        return last_changes(rows, keys, retracts=self.retracts)


def sent_as(type_: DataType) -> pa.DataType:
    """The Arrow type of what is sent. PostgreSQL has no integers of one byte."""
    match type_:
        case t.TinyInt():
            return loose_arrow(t.SmallInt())
        case t.Array(element=t.TinyInt()):
            return loose_arrow(t.Array(t.SmallInt()))
    return loose_arrow(type_)
