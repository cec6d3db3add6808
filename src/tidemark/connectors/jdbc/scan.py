"""Reads a table of the database, in this process or in workers, as columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tidemark.connectors.base import ColumnsRequest, Part, ReadRequest
from tidemark.connectors.jdbc import options as o
from tidemark.connectors.jdbc.clocks import as_clocks, exchanged
from tidemark.connectors.jdbc.contract import Described, Dialect, StoredColumn, Transaction
from tidemark.connectors.jdbc.dialects import dialect_of
from tidemark.connectors.jdbc.pushed import Pushed, clause, pushed
from tidemark.connectors.jdbc.values import WrongValue
from tidemark.connectors.lookups import LookupRequest
from tidemark.connectors.made_rows import NO_COLUMN, row_ranges
from tidemark.dialect.statements import PhysicalColumn
from tidemark.errors import DataError
from tidemark.plan.expressions import Expression, over, references
from tidemark.types import BigInt, DataType

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class TableScan:
    """A scan of a table. It is sent to workers, which connect to the database themselves."""

    dialect: Dialect
    database: Any
    table: str
    # The columns by their names in the DDL.
    types: Mapping[str, DataType]
    read: frozenset[str] | None
    # The column that divides it into parts, and their conditions.
    divided_by: str | None
    ranges: tuple[str | None, ...]
    # Where clocks show the instants of columns that are declared as TIMESTAMP.
    zone: str = "UTC"
    # What is asked of rows, by the names of columns in the DDL.
    conditions: tuple[Pushed, ...] = ()

    @classmethod
    def of(cls, request: ReadRequest | ColumnsRequest | LookupRequest) -> TableScan:
        options = request.options
        names = [c.name for c in request.table.columns if isinstance(c, PhysicalColumn)]
        types = dict(zip(names, request.types, strict=True))
        return cls(
            dialect_of(options["url"]),
            o.database_of(options),
            options["table-name"],
            types or {NO_COLUMN: BigInt()},
            request.read if types else frozenset(),
            options[o.PARTITION],
            tuple(_ranges(options)),
            request.zone,
            () if isinstance(request, LookupRequest) else pushed(_named(request, names)),
        )

    def frames(self, parts: Iterator[Part] | Sequence[Part]) -> Iterator[pl.DataFrame]:
        """The rows of parts, under the names of the DDL. What is not read is NULL."""
        for part in parts:
            for number in range(part.start, part.end or 0):
                yield from self._rows(self.ranges[number])

    def columns(self, part: Part) -> Iterator[list[pa.Array]]:
        """The same in Arrow."""
        for frame in self.frames([part]):
            yield [frame[column].to_arrow() for column in self.types]

    def _rows(self, condition: str | None) -> Iterator[pl.DataFrame]:
        with self.connected() as transaction:
            table = transaction.described(self.table)
            wanted = [clause(self.conditions, self.types, table, self.dialect)]
            if condition is not None and self.divided_by is not None:
                column = table.column(self.divided_by, self.table)
                wanted.append(condition.format(self.dialect.number(column)))
            where = " AND ".join(filter(None, wanted))
            yield from self.fetched(transaction, table, f" WHERE {where}" if where else "")

    def connected(self) -> AbstractContextManager[Transaction]:
        return self.dialect.connected(self.database, f"reading {self.table}")

    def query(self, table: Described) -> str:
        """What is read of all rows."""
        wanted = [
            f"{self._asked(table, column, type_)} AS {self.dialect.quoted(column)}"
            for column, type_ in self.types_sent(table).items()
        ]
        return f"SELECT {', '.join(wanted) or '1 AS counted'} FROM {table.sql} AS own"

    def fetched(
        self, transaction: Transaction, table: Described, clauses: str = ""
    ) -> Iterator[pl.DataFrame]:
        """The rows of that query with more clauses."""
        query = self.query(table) + clauses
        return self.typed(transaction.frames(query, self.types_sent(table)))

    def typed(self, frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """Rows with all columns."""
        try:
            yield from map(self._frame, frames)
        except WrongValue as problem:
            raise DataError(
                f"column `{problem.column}` of {self.table} has {problem.what}",
                notes={"why": problem.why},
            ) from None

    @property
    def nothing(self) -> pl.DataFrame:
        """No rows."""
        import polars as pl

        from tidemark.columns import polars_type

        return pl.DataFrame(schema={name: polars_type(type_) for name, type_ in self.types.items()})

    @property
    def types_read(self) -> dict[str, DataType]:
        return {
            column: type_
            for column, type_ in self.types.items()
            if self.read is None or column in self.read
        }

    def types_sent(self, table: Described) -> dict[str, DataType]:
        """The types in which the columns that are read come from the database."""
        return {
            column: exchanged(self.dialect, table.column(column, self.table), type_)
            for column, type_ in self.types_read.items()
        }

    def _asked(self, table: Described, column: str, type_: DataType) -> str:
        found = table.column(column, self.table)
        sql = self.dialect.asked(found, type_, "own.")
        if sql is None:
            raise DataError(
                f"column `{column}` of {self.table} is {found.written}, which cannot be read as "
                f"{type_.text()}",
                notes={"database": str(self.database)},
                hint=declared_as(self.dialect, found, type_),
            )
        return sql

    def _frame(self, rows: pl.DataFrame) -> pl.DataFrame:
        import polars as pl

        from tidemark.columns import polars_type

        read = self.types_read
        rows = as_clocks(rows, read, self.zone)
        return pl.DataFrame(
            [
                rows[column]
                if column in read
                else pl.repeat(None, rows.height, dtype=polars_type(type_), eager=True).alias(
                    column
                )
                for column, type_ in self.types.items()
            ]
        )


def declared_as(dialect: Dialect, column: StoredColumn, type_: DataType) -> str | None:
    """The hint that names a type as which a column can be read."""
    other = dialect.type_of(column)
    if other is None or other.text() == type_.text() or dialect.asked(column, other, "") is None:
        return None
    return f"declare it as {other.text()}"


def _named(request: ReadRequest | ColumnsRequest, names: Sequence[str]) -> Iterator[Expression]:
    """The conditions of a query on columns by the names in the DDL."""
    for condition in request.conditions:
        if all(index < len(names) for index in references(condition)):
            yield over(condition, lambda ref: replace(ref, name=names[ref.index]))


# --- parts -------------------------------------------------------------------------------------


def _ranges(options: Mapping[str, Any]) -> Iterator[str | None]:
    """The condition of each part, where `{}` is the column. The parts have as many numbers each,
    as in Flink; between two of them there is no gap for fractions.
    """
    if options[o.PARTITION] is None:
        yield None
        return
    lower, upper = options[o.LOWER], options[o.UPPER]
    count = upper - lower + 1
    number = min(options[o.NUMBER], count)
    bounds = [lower + count * place // number for place in range(number)]
    for start, end in zip(bounds, [*bounds[1:], None], strict=True):
        until = f"{{0}} <= {upper}" if end is None else f"{{0}} < {end}"
        yield f"{{0}} >= {start} AND {until}"


def parts(request: ColumnsRequest) -> Sequence[tuple[Part, ...]]:
    """A task for each range. Without ranges, it is one task that reads the table."""
    count = len([*_ranges(request.options)])
    return [(Part("", number, number + 1),) for number in range(count)]


def arriving(request: ReadRequest) -> DataFrame:
    """All of a table in the first micro-batch, as it is then."""
    return row_ranges.at_once(request, len([*_ranges(request.options)]), size=1)


def read(request: ReadRequest) -> DataFrame:
    """The rows, for what Spark computes."""
    from tidemark.connectors.made_rows import spark_rows

    scan = TableScan.of(request)
    if request.streaming:
        return spark_rows.by_workers(scan, arriving(request), request)
    numbers = row_ranges.one_by_one(request, len(scan.ranges))
    return spark_rows.by_workers(scan, numbers, request)


def read_columns(request: ColumnsRequest) -> Callable[[], Iterator[pl.DataFrame]]:
    scan = TableScan.of(request)
    wanted = [Part("", 0, len(scan.ranges))] if request.parts is None else request.parts

    def frames() -> Iterator[pl.DataFrame]:
        for frame in scan.frames(iter(wanted)):
            if request.count is not None:
                request.count(frame.height, 0)
            frame.columns = list(request.columns or (NO_COLUMN,))
            yield frame

    return frames
