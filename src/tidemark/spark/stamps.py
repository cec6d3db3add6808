"""Rows with the watermark before them, whatever is filtered out later."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.spark.frame import SEEN, WATERMARK

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


def stamped(data: DataFrame) -> DataFrame:
    """The rows of one source, in order, each with the largest watermark of those before it."""
    from pyspark.sql.types import LongType, StructField, StructType

    schema = StructType([*data.schema.fields, StructField(SEEN, LongType())])
    return data.coalesce(1).mapInArrow(Stamps(), schema)


@dataclass(frozen=True, slots=True)
class Stamps:
    """Adds the stamps to the batches of a partition, for `DataFrame.mapInArrow`."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        from tidemark.kernels.columns import BEFORE_ALL

        so_far = BEFORE_ALL
        for batch in batches:
            micros = batch.column(WATERMARK).cast(pa.timestamp("us", tz="UTC")).cast(pa.int64())
            own = pc.fill_null(micros, 0).to_numpy(zero_copy_only=False) // 1000
            # As in Flink, there is no watermark at or before the start of 1970.
            own = np.where(own <= 0, BEFORE_ALL, own)
            running = np.maximum.accumulate(np.concatenate([[so_far], own]))
            so_far = int(running[-1])
            yield pa.RecordBatch.from_arrays(
                [*batch.columns, pa.array(running[:-1], pa.int64())],
                names=[*batch.schema.names, SEEN],
            )
