"""The datagen connector: generates random or sequential rows.

`made` makes them in columns, from the numbers of rows.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tidemark.catalog.tables import Table, TableTraits
from tidemark.connectors.base import ColumnsRequest, Connector, Part, ReadRequest
from tidemark.connectors.datagen.options import OPTIONS, SEED, check, physical
from tidemark.connectors.datagen.row_ranges import arriving, count_of_rows, of_batch, ranges
from tidemark.connectors.datagen.sizes import bytes_of
from tidemark.errors import PlanError
from tidemark.types import BigInt, DataType

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

    from tidemark.connectors.datagen.made.rows import MadeRows

# The only column of a table whose columns are all computed.
NO_COLUMN = "_tm_row"
# A table with fewer bytes is made while the query is planned, and no worker starts for it.
_SMALL = 1 << 20


def traits(table: Table, options: Mapping[str, Any]) -> TableTraits:
    return TableTraits(bounded=count_of_rows(table, options) is not None, readable=True)


def read(request: ReadRequest) -> DataFrame:
    """The rows, for what Spark computes."""
    from tidemark.connectors.datagen import spark_rows

    made = _made(request, request.start.seed)
    if request.streaming:
        return spark_rows.by_workers(made, arriving(request), request)
    count = count_of_rows(request.table, request.options)
    if count is None:
        raise PlanError(
            f"`{request.table.name}` is unbounded and cannot be read in batch mode",
            source=request.table.source,
            hint="set 'number-of-rows'",
        )
    now_ms, row_bytes = _milliseconds(dt.datetime.now(dt.UTC)), _bytes_of_row(request)
    if count * row_bytes <= _SMALL:
        return spark_rows.made_here(made, Part("", 0, count, now_ms), request)
    return spark_rows.by_workers(made, of_batch(request, count, row_bytes, now_ms), request)


def read_columns(request: ColumnsRequest) -> Callable[[], Iterator[pl.DataFrame]]:
    parts = [_all_rows(request)] if request.parts is None else request.parts

    def frames() -> Iterator[pl.DataFrame]:
        made = _made(request, request.seed)
        for part in parts:
            for frame in made.frames(part, request.columns or (NO_COLUMN,), request.read):
                if request.count is not None:
                    request.count(frame.height, 0)
                yield frame

    return frames


def parts(request: ColumnsRequest) -> Sequence[tuple[Part, ...]] | None:
    """The rows that each task makes; None if the table is small."""
    rows, row_bytes = _all_rows(request), _bytes_of_row(request)
    count = rows.end or 0
    if count * row_bytes <= _SMALL:
        return None
    return [(part,) for part in ranges(count, row_bytes, rows.made_ms)]


def _all_rows(request: ColumnsRequest) -> Part:
    count = count_of_rows(request.table, request.options)
    assert count is not None  # whoever asks has made sure that the table ends
    return Part("", 0, count, _milliseconds(request.now))


def _milliseconds(now: dt.datetime) -> int:
    return int(now.timestamp() * 1000)


def _bytes_of_row(request: ReadRequest | ColumnsRequest) -> int:
    each = _columns(request).items()
    return sum(bytes_of(type_, f"fields.{name}", request.options) for name, type_ in each)


def _columns(request: ReadRequest | ColumnsRequest) -> Mapping[str, DataType]:
    """The types of the columns that are made. Without any, rows could not be counted."""
    names = (column.name for column in physical(request.table))
    return dict(zip(names, request.types, strict=True)) or {NO_COLUMN: BigInt()}


def _made(request: ReadRequest | ColumnsRequest, seed: str) -> MadeRows:
    """What makes the rows. Their seed is a different one for each table, and for each job unless
    the user has set one.
    """
    from tidemark.connectors.datagen.made.rows import MadeRows

    table, options = request.table, request.options
    chosen = seed if options[SEED] is None else options[SEED]
    unbounded = count_of_rows(table, options) is None
    return MadeRows(
        _columns(request),
        options,
        f"{chosen} {table.identifier}",
        request.zone,
        options["rows-per-second"] if unbounded else None,
    )


DATAGEN = Connector(
    name="datagen",
    options=OPTIONS,
    summary="generates random or sequential rows",
    traits=traits,
    read=read,
    read_columns=read_columns,
    parts=parts,
    can_stream_columns=lambda request: True,
    arriving=arriving,
    check=check,
)
