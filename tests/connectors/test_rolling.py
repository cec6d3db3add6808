"""How many files the rows of a batch come in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.connectors.tables import files, read, rows, write
from tests.connectors.test_files_by_workers import worker_sink


def sizes(folder: Path) -> list[int]:
    return [path.stat().st_size for path in sorted(folder.rglob("part-*"))]


def test_a_worker_closes_a_file_that_is_large_enough(tmp_path: Path) -> None:
    table = files("n BIGINT", tmp_path, "parquet", sink__rolling_policy__file_size="16 kb")
    sink = worker_sink(table)
    scattered = [n * 0x9E3779B97F4A7C15 % 2**63 for n in range(10_000)]
    batch = pa.record_batch({"n_1": pa.array(scattered, pa.int64())})

    said: list[tuple[int, str | None]] = []

    def notes() -> list[str]:
        said.extend(sink.write(iter([batch])))
        return [note for _, note in said if note]

    sink.commit(notes, None)

    assert sum(count for count, _ in said) == 10_000
    assert len(sizes(tmp_path)) == len(said) > 3
    assert max(sizes(tmp_path)) < 64 << 10


@pytest.mark.parametrize("format_", ["json", "parquet", "orc"])
def test_a_large_file_is_split(spark: Any, tmp_path: Path, format_: str) -> None:
    options = {"sink__rolling_policy__file_size": "4 kb", "parquet__compression": "UNCOMPRESSED"}
    if format_ != "parquet":
        del options["parquet__compression"]
    table = files("n BIGINT, k INT", tmp_path, format_, tail="PARTITIONED BY (k)", **options)

    write(table, spark.range(4_000, numPartitions=1).selectExpr("xxhash64(id) AS n", "1 AS k"))

    assert len(sizes(tmp_path / "k=1")) >= 8
    assert len({n for n, _ in rows(read(spark, table))}) == 4_000
    assert sizes(tmp_path / "k=1") == sizes(tmp_path)


@pytest.mark.parametrize("option", ["auto_compaction", "sink__shuffle_by_partition__enable"])
def test_the_rows_of_a_partition_are_written_to_one_file(
    spark: Any, tmp_path: Path, option: str
) -> None:
    table = files("n BIGINT, k INT", tmp_path, tail="PARTITIONED BY (k)", **{option: "true"})

    write(table, spark.range(100, numPartitions=4).selectExpr("id AS n", "INT(id % 2) AS k"))

    assert [len(sizes(tmp_path / f"k={k}")) for k in (0, 1)] == [1, 1]


def test_compaction_leaves_one_file_of_a_table_without_partitions(
    spark: Any, tmp_path: Path
) -> None:
    table = files("n BIGINT", tmp_path, "parquet", auto_compaction="true")

    write(table, spark.range(100, numPartitions=4).selectExpr("id AS n"))

    assert len(sizes(tmp_path)) == 1


def test_files_are_compacted_up_to_a_size_of_their_own(spark: Any, tmp_path: Path) -> None:
    sizes_of = {"compaction__file_size": "1 mb", "sink__rolling_policy__file_size": "1 kb"}
    table = files("n BIGINT", tmp_path, auto_compaction="true", **sizes_of)

    write(table, spark.range(2_000, numPartitions=4).selectExpr("id AS n"))

    assert len(sizes(tmp_path)) == 1
