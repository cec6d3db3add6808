"""Connectors that make their rows from the rows' numbers, in columns.

`columns` is what workers load.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from tidemark.catalog.tables import Table, TableTraits
from tidemark.connectors.base import ColumnsRequest, Connector, OptionSpec, Part, ReadRequest
from tidemark.connectors.made_rows import row_ranges
from tidemark.dialect.statements import PhysicalColumn
from tidemark.errors import PlanError
from tidemark.types import BigInt, DataType

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

    from tidemark.connectors.made_rows.columns.rows import ColumnMaker, MadeRows

Options: TypeAlias = Mapping[str, Any]

# The only column of a table whose columns are all computed.
NO_COLUMN: Final = "_tm_row"
# Not an option of Flink's.
SEED: Final = OptionSpec(
    "tidemark.seed", summary="makes random values the same in each run; by default, they differ"
)
# A table with fewer bytes is made while the query is planned, and no worker starts for it.
_SMALL = 1 << 20


def physical(table: Table) -> list[PhysicalColumn]:
    """The columns that are made."""
    return [column for column in table.columns if isinstance(column, PhysicalColumn)]


@dataclass(frozen=True, slots=True)
class Generator:
    """What a connector has to answer for its tables."""

    # The number of rows, or None if there is no end to them.
    count: Callable[[Table, Options], int | None]
    # The rows of a second, for a table that has no end.
    rate: Callable[[Options], int]
    # About how many bytes a row has.
    row_bytes: Callable[[Mapping[str, DataType], Options], int]
    # What makes the values, from the options, a seed and the session's time zone.
    values: Callable[[Table, Options, str, str], ColumnMaker]
    # The option that sets the number of rows.
    bounded_by: str = "number-of-rows"
    # Whether the table goes on after its last row, without rows.
    stays: Callable[[Options], bool] = lambda options: False
    # The seed of a table for which the user has set none: that of the job, or always the same.
    seed: Callable[[str], str] = lambda of_job: of_job

    def traits(self, table: Table, options: Options) -> TableTraits:
        bounded = self.count(table, options) is not None and not self.stays(options)
        return TableTraits(bounded=bounded, at_once=True, readable=True)

    def read(self, request: ReadRequest) -> DataFrame:
        """The rows, for what Spark computes."""
        from tidemark.connectors.made_rows import spark_rows

        made = self._made(request, request.start.seed)
        if request.streaming:
            return spark_rows.by_workers(made, self.arriving(request), request)
        count = self.count(request.table, request.options)
        if count is None:
            raise PlanError(
                f"`{request.table.name}` is unbounded and cannot be read in batch mode",
                source=request.table.source,
                hint=f"set '{self.bounded_by}'",
            )
        now_ms = request.start.at_ms  # the same for all tables of the job
        if count * made.row_bytes <= _SMALL:
            return spark_rows.made_here(made, Part("", 0, count, now_ms), request)
        parts = row_ranges.of_batch(request, count, made.row_bytes, now_ms)
        return spark_rows.by_workers(made, parts, request)

    def read_columns(self, request: ColumnsRequest) -> Callable[[], Iterator[pl.DataFrame]]:
        parts = [self._all_rows(request)] if request.parts is None else request.parts

        def frames() -> Iterator[pl.DataFrame]:
            made = self._made(request, request.seed)
            for part in parts:
                for frame in made.frames(part, request.columns or (NO_COLUMN,), request.read):
                    if request.count is not None:
                        request.count(frame.height, 0)
                    yield frame

        return frames

    def parts(self, request: ColumnsRequest) -> Sequence[tuple[Part, ...]] | None:
        """The rows that each task makes; None if the table is small."""
        rows, row_bytes = self._all_rows(request), self.row_bytes(_types(request), request.options)
        count = rows.end or 0
        if count * row_bytes <= _SMALL:
            return None
        return [(part,) for part in row_ranges.ranges(count, row_bytes, rows.made_ms)]

    def arriving(self, request: ReadRequest) -> DataFrame:
        count = self.count(request.table, request.options)
        if count is None:
            return row_ranges.in_seconds(request, self.rate(request.options))
        return row_ranges.at_once(request, count)

    def _all_rows(self, request: ColumnsRequest) -> Part:
        count = self.count(request.table, request.options)
        assert count is not None  # whoever asks has made sure that the table ends
        return Part("", 0, count, _milliseconds(request.now))

    def _made(self, request: ReadRequest | ColumnsRequest, seed_of_job: str) -> MadeRows:
        """What makes the rows. Their seed is a different one for each table, and for each job
        unless the user or the connector has set one.
        """
        from tidemark.connectors.made_rows.columns.rows import MadeRows

        table, options = request.table, request.options
        given = options[SEED.name]
        seed = f"{self.seed(seed_of_job) if given is None else given} {table.identifier}"
        unbounded = self.count(table, options) is None
        types = _types(request)
        return MadeRows(
            types,
            self.values(table, options, seed, request.zone),
            self.row_bytes(types, options),
            self.rate(options) if unbounded else None,
        )


def connector(
    name: str,
    summary: str,
    options: tuple[OptionSpec, ...],
    check: Callable[[Table, Options], None],
    generator: Generator,
) -> Connector:
    return Connector(
        name=name,
        options=options,
        summary=summary,
        traits=generator.traits,
        read=generator.read,
        read_columns=generator.read_columns,
        parts=generator.parts,
        can_stream_columns=lambda request: True,
        arriving=generator.arriving,
        check=check,
    )


def _types(request: ReadRequest | ColumnsRequest) -> Mapping[str, DataType]:
    """The types of the columns that are made. Without any, rows could not be counted."""
    names = (column.name for column in physical(request.table))
    return dict(zip(names, request.types, strict=True)) or {NO_COLUMN: BigInt()}


def _milliseconds(now: dt.datetime) -> int:
    return int(now.timestamp() * 1000)
