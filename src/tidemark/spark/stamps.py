"""Rows with the watermark before them, whatever is filtered out later."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tidemark.kernels.columns import BEFORE_ALL
from tidemark.spark.frame import SEEN
from tidemark.spark.moments import WATERMARK
from tidemark.storage import Location

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

# Of how many micro-batches the watermark is known: more than Spark ever runs again.
_KEPT: Final = 200


@dataclass(frozen=True, slots=True)
class Latest:
    """The watermark of a source after each of the latest micro-batches of a stream, in a file.

    A micro-batch may run again, after a crash or for another consumer. It then starts where the
    micro-batch before it has ended, not where it has ended itself.
    """

    folder: Location

    def before(self, batch: int) -> int:
        return max((mark for n, mark in self._known().items() if n < batch), default=BEFORE_ALL)

    def keep(self, batch: int, mark: int) -> None:
        known = sorted({n: m for n, m in self._known().items() if n < batch}.items())
        written = json.dumps([*known[1 - _KEPT :], (batch, mark)])
        self._file.write(written.encode())

    def _known(self) -> dict[int, int]:
        written = self._file.read()
        return {} if written is None else dict(json.loads(written))

    @property
    def _file(self) -> Location:
        return self.folder / "watermarks.json"


def stamped(data: DataFrame, latest: Latest | None = None, *, each_row: bool = True) -> DataFrame:
    """The rows of one source, in order, each with the largest watermark of those before it, also
    in earlier micro-batches if the `latest` one is kept. Unless `each_row` has its own, all have
    the one before the micro-batch."""
    from pyspark.sql.types import LongType, StructField, StructType

    schema = StructType([*data.schema.fields, StructField(SEEN, LongType())])
    return data.coalesce(1).mapInArrow(Stamps(latest, each_row), schema)


@dataclass(frozen=True, slots=True)
class Stamps:
    """Adds the stamps to the batches of a partition, for `DataFrame.mapInArrow`."""

    latest: Latest | None = None
    each_row: bool = True

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        batch_id = _micro_batch()
        before = so_far = BEFORE_ALL if self.latest is None else self.latest.before(batch_id)
        for batch in batches:
            micros = batch.column(WATERMARK).cast(pa.timestamp("us", tz="UTC")).cast(pa.int64())
            own = pc.fill_null(micros, 0).to_numpy(zero_copy_only=False) // 1000
            # As in Flink, there is no watermark at or before the start of 1970.
            own = np.where(own <= 0, BEFORE_ALL, own)
            running = np.maximum.accumulate(np.concatenate([[so_far], own]))
            so_far = int(running[-1])
            seen = running[:-1] if self.each_row else np.full(len(own), before)
            yield pa.RecordBatch.from_arrays(
                [*batch.columns, pa.array(seen, pa.int64())],
                names=[*batch.schema.names, SEEN],
            )
        if self.latest is not None and so_far > before:
            self.latest.keep(batch_id, so_far)


def _micro_batch() -> int:
    """The number of the micro-batch that this task runs for; 0 in a batch."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return int((context and context.getLocalProperty("streaming.sql.batchId")) or 0)
