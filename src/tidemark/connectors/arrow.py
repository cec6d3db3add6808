"""Rows in the memory of the user's process as a table. They are in `Table.dataframe`, as an Arrow
table with the types of its columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tidemark.catalog.tables import Table, TableTraits
from tidemark.connectors.base import ColumnsRequest, Connector, OptionSpec, Part, ReadRequest
from tidemark.connectors.columns_by_name import (
    ROWS,
    column,
    frame_of,
    nulls,
    with_safe_names,
)
from tidemark.connectors.dataframe import OPTIONS as OF_DATAFRAMES
from tidemark.connectors.dataframe import changelog_of
from tidemark.connectors.formats.base import FormatField
from tidemark.dialect.statements import PhysicalColumn
from tidemark.kernels.columns import KIND

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import DataFrame

OPTIONS = (
    *OF_DATAFRAMES,
    OptionSpec("in-order", "boolean", True, summary="whether rows arrive one after the other"),
)
# So many bytes come in order from a single source, like a small file; and a task reads as many.
_SMALL = 4 << 20
# A client of Spark Connect sends at most 128 MB at a time.
_MOST = 100 << 20


def traits(table: Table, options: Mapping[str, Any]) -> TableTraits:
    return TableTraits(
        changelog=changelog_of(options),
        readable=True,
        ordered=options["in-order"] and _is_small(table),
    )


def _is_small(table: Table) -> bool:
    return bool(table.dataframe.nbytes < _SMALL)


def read_columns(request: ColumnsRequest) -> Callable[[], Iterator[pl.DataFrame]]:
    return lambda: (_frame(batch, request) for batch in _batches(request))


def _batches(request: ColumnsRequest) -> Iterator[pa.RecordBatch]:
    rows = request.table.dataframe
    parts = [Part(rows=(0, rows.num_rows))] if request.parts is None else request.parts
    for part in parts:
        assert part.rows is not None
        first, end = part.rows
        for batch in rows.slice(first, end - first).to_batches(max_chunksize=ROWS):
            if request.count is not None:
                request.count(batch.num_rows, 0)
            if batch.num_rows:
                yield batch


def parts(request: ColumnsRequest) -> list[tuple[Part, ...]] | None:
    """A part for each task. The rows themselves travel with the code of the tasks."""
    rows = request.table.dataframe
    if rows.nbytes > _MOST:
        return None
    tasks = -(-max(rows.nbytes, 1) // _SMALL)
    bounds = [rows.num_rows * task // tasks for task in range(tasks + 1)]
    return [(Part(rows=bound),) for bound in pairwise(bounds)]


def size(request: ColumnsRequest) -> int:
    return int(request.table.dataframe.nbytes)


def _frame(batch: pa.RecordBatch, request: ColumnsRequest) -> pl.DataFrame:
    """The rows of a batch, with the names and types of the request."""
    import polars as pl

    pairs = [*zip(_names(request.table), _fields(request), strict=True)]
    read = [name for name, _ in pairs if request.read is None or name in request.read]
    kind = request.options["row-kind"]
    if not read and kind is None:  # a batch without columns has no height
        return nulls([field for _, field in pairs], batch.num_rows)
    columns = [column(field, name if name in read else None) for name, field in pairs]
    kinds = [] if kind is None else [pl.col(kind).alias(KIND)]
    return frame_of(batch).select(*columns, *kinds)


def _names(table: Table) -> list[str]:
    return [c.name for c in table.columns if isinstance(c, PhysicalColumn)]


def _fields(request: ColumnsRequest) -> list[FormatField]:
    pairs = zip(request.columns, request.types, strict=True)
    return [FormatField(name, name, type_) for name, type_ in pairs]


def read(request: ReadRequest) -> DataFrame:
    import pyarrow as pa
    from pyspark.sql import types as s

    from tidemark.spark.types import to_spark

    table, kind = request.table, request.options["row-kind"]
    names, columns, types = _names(table), list(request.columns), list(map(to_spark, request.types))
    if kind is not None:
        names, columns, types = [*names, kind], [*columns, KIND], [*types, s.StringType()]
    schema = s.StructType([s.StructField(*pair) for pair in zip(columns, types, strict=True)])
    rows = table.dataframe.select(names).rename_columns(columns)
    batches = [*map(with_safe_names, rows.to_batches())]
    # Spark does not take a table without rows.
    given = pa.Table.from_batches(batches) if rows.num_rows else []
    data = request.spark.createDataFrame(given, schema)
    if _is_small(table):
        # Rows in one partition have an order for everything that follows.
        data = data.coalesce(1)
    return request.once(data) if request.streaming else data


ARROW = Connector(
    name="arrow",
    options=OPTIONS,
    summary="rows in memory registered by the user",
    traits=traits,
    read=read,
    parts=parts,
    size=size,
    read_columns=read_columns,
)
