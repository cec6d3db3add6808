"""Rows that workers encode, and that one task writes: see `OneWriterSink`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ENCODED_DDL: Final = "rows BIGINT, content BINARY"
ENCODED: Final = pa.schema([("rows", pa.int64()), ("content", pa.binary())])
_WRITTEN: Final = pa.schema([("rows", pa.int64())])

Encode: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Iterator[tuple[int, bytes]]]
# Writes all bytes of a batch, or of a micro-batch with its query's id and its number.
Write: TypeAlias = Callable[[tuple[str, int] | None, Iterator[bytes]], None]


def encoded(data: DataFrame, encode: Encode) -> DataFrame:
    """What the workers make of the rows of Spark."""
    return data.mapInArrow(EncodeRows(encode, iter), ENCODED_DDL)


def write(data: DataFrame, batch_id: int | None, write: Write) -> int:
    """Write what is encoded, in one task: the number of rows."""
    batch = None if batch_id is None else (_query_of(data), batch_id)
    written = data.repartition(1).mapInArrow(_Writing(write, batch), "rows BIGINT")
    return sum(row.rows for row in written.collect())


def _query_of(data: DataFrame) -> str:
    """The id of the streaming query whose micro-batch this is, which is in its checkpoint."""
    found = data.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
    assert found is not None, "Spark says the query of each micro-batch"
    return str(found)


@dataclass(frozen=True, slots=True)
class EncodeRows:
    """Encodes the rows of a partition, for `DataFrame.mapInArrow`."""

    encode: Encode
    open: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows, content in self.encode(self.open(batches)):
            yield pa.RecordBatch.from_pylist([{"rows": rows, "content": content}], schema=ENCODED)


@dataclass(frozen=True, slots=True)
class _Writing:
    write: Write
    batch: tuple[str, int] | None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        total = 0

        def contents() -> Iterator[bytes]:
            nonlocal total
            for batch in batches:
                total += sum(batch.column(0).to_pylist())
                yield from batch.column(1).to_pylist()

        self.write(self.batch, contents())
        yield pa.RecordBatch.from_pydict({"rows": [total]}, schema=_WRITTEN)
