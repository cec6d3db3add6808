"""Rows of Spark, written by the workers that have them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from tidemark.spark.stateful.packed_rows import Take


def noted(rows: DataFrame, write: Take) -> list[str]:
    """The notes of what is written, task by task."""
    written = rows.mapInArrow(_Noting(write), "note STRING")
    return [row.note for row in written.collect() if row.note is not None]


@dataclass(frozen=True, slots=True)
class _Noting:
    """Writes the rows of a partition, for `DataFrame.mapInArrow`."""

    write: Take

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        notes = [note for _, note in self.write(batches)]
        yield pa.RecordBatch.from_arrays([pa.array(notes, pa.string())], ["note"])
