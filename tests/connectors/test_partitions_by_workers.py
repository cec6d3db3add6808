"""Rows that workers write into the folders of their partitions."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from tests.connectors.tables import files
from tests.connectors.test_files_by_workers import worker_sink
from tests.searching import searched
from tidemark import types as t
from tidemark.catalog.tables import Table
from tidemark.connectors.filesystem import sink_by_workers
from tidemark.connectors.filesystem.partition_columns import Partitions
from tidemark.connectors.filesystem.places import partition_folder
from tidemark.connectors.formats.base import FormatField
from tidemark.errors import DataError
from tidemark.functions.arrow_types import to_arrow


def batches(table: Table, *groups: list[tuple[Any, ...]]) -> Iterator[pa.RecordBatch]:
    for rows in groups:
        columns = zip(*rows, strict=True)
        arrays = [
            pa.array(values, to_arrow(column.type))
            for values, column in zip(columns, table.columns, strict=True)
        ]
        yield pa.record_batch(arrays, [column.name for column in table.columns])


def written(
    table: Table, *groups: list[tuple[Any, ...]], batch: int | None = None, **changes: Any
) -> list[tuple[int, str]]:
    """Writes the groups as the batches of one task; what it says about its files."""
    sink = worker_sink(table, columns=tuple(c.name for c in table.columns), **changes)
    said: list[tuple[int, str]] = []

    def notes() -> list[str]:
        said.extend((count, note or "") for count, note in sink.write(batches(table, *groups)))
        return [note for _, note in said]

    sink.commit(notes, batch)
    return said


def contents(folder: Path) -> dict[str, list[str]]:
    """The lines of each partition, in the order of its files' names."""
    found: dict[str, list[str]] = {}
    for file in sorted(folder.rglob("part-*")):
        lines = found.setdefault(str(file.parent.relative_to(folder)), [])
        lines += file.read_text("utf-8").splitlines()
    return found


def test_rows_of_a_partition_are_in_its_folder_in_their_order(tmp_path: Path) -> None:
    table = files("v INT, k INT, l STRING", tmp_path, "csv", "PARTITIONED BY (k, l)")

    said = written(
        table,
        [(1, 1, "x y"), (2, 1, "a/b=c"), (3, None, "é%+"), (4, 2, "")],
        [(5, 2, None), (6, 1, "x y"), (7, 1, "x y")],
    )

    assert contents(tmp_path) == {
        "k=1/l=x y": ["1", "6", "7"],
        "k=1/l=a%2Fb%3Dc": ["2"],
        "k=__DEFAULT_PARTITION__/l=é%25+": ["3"],
        "k=2/l=__DEFAULT_PARTITION__": ["4", "5"],
    }
    assert sorted(count for count, _ in said) == [1, 1, 2, 3]


def test_the_folder_of_null_may_have_another_name(tmp_path: Path) -> None:
    table = files(
        "v INT, k STRING", tmp_path, "csv", "PARTITIONED BY (k)", partition__default_name="none"
    )

    written(table, [(1, None), (2, "a")])

    assert contents(tmp_path) == {"k=none": ["1"], "k=a": ["2"]}


def test_a_partition_column_may_be_any_of_the_columns(tmp_path: Path) -> None:
    table = files(
        "k INT, v INT, `place` STRING, w INT", tmp_path, "json", "PARTITIONED BY (`place`, k)"
    )

    written(table, [(1, 10, "p", 11)])

    assert contents(tmp_path) == {"place=p/k=1": ['{"v":10,"w":11}']}


KEYS = st.tuples(
    st.one_of(st.none(), st.integers(-2, 2)),
    st.one_of(st.none(), st.text(alphabet="a/=% é", max_size=2)),
)


@searched(30)
@given(st.lists(KEYS, min_size=1, max_size=60))
def test_rows_are_divided_as_one_by_one(keys: list[tuple[int | None, str | None]]) -> None:
    fields = (FormatField("k", "k", t.Int()), FormatField("l =", "l", t.VarChar()))
    expected: dict[str, list[int]] = {}
    for row, (k, l) in enumerate(keys):  # noqa: E741
        named = {"k": None if k is None else str(k), "l =": l}
        expected.setdefault(partition_folder(named, "none"), []).append(row)

    columns = [pa.array([key[n] for key in keys], to_arrow(fields[n].type)) for n in (0, 1)]
    rows = pa.table({"row": pa.chunked_array([[*range(len(keys))]])})
    divided = Partitions(fields, "none").divide(pa.table(columns, ["k", "l"]), rows)

    assert [(folder, own["row"].to_pylist()) for folder, own in divided] == [*expected.items()]


def test_folders_are_escaped_as_flink_does(tmp_path: Path) -> None:
    """What Flink 2.3 has written."""
    table = files("v INT, `p =q` STRING", tmp_path, "csv", "PARTITIONED BY (`p =q`)")
    value = "a/b=c:d%e*f?g\\h#i[j]k{l}m^n'o\"p+q r~s,t;u!v@w$x&y(z)<>|`\x01\t\x7fé"

    written(table, [(1, value), (2, " ")])

    assert contents(tmp_path) == {
        "p %3Dq=a%2Fb%3Dc%3Ad%25e%2Af%3Fg%5Ch%23i%5Bj%5Dk%7Bl%7Dm%5En%27o%22p+q r~s,t;u!v@w$x&y(z)<>|`"
        "%01%09%7Fé": ["1"],
        "p %3Dq= ": ["2"],
    }


VALUES: list[tuple[str, Any, str]] = [
    ("INT", -7, "-7"),
    ("BOOLEAN", True, "true"),
    ("DATE", dt.date(2024, 1, 2), "2024-01-02"),
    ("TIMESTAMP(3)", dt.datetime(2024, 1, 2, 3, 4), "2024-01-02T03%3A04"),
    ("TIMESTAMP(3)", dt.datetime(2024, 1, 2, 3, 0), "2024-01-02T03%3A00"),
    ("TIMESTAMP(3)", dt.datetime(2024, 1, 2, 3, 4, 5), "2024-01-02T03%3A04%3A05"),
    ("TIMESTAMP(3)", dt.datetime(2024, 1, 2, 3, 4, 5, 120000), "2024-01-02T03%3A04%3A05.120"),
    ("TIMESTAMP(6)", dt.datetime(2024, 1, 2, 3, 4, 5, 120400), "2024-01-02T03%3A04%3A05.120400"),
    ("DECIMAL(10, 3)", Decimal("1.500"), "1.500"),
    ("DOUBLE", 12345678.5, "1.23456785E7"),
    ("BYTES", b"\x00\xff", "AP8%3D"),
    ("CHAR(2)", "ab", "ab"),
]


@pytest.mark.parametrize(("type_", "value", "folder"), VALUES)
def test_values_name_folders(tmp_path: Path, type_: str, value: Any, folder: str) -> None:
    """As in Flink 2.3, but for dates and bytes, whose folders Flink itself cannot read."""
    table = files(f"v INT, k {type_}", tmp_path, "csv", "PARTITIONED BY (k)")

    written(table, [(1, value)])

    assert contents(tmp_path) == {f"k={folder}": ["1"]}


def test_instants_name_folders_in_utc(tmp_path: Path) -> None:
    table = files("v INT, k TIMESTAMP_LTZ(3)", tmp_path, "csv", "PARTITIONED BY (k)")

    written(table, [(1, dt.datetime(2024, 1, 2, 3, 4, tzinfo=dt.UTC))])

    assert contents(tmp_path) == {"k=2024-01-02 03%3A04%3A00Z": ["1"]}


def test_parquet_files_lack_the_partition_columns(tmp_path: Path) -> None:
    table = files("v INT, k INT, w STRING", tmp_path, "parquet", "PARTITIONED BY (k)")

    written(table, [(1, 1, "a"), (2, 2, "b")], [(3, 1, "c")])

    found = {
        file.parent.name: parquet.ParquetFile(file).read() for file in tmp_path.rglob("part-*")
    }
    assert found["k=1"].to_pydict() == {"v": [1, 3], "w": ["a", "c"]}
    assert found["k=2"].to_pydict() == {"v": [2], "w": ["b"]}


def test_a_partition_begins_a_new_file_when_one_has_grown(tmp_path: Path) -> None:
    table = files(
        "v BIGINT, k INT", tmp_path, "json", "PARTITIONED BY (k)",
        sink__rolling_policy__file_size="1 kb",
    )  # fmt: skip

    said = written(table, [(n, n % 10 // 9) for n in range(1000)])

    sizes = {k: [f.stat().st_size for f in tmp_path.glob(f"k={k}/part-*")] for k in (0, 1)}
    assert len(sizes[0]) > 5
    assert len(sizes[1]) == 1
    assert max(sizes[0]) < 2048
    assert sum(count for count, _ in said) == 1000
    lines = [json.loads(line)["v"] for line in contents(tmp_path)["k=0"]]
    assert lines == [n for n in range(1000) if n % 10 < 9]


def test_few_files_are_open_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink_by_workers, "_MOST_OPEN", 2)
    table = files("v INT, k INT", tmp_path, "csv", "PARTITIONED BY (k)")

    said = written(table, [(n, k) for n, k in enumerate([1, 2, 1, 3, 4, 1])])

    assert contents(tmp_path) == {"k=1": ["0", "2", "5"], "k=2": ["1"], "k=3": ["3"], "k=4": ["4"]}
    assert [note.partition("/")[0] for _, note in said] == ["k=1", "k=2", "k=3", "k=4"]


def test_a_repeated_micro_batch_replaces_the_partitions_of_its_first_attempt(
    tmp_path: Path,
) -> None:
    table = files("v INT, k INT", tmp_path, "csv", "PARTITIONED BY (k)")

    written(table, [(1, 1)], job="job", batch=0)
    written(table, [(2, 1), (3, 2)], job="job", batch=1)
    written(table, [(2, 1), (4, 3)], job="job", batch=1)

    assert contents(tmp_path) == {"k=1": ["1", "2"], "k=3": ["4"]}


def test_partitions_of_an_interrupted_attempt_go(tmp_path: Path) -> None:
    table = files("v INT, k INT", tmp_path, "csv", "PARTITIONED BY (k)")
    killed = worker_sink(table, "job", columns=("v", "k"))
    next(iter(killed.write(batches(table, [(1, 1), (2, 2)]))))
    assert contents(tmp_path) == {}

    written(table, [(3, 2)], job="job", batch=0)

    assert contents(tmp_path) == {"k=2": ["3"]}
    assert [*tmp_path.glob(".staging-*")] == []


def test_a_task_that_fails_leaves_nothing_in_any_partition(tmp_path: Path) -> None:
    table = files("v STRING, k INT", tmp_path, "raw", "PARTITIONED BY (k)")

    with pytest.raises(DataError, match="cannot write NULL in `v` with the raw format") as failure:
        written(table, [("a", 1)] * 3, [("b", 1), (None, 2)])

    assert "COALESCE" in str(failure.value.hint)
    assert [*tmp_path.iterdir()] == []


def test_overwriting_replaces_the_partitions_that_are_written(tmp_path: Path) -> None:
    table = files("v INT, k INT", tmp_path, "csv", "PARTITIONED BY (k)")

    written(table, [(1, 1), (2, 2)])
    written(table, [(3, 2)], overwrite=True)

    assert contents(tmp_path) == {"k=1": ["1"], "k=2": ["3"]}


def test_partitions_are_committed_when_they_are_written(tmp_path: Path) -> None:
    table = files(
        "v INT, k INT", tmp_path, "csv", "PARTITIONED BY (k)",
        sink__partition_commit__policy__kind="success-file",
    )  # fmt: skip

    written(table, [(1, 1), (2, 2)])

    assert sorted(str(f.relative_to(tmp_path)) for f in tmp_path.rglob("_SUCCESS")) == [
        "k=1/_SUCCESS",
        "k=2/_SUCCESS",
    ]


@pytest.mark.parametrize(
    ("type_", "values", "expected"),
    [
        ("STRING", ["a", "é", ""], b"a\n\xc3\xa9\n\n"),
        ("INT", [1, 258], b"\x00\x00\x00\x01\n\x00\x00\x01\x02\n"),
        ("BIGINT", [-2], b"\xff" * 7 + b"\xfe\n"),
        ("BYTES", [b"\x00\xff"], b"\x00\xff\n"),
        ("BOOLEAN", [True, False], b"\x01\n\x00\n"),
    ],
)
def test_raw_values_are_lines(
    tmp_path: Path, type_: str, values: list[Any], expected: bytes
) -> None:
    table = files(f"v {type_}", tmp_path, "raw")

    written(table, [(value,) for value in values])

    (file,) = tmp_path.iterdir()
    assert file.read_bytes() == expected


def test_raw_numbers_may_be_little_endian(tmp_path: Path) -> None:
    written(files("v SMALLINT", tmp_path, "raw", raw__endianness="little-endian"), [(258,)])

    (file,) = tmp_path.iterdir()
    assert file.read_bytes() == b"\x02\x01\n"
