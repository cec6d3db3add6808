"""A table that workers read once, packed for all the operators of a batch that use it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from tidemark.runtime.made_once import MadeOnce
from tidemark.runtime.source_report import SourceReport
from tidemark.spark.stateful.counted import ReadOnce
from tidemark.spark.stateful.packing import BUCKET, PACKED_DDL, Repack

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Which operator a packed row is for.
_USE: Final = "use"


@dataclass
class SharedReading:
    """Collects the uses of a reading while a plan is lowered. Its frame is made when the first
    operator needs it; an operator that is lowered later reads the table for itself.

    Spark exchanges the rows for all operators at once, and sees that they need the same exchange.
    """

    uses: list[tuple[tuple[ReadOnce, Repack], ...]] = field(default_factory=list)
    closed: bool = False
    _exchanged: DataFrame | None = None

    def add(self, data: DataFrame, inputs: Sequence[tuple[ReadOnce, Repack]]) -> UseOfReading:
        """The use of an operator, for inputs which are made of what a frame names."""
        if self.closed:
            return SharedReading().add(data, inputs)
        self.uses.append(tuple(inputs))
        return UseOfReading(self, data, len(self.uses) - 1)

    def packed(self, data: DataFrame, use: int) -> DataFrame:
        self.closed = True
        if len(self.uses) == 1:
            return data.mapInArrow(_Together(tuple(self.uses), numbered=False), PACKED_DDL)
        if self._exchanged is None:
            together = data.mapInArrow(
                _Together(tuple(self.uses), numbered=True), f"{PACKED_DDL}, {_USE} INT"
            )
            tasks = int(data.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
            self._exchanged = together.repartition(tasks, BUCKET)
        # Spark would filter before the exchange, and then the exchanges are not the same, unless
        # the condition depends on where it is computed.
        mine = f"IF(spark_partition_id() < 0, FALSE, {_USE} = {use})"
        return self._exchanged.where(mine).drop(_USE)


@dataclass(frozen=True)
class UseOfReading:
    """The packed rows of one operator."""

    reading: SharedReading
    data: DataFrame
    number: int

    @property
    def packed(self) -> DataFrame:
        return self.reading.packed(self.data, self.number)


@dataclass(frozen=True, slots=True)
class _Together:
    """Reads once what all uses name, and packs it for each of them."""

    uses: tuple[tuple[tuple[ReadOnce, Repack], ...], ...]
    numbered: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        named, kept = [*batches], MadeOnce[Any]()
        for number, inputs in enumerate(self.uses):
            for read, repack in inputs:
                report = SourceReport()
                packed = repack.opened(partial(_read, read, report, kept), report)(iter(named))
                yield from _with_use(packed, number) if self.numbered else packed


def _read(
    read: ReadOnce, report: SourceReport, kept: MadeOnce[Any], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    return read(batches, report, kept)


def _with_use(packed: Iterator[pa.RecordBatch], number: int) -> Iterator[pa.RecordBatch]:
    for batch in packed:
        yield batch.append_column(_USE, pa.array([number] * batch.num_rows, pa.int32()))
