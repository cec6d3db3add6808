"""A table that workers read once, packed for all the operators that use it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pyarrow as pa

from tidemark.runtime.made_once import MadeOnce
from tidemark.runtime.source_report import SourceReport
from tidemark.spark.stateful.counted import ReadOnce, counting
from tidemark.spark.stateful.packing import BUCKET, PACKED, PACKED_DDL, Repack
from tidemark.spark.stateful.reports import Receiver, SourceWatermark, with_watermark_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from tidemark.spark.source_watermarks import FollowedSource

# Which operator a packed row is for.
_USE: Final = "use"
_NUMBERED_DDL: Final = f"{PACKED_DDL}, {_USE} INT"
_NUMBERED: Final = PACKED.append(pa.field(_USE, pa.int32()))

# Batches that name what is read at a time, and whether the rows may be kept meanwhile.
Piece: TypeAlias = tuple[Sequence[pa.RecordBatch], bool]
Pieces: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Iterator[Piece]]
# So many rows may be in a piece: the positions of a task's rows go on from one to the next.
_MOST_ROWS: Final = 1 << 40


def in_one_piece(named: Iterator[pa.RecordBatch]) -> Iterator[Piece]:
    yield [*named], True


@dataclass(frozen=True, slots=True)
class SharedInput:
    """An input of an operator: what reads its rows, how they are packed, and their watermark."""

    read: ReadOnce
    repack: Repack
    watermark: SourceWatermark | None = None


@dataclass
class SharedReading:
    """Collects the uses of a reading while a plan is lowered. Its frame is made when the first
    operator needs it; an operator of a batch that is lowered later reads the table for itself.

    Spark exchanges the rows for all operators at once, and sees that they need the same exchange.
    """

    pieces: Pieces = in_one_piece
    uses: list[tuple[SharedInput, ...]] = field(default_factory=list)
    closed: bool = False
    # What the driver calls the table if Spark follows its watermark.
    followed: FollowedSource | None = None
    _exchanged: DataFrame | None = None

    @property
    def inputs(self) -> int:
        """How many there are in all uses."""
        return sum(map(len, self.uses))

    def add(self, data: DataFrame, inputs: Sequence[SharedInput]) -> UseOfReading:
        """The use of an operator, for inputs which are made of what a frame names."""
        if self.closed:
            return SharedReading(self.pieces).add(data, inputs)
        self.uses.append(tuple(inputs))
        return UseOfReading(self, data, len(self.uses) - 1)

    def packed(self, data: DataFrame, use: int) -> DataFrame:
        self.closed = True
        if len(self.uses) == 1:
            return self._packed(data).drop(_USE)
        if self._exchanged is None:
            tasks = int(data.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
            self._exchanged = self._packed(data).repartition(tasks, BUCKET)
        # Spark would filter before the exchange, and then the exchanges are not the same, unless
        # the condition depends on where it is computed.
        mine = f"IF(spark_partition_id() < 0, FALSE, {_USE} = {use})"
        return self._exchanged.where(mine).drop(_USE)

    def _packed(self, data: DataFrame) -> DataFrame:
        """The rows for all uses; those of a stream are counted, and Spark follows their watermark
        if an operator waits for it."""
        together = _Together(tuple(self.uses), self.pieces)
        if not data.isStreaming:
            return data.mapInArrow(lambda named: together(named, SourceReport()), _NUMBERED_DDL)
        packed = counting(data, together, _NUMBERED_DDL, _NUMBERED)
        receivers = [
            Receiver(each.repack.pack.input, each.repack.pack.labels, {_USE: number})
            for number, inputs in enumerate(self.uses)
            for each in inputs
        ]
        known = (each.watermark for inputs in self.uses for each in inputs)
        watermark = next((w for w in known if w is not None and not w.declared), None)
        return packed if watermark is None else with_watermark_of(packed, watermark, receivers)


@dataclass(frozen=True, slots=True)
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

    uses: tuple[tuple[SharedInput, ...], ...]
    pieces: Pieces

    def __call__(
        self, named: Iterator[pa.RecordBatch], report: SourceReport
    ) -> Iterator[pa.RecordBatch]:
        for place, (piece, fits) in enumerate(self.pieces(named)):
            kept = MadeOnce[Any]() if fits else None
            reports = []
            for number, inputs in enumerate(self.uses):
                for each in inputs:
                    reports.append(SourceReport())
                    read = partial(_read, each.read, reports[-1], kept)
                    packed = each.repack.opened(read, reports[-1], place * _MOST_ROWS)
                    yield from _with_use(packed(iter(piece)), number)
            # If the rows cannot be kept, each input reads and counts the same ones.
            report.add(reports[0].rows, reports[0].skipped)


def _read(
    read: ReadOnce,
    report: SourceReport,
    kept: MadeOnce[Any] | None,
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    return read(batches, report, kept)


def _with_use(packed: Iterator[pa.RecordBatch], number: int) -> Iterator[pa.RecordBatch]:
    for batch in packed:
        yield batch.append_column(_USE, pa.array([number] * batch.num_rows, pa.int32()))
