"""One process writes what all workers have encoded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tidemark.spark.stateful import one_writer

pytestmark = pytest.mark.spark


def encoder() -> one_writer.Encode:
    """Made here, so that it is sent to workers as a whole."""

    def numbers(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
        for batch in batches:
            yield batch.num_rows, ",".join(map(str, batch.column(0).to_pylist())).encode()

    return numbers


@pytest.mark.parametrize("on_driver", [True, False], ids=["driver", "task"])
def test_all_bytes_are_written_once_by_one_process(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_driver: bool
) -> None:
    monkeypatch.setattr(one_writer, "_driver_may_collect", lambda spark: on_driver)
    encoded = one_writer.encoded(spark.range(0, 10, numPartitions=3), encoder())

    def write(batch: tuple[str, int] | None, contents: Iterator[bytes]) -> None:
        assert batch is None
        (tmp_path / str(os.getpid())).write_bytes(b",".join(filter(None, contents)))

    assert one_writer.write(encoded, None, write=write) == 10

    [written] = tmp_path.iterdir()
    assert sorted(map(int, written.read_text().split(","))) == [*range(10)]
    assert (written.name == str(os.getpid())) is on_driver


def test_a_micro_batch_without_rows_is_written_too(spark: SparkSession) -> None:
    calls: list[list[bytes]] = []
    encoded = one_writer.encoded(spark.range(0), encoder())

    written = one_writer._Writing(lambda batch, contents: calls.append([*contents]), None)

    assert written.rows(encoded.toArrow().to_batches()) == 0
    assert calls == [[]]
