"""A task of a batch with several key groups: what all of them emit is used as one, in the task."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.errors import DataError
from tidemark.kernels.columns import HASH, TIME
from tidemark.kernels.keep_first import KeepFirstKernel
from tidemark.runtime.bucket import Bucket, InputShape
from tidemark.runtime.times import in_schema
from tidemark.spark.stateful.at_once import run_and_use
from tidemark.spark.stateful.metrics import REPORT
from tidemark.spark.stateful.packing import BUCKET, Pack

LABELS = (12, 6, 2, 0)
ROWS = pa.schema([("k", pa.int64()), ("x", pa.int64())])
COUNTED = pa.schema([("rows", pa.int64())])
Rows = list[tuple[int, int]]


def packed(rows: Rows) -> list[pa.RecordBatch]:
    """Rows packed by key, in order of their groups."""
    frame = pl.DataFrame(rows, schema={"k": pl.Int64, "x": pl.Int64}, orient="row")
    frame = frame.with_columns(pl.col("k").alias(HASH), pl.lit(0, pl.Int64).alias(TIME))
    table = pa.Table.from_batches(Pack(0, LABELS, ROWS, None).of_frames(iter([frame]), 0))
    return table.append_column("clock", pa.array([0] * len(table))).sort_by(BUCKET).to_batches()


def used(batches: Iterator[pa.RecordBatch], seen: list[list[tuple[int, int]]]) -> pa.Table:
    """What a task returns; what is used in it is `seen`."""
    bucket = Bucket(KeepFirstKernel(("k",)), (InputShape.of(ROWS),), ("k", "x"))

    def rows_of(frames: Iterator[pl.DataFrame]) -> Iterator[pa.RecordBatch]:
        return (batch for frame in frames for batch in in_schema(frame, ROWS))

    def use(open_):
        def counted(given: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            rows = [tuple(row.values()) for batch in open_(given) for row in batch.to_pylist()]
            seen.append(rows)
            yield pa.RecordBatch.from_pydict({"rows": [len(rows)]}, schema=COUNTED)

        return counted

    return pa.Table.from_batches(run_and_use(bucket, batches, "clock", rows_of, use, COUNTED))


@searched(100)
@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 9)), max_size=60),
    st.lists(st.integers(0, 30), max_size=4),
)
def test_groups_are_used_together_however_their_rows_are_cut(rows: Rows, cuts: list[int]) -> None:
    whole = pa.Table.from_batches(packed(rows)) if rows else None
    seen: list[list[tuple[int, int]]] = []
    bounds = [0, *sorted(cuts), 1000]
    batches = [
        batch
        for start, end in pairwise(bounds)
        if whole is not None
        for batch in whole.slice(start, end - start).to_batches()
    ]

    returned = used(iter(batches), seen)

    first: dict[int, int] = {}
    for key, x in rows:
        first.setdefault(key, x)
    assert len(seen) == 1
    assert sorted(seen[0]) == sorted(first.items())
    reports = [row for row in returned.to_pylist() if row[REPORT] is not None]
    assert len(reports) == len({LABELS[key % len(LABELS)] for key in first})
    assert [row["rows"] for row in returned.to_pylist() if row[REPORT] is None] == [len(first)]


def test_a_problem_in_a_group_ends_the_task() -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield from packed([(1, 1), (2, 2)])
        raise DataError("broken")

    seen: list[list[tuple[int, int]]] = []
    with pytest.raises(DataError, match="broken"):
        used(batches(), seen)
    assert seen == []
