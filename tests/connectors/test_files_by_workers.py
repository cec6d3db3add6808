"""What workers leave in a sink's staging folder, and what of it comes into place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import tidemark
from tests.connectors.tables import files
from tidemark.catalog.tables import Changelog, Table
from tidemark.connectors import registry
from tidemark.connectors.base import Target, WorkerSink
from tidemark.dialect.statements import PhysicalColumn
from tidemark.errors import OptionError, PlanError
from tidemark.physical.writing import Writes


def target(table: Table, job: str | None = None, **changes: object) -> Target:
    said = {
        "table": table,
        "options": registry.options_of(table),
        "columns": ("n_1",),
        "types": tuple(column.type for column in table.columns),
        "changelog": Changelog.APPEND,
        "overwrite": False,
        "zone": "UTC",
        "job": job,
    }
    return Target(**(said | changes))  # type: ignore[arg-type]


def worker_sink(table: Table, job: str | None = None, **changes: object) -> WorkerSink:
    made = registry.lookup(table).worker_sink
    assert made is not None
    found = made(target(table, job, **changes))
    assert found is not None
    return found


def batches(*rows: list[int | None]) -> Iterator[pa.RecordBatch]:
    for values in rows:
        yield pa.record_batch({"n_1": pa.array(values, pa.int64())})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def table(folder: Path) -> Table:
    return files("`n 1` BIGINT", folder, "parquet")


def rows(folder: Path) -> list[int]:
    """Those that a reader finds, in the order of the files' names."""
    found = [parquet.read_table(file) for file in sorted(folder.glob("[!.]*"))]
    assert all(table.column_names == ["n 1"] for table in found)
    return [n for table in found for n in table["n 1"].to_pylist()]


def test_each_task_with_rows_writes_a_file_that_is_seen_when_all_are_done(
    table: Table, folder: Path
) -> None:
    sink = worker_sink(table)

    def notes() -> list[str]:
        said = [*sink.write(batches([1, 2], [], [3])), *sink.write(batches([], []))]
        said += sink.write(batches([4]))
        assert [count for count, _ in said] == [3, 1]
        assert rows(folder) == []
        return [note for _, note in said if note]

    sink.commit(notes, None)

    assert rows(folder) == [1, 2, 3, 4]
    assert len(list(folder.iterdir())) == 2


def test_a_task_that_is_tried_again_counts_once(table: Table, folder: Path) -> None:
    sink = worker_sink(table)

    def notes() -> list[str]:
        list(sink.write(batches([1])))
        return [note for _, note in sink.write(batches([1])) if note]

    sink.commit(notes, None)

    assert rows(folder) == [1]


def test_a_task_that_fails_leaves_nothing(table: Table, folder: Path) -> None:
    sink = worker_sink(table)

    def broken() -> Iterator[pa.RecordBatch]:
        yield from batches([1])
        raise RuntimeError("no more")

    def notes() -> list[str]:
        return [note for _, note in sink.write(broken()) if note]

    with pytest.raises(RuntimeError):
        sink.commit(notes, None)

    assert list(folder.iterdir()) == []


def test_a_repeated_micro_batch_replaces_its_first_attempt(table: Table, folder: Path) -> None:
    def deliver(batch: int, *numbers: int) -> None:
        sink = worker_sink(table, "job")
        sink.commit(lambda: [n for _, n in sink.write(batches([*numbers])) if n], batch)

    deliver(0, 1)
    deliver(1, 2, 3)
    deliver(1, 2, 3)
    deliver(2, 4)

    assert rows(folder) == [1, 2, 3, 4]


def test_files_of_an_interrupted_attempt_go(table: Table, folder: Path) -> None:
    killed = worker_sink(table, "job")
    list(killed.write(batches([7])))
    [staging] = folder.glob(".staging-*")

    again = worker_sink(table, "job")
    again.commit(lambda: [n for _, n in again.write(batches([8])) if n], 0)

    assert rows(folder) == [8]
    assert not staging.exists()


def test_overwriting_replaces_what_was_there(table: Table, folder: Path) -> None:
    for number in (1, 2):
        sink = worker_sink(table, overwrite=True)
        sink.commit(lambda s=sink, n=number: [m for _, m in s.write(batches([n])) if m], None)  # type: ignore[misc]

    assert rows(folder) == [2]


def test_many_rows_come_in_groups(table: Table, folder: Path) -> None:
    sink = worker_sink(table)
    parts = [list(range(i * 100_000, (i + 1) * 100_000)) for i in range(12)]

    sink.commit(lambda: [n for _, n in sink.write(batches(*parts)) if n], None)

    [file] = folder.iterdir()
    groups = parquet.read_metadata(file)
    sizes = [groups.row_group(i).num_rows for i in range(groups.num_row_groups)]
    assert sizes == [1_000_000, 200_000]


@pytest.mark.parametrize(
    ("format_", "lines"), [("json", ['{"n 1":1}', '{"n 1":null}']), ("csv", ["1", ""])]
)
def test_lines_are_encoded_in_workers(folder: Path, format_: str, lines: list[str]) -> None:
    sink = worker_sink(files("`n 1` BIGINT", folder, format_))

    sink.commit(lambda: [n for _, n in sink.write(batches([1, None])) if n], None)

    [file] = folder.iterdir()
    assert file.read_text() == "".join(f"{line}\n" for line in lines)


def test_a_file_of_lines_is_closed_when_it_has_grown(folder: Path) -> None:
    options = {"sink__rolling_policy__file_size": "1 kb"}
    sink = worker_sink(files("`n 1` BIGINT", folder, "json", **options))

    sink.commit(lambda: [n for _, n in sink.write(batches([*range(1000)])) if n], None)

    sizes = [file.stat().st_size for file in folder.iterdir()]
    assert len(sizes) > 5
    assert max(sizes) < 4096


# Columns and options with which Spark writes, and what EXPLAIN blames for it.
LEFT_TO_SPARK = [
    ("n TIME(0)", "orc", {}, "column `n` of type TIME(0)"),
    ("n ARRAY<TIME(0)>", "orc", {}, "column `n` of type ARRAY<TIME(0)>"),
    (
        "n ROW<x TIMESTAMP_LTZ(3)>",
        "parquet",
        {},
        "column `n` of type ROW<`x` TIMESTAMP_LTZ(3)>",
    ),
    (
        "n TIMESTAMP_LTZ(3), m TIMESTAMP(3)",
        "parquet",
        {},
        "columns of types that are not in one file together",
    ),
    ("n INT", "parquet", {"parquet__compression": "LZ4"}, "the options of the parquet format"),
    ("n TIMESTAMP_LTZ(3)", "orc", {}, "column `n` of type TIMESTAMP_LTZ(3)"),
    ("n STRING", "raw", {"raw__charset": "UTF-16LE"}, "the options of the raw format"),
]


@pytest.mark.parametrize(("columns", "format_", "options", "blamed"), LEFT_TO_SPARK)
def test_what_arrow_would_write_otherwise_is_left_to_spark(
    folder: Path, columns: str, format_: str, options: dict[str, str], blamed: str
) -> None:
    table = files(columns, folder, format_, **options)
    connector, names = registry.lookup(table), tuple(c.name for c in table.columns)

    assert connector.worker_sink is not None and connector.writes is not None
    assert connector.worker_sink(target(table, columns=names)) is None
    types = tuple(c.type for c in table.columns if isinstance(c, PhysicalColumn))
    assert connector.writes(table, registry.options_of(table), types) == Writes(blamed)


@pytest.mark.parametrize(
    ("options", "tasks"),
    [({}, None), ({"sink__parallelism": "3"}, 3), ({"auto_compaction": "true"}, 1)],
)
def test_as_many_tasks_write_as_there_are_to_be_files(
    folder: Path, options: dict[str, str], tasks: int | None
) -> None:
    assert worker_sink(files("`n 1` BIGINT", folder, **options)).tasks == tasks


@pytest.mark.parametrize(
    ("columns", "options", "blamed"),
    [
        ("n INT, m ARRAY<INT>", {}, "column `m` of type ARRAY<INT>"),
        ("n INT, m INT", {"auto_compaction": "true"}, "'auto-compaction'"),
        (
            "n INT, m INT",
            {"sink__shuffle_by_partition__enable": "true"},
            "'sink.shuffle-by-partition.enable'",
        ),
    ],
)
def test_some_partitions_are_left_to_spark(
    folder: Path, columns: str, options: dict[str, str], blamed: str
) -> None:
    table = files(columns, folder, "json", "PARTITIONED BY (m)", **options)
    connector = registry.lookup(table)

    assert connector.worker_sink is not None and connector.writes is not None
    assert connector.worker_sink(target(table, columns=("n", "m"))) is None
    types = tuple(c.type for c in table.columns if isinstance(c, PhysicalColumn))
    assert connector.writes(table, registry.options_of(table), types).only_spark == blamed


def test_wide_rows_come_in_smaller_groups(folder: Path) -> None:
    sink = worker_sink(files("n STRING", folder, "parquet"))
    wide = [pa.record_batch({"n_1": ["x" * 1_000_000] * 50}) for _ in range(4)]

    sink.commit(lambda: [n for _, n in sink.write(iter(wide)) if n], None)

    [file] = folder.iterdir()
    groups = parquet.read_metadata(file)
    assert [groups.row_group(i).num_rows for i in range(groups.num_row_groups)] == [150, 50]


def test_what_files_cannot_take_is_refused_before_rows_come(table: Table, tmp_path: Path) -> None:
    made = registry.lookup(table).worker_sink
    assert made is not None
    with pytest.raises(PlanError, match="accepts only inserts"):
        made(target(table, changelog=Changelog.RETRACT))
    (tmp_path / "file").touch()
    with pytest.raises(OptionError, match="is a file"):
        made(target(files("n BIGINT", tmp_path / "file", "parquet")))


def test_changes_are_written_with_their_kinds(folder: Path) -> None:
    changes = files("`n 1` BIGINT", folder, "maxwell-json")
    sink = worker_sink(changes, changelog=Changelog.RETRACT)
    batch = pa.record_batch({"n_1": [1, 1, 2], "_tm_kind": ["+I", "-U", "+U"]})

    sink.commit(lambda: [note for _, note in sink.write(iter([batch])) if note], None)

    [file] = folder.iterdir()
    assert file.read_text().splitlines() == [
        '{"data":{"n 1":1},"type":"insert"}',
        '{"data":{"n 1":1},"type":"delete"}',
        '{"data":{"n 1":2},"type":"insert"}',
    ]


WRITERS = [
    ("INT", "json", "workers write it"),
    ("INT", "avro", "workers write it"),
    ("TIME(0)", "avro", "workers write it"),
    ("TIME(0)", "parquet", "workers write it"),
    ("TIME(0)", "orc", "Spark writes it, because of column `u` of type TIME(0)"),
]


@pytest.mark.parametrize(("type_", "format_", "expected"), WRITERS)
def test_explain_says_who_writes(folder: Path, type_: str, format_: str, expected: str) -> None:
    session = tidemark.connect(engine="local")
    session.sql(
        f"CREATE TABLE s (k INT, u {type_}, p AS PROCTIME()) "
        "WITH ('connector' = 'datagen', 'number-of-rows' = '3')"
    )
    session.sql(
        f"CREATE TABLE t (k INT, u {type_}) "
        f"WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = '{format_}')"
    )
    numbered = "SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY p) AS n FROM s"

    [row] = session.sql(f"EXPLAIN INSERT INTO t SELECT k, u FROM ({numbered}) WHERE n = 1").rows()

    assert f"Sink: filesystem sink; {expected}" in str(row)


def test_explain_says_that_spark_writes_what_it_has_computed(folder: Path) -> None:
    session = tidemark.connect(engine="local")
    session.sql("CREATE TABLE s (k INT) WITH ('connector' = 'datagen', 'number-of-rows' = '3')")
    session.sql(
        "CREATE TABLE t (k INT) "
        f"WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'json')"
    )

    [row] = session.sql("EXPLAIN INSERT INTO t SELECT k FROM s").rows()

    assert "Sink: filesystem sink; Spark writes it, because it computes the rows last" in str(row)
