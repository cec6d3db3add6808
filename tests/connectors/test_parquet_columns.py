"""Parquet files in columns: each row group is read once, and no value is cast."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.connectors import tables
from tests.connectors.tables import files
from tests.connectors.test_file_parts import folder, read, request_of
from tests.connectors.test_files_by_workers import worker_sink
from tests.searching import searched
from tidemark import types as t
from tidemark.connectors.base import ColumnsRequest, Part
from tidemark.connectors.filesystem import connector, file_parts
from tidemark.errors import DataError

__all__ = ["folder"]


def parquet(path: Path, table: pa.Table, rows: int = 100) -> None:
    pq.write_table(table, path, row_group_size=rows)


@searched(30)
@given(cuts=st.lists(st.integers(0, 30_000), max_size=4), rows=st.integers(1, 400))
def test_each_row_group_is_in_one_part(folder, cuts, rows):
    file = folder / "rows.parquet"
    ids = [*range(1000)]
    parquet(file, pa.table({"id": pa.array(ids, pa.int32()), "s": [*map(str, ids)]}), rows)
    size = file.stat().st_size
    bounds = sorted({0, size, *(cut for cut in cuts if cut < size)})
    parts = [Part(str(file), start, end) for start, end in pairwise(bounds)]

    assert read(request_of(file, "parquet"), *parts) == [(i, str(i)) for i in ids]


def test_row_groups_of_a_large_file_are_shared(tmp_path, monkeypatch):
    monkeypatch.setattr(file_parts, "_SHARED_COLUMNS_FROM", 10)
    monkeypatch.setattr(file_parts, "_SHARE_OF_COLUMNS", 1000)
    file = tmp_path / "rows.parquet"
    parquet(file, pa.table({"id": pa.array(range(1000), pa.int32()), "s": ["a"] * 1000}))

    tasks = connector.parts(request_of(file, "parquet"))

    assert tasks is not None and len(tasks) > 1
    found = [read(request_of(file, "parquet"), *task) for task in tasks]
    assert all(found) and sum(map(len, found)) == 1000


@pytest.mark.parametrize(("cores", "groups", "expected"), [(3, 1, 3), (9, 2, 8), (1, 1, 1)])
def test_few_row_groups_are_shared_by_rows(tmp_path, monkeypatch, cores, groups, expected):
    monkeypatch.setattr(file_parts, "_SHARED_COLUMNS_FROM", 10)
    monkeypatch.setattr(file_parts, "_SHARE_OF_COLUMNS", 10)
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    file, ids = tmp_path / "rows.parquet", [*range(1000)]
    numbers = pa.table({"id": pa.array(ids, pa.int32()), "s": ["a"] * 1000})
    parquet(file, numbers, 1000 // groups)

    tasks = connector.parts(request_of(file, "parquet"))

    assert tasks is not None and len(tasks) == expected
    found = [read(request_of(file, "parquet"), *task) for task in tasks]
    assert all(found) and [id_ for rows in found for id_, _ in rows] == ids


# What a column of the file has, and what becomes of it as an INT.
OTHER_TYPES = {
    "smaller": (pa.array([1, None], pa.int8()), [1, None]),
    "dictionary": (pa.array([1, 2], pa.int32()).dictionary_encode(), [1, 2]),
    "larger": (pa.array([1, 2], pa.int64()), None),
    "fractions": (pa.array([1.5, 2.0]), None),
    "strings": (pa.array(["1", "2"]), None),
    "times": (pa.array([1, 2], pa.timestamp("ms")), None),
}


@pytest.mark.parametrize(("values", "expected"), OTHER_TYPES.values(), ids=OTHER_TYPES)
def test_parquet_columns_of_other_types_are_not_cast(tmp_path, monkeypatch, values, expected):
    monkeypatch.setattr(file_parts, "_SHARED_COLUMNS_FROM", 10)
    file = tmp_path / "rows.parquet"
    parquet(file, pa.table({"ID": values}))
    request = request_of(file, "parquet")

    assert (connector.parts(request) is None) == (expected is None)
    if expected is None:
        with pytest.raises(DataError, match=r"rows\.parquet  column `ID` is .* as INT"):
            read(request, Part(str(file)))
    else:
        assert read(request, Part(str(file))) == [(value, None) for value in expected]


def test_columns_that_differ_only_in_case_are_not_chosen_from(tmp_path):
    file = tmp_path / "rows.parquet"
    parquet(file, pa.table({"id": pa.array([1], pa.int32()), "ID": pa.array([2], pa.int32())}))

    with pytest.raises(DataError, match=r"columns of the file differ from `\w+` only in case"):
        read(request_of(file, "parquet"), Part(str(file)))


def test_instants_are_read_as_spark_writes_them(tmp_path):
    file = tmp_path / "rows.parquet"
    instant = datetime(9999, 1, 1, tzinfo=UTC)
    pq.write_table(
        pa.table({"ts": pa.array([instant], pa.timestamp("us", "UTC"))}),
        file,
        use_deprecated_int96_timestamps=True,
    )
    table = files("ts TIMESTAMP_LTZ(3)", file, "parquet")
    request = replace(
        request_of(file, "parquet"), table=table, columns=("ts",), types=(t.TimestampLtz(3),)
    )

    assert read(request, Part(str(file))) == [(instant,)]


# What Flink 2.3 wrote with flink-sql-parquet 2.3.0: times in 96 bits, those before 1970 with
# negative nanoseconds.
OF_FLINK = Path(__file__).parent / "times_of_flink.parquet"


def test_times_of_flink_are_read():
    table = files("id INT, a TIMESTAMP(3), b TIMESTAMP(6), l TIMESTAMP_LTZ(3)", OF_FLINK, "parquet")
    columns = tuple(each.name for each in table.columns)
    types = tuple(each.type for each in table.columns)
    request = replace(request_of(OF_FLINK, "parquet"), table=table, columns=columns, types=types)
    old, older = datetime(1965, 1, 2, 3, 4, 5), datetime(1700, 1, 2, 3, 4, 5)
    new = datetime(2024, 1, 2, 3, 4, 5, 123000)

    assert sorted(read(request, Part(str(OF_FLINK)))) == [
        (1, new, new.replace(microsecond=123456), new.replace(tzinfo=UTC)),
        (2, old, older, old.replace(tzinfo=UTC)),
        (3, None, None, None),
    ]


def test_times_of_96_bits_inside_others_are_read(tmp_path):
    file, moment = tmp_path / "rows.parquet", datetime(2024, 1, 2, 3, 4, 5)
    pq.write_table(
        pa.table({"l": pa.array([[moment, None]], pa.list_(pa.timestamp("us")))}),
        file,
        use_deprecated_int96_timestamps=True,
    )
    table = files("l ARRAY<TIMESTAMP_LTZ(3)>", file, "parquet")
    request = replace(
        request_of(file, "parquet"),
        table=table,
        columns=("l",),
        types=(t.Array(t.TimestampLtz(3)),),
    )

    assert read(request, Part(str(file))) == [([moment.replace(tzinfo=UTC), None],)]


def test_times_of_day_are_written_as_flink_reads_them(tmp_path):
    noon = time(12, 0, 0, 345000)
    columns = "t TIME(3), u TIME(6), l ARRAY<TIME(0)>, m MAP<STRING, TIME(0)>, r ROW<x TIME(0)>"
    table = files(columns, tmp_path / "rows", "parquet")
    names = tuple(each.name for each in table.columns)
    types = tuple(each.type for each in table.columns)
    unit = pa.time64("us")
    of_row = pa.struct([("x", unit)])
    batch = pa.record_batch(
        {
            "t": pa.array([noon, None], unit),
            "u": pa.array([noon, None], unit),
            "l": pa.array([[time(1), None], None], pa.list_(unit)),
            "m": pa.array([{"k": time(2)}, None], pa.map_(pa.string(), unit)),
            "r": pa.array([{"x": time(3)}, None], of_row),
        }
    )
    sink = worker_sink(table, columns=names)
    sink.commit(lambda: [note for _, note in sink.write(iter([batch])) if note], None)

    [file] = (tmp_path / "rows").iterdir()
    request = replace(request_of(file, "parquet"), table=table, columns=names, types=types)
    assert pq.read_schema(file).field("t").type == pa.time32("ms")
    assert pq.read_schema(file).field("u").type == unit
    [first, second] = read(request, Part(str(file)))
    assert first[:3] == (noon, noon, [time(1), None])
    assert first[4] == {"x": time(3)}
    assert second == (None,) * 5


LIST = [{"p": 1, "q": ["u", None]}, None]
OF_LIST = pa.list_(pa.struct([("p", pa.int32()), ("q", pa.list_(pa.string()))]))
OF_ROW = pa.struct([("x", pa.int32()), ("y", pa.struct([("z", pa.string())]))])
INSTANTS = [datetime(1970, 1, 1, 0, 0, 0, 1, UTC), datetime(1950, 1, 2, 3, 4, 5, 600000, UTC), None]
# By the columns of a table, what workers have.
WRITTEN = {
    "l ARRAY<ROW<p INT, q ARRAY<STRING>>>": pa.array([LIST, [], None], OF_LIST),
    "m MAP<STRING, INT>": pa.array([{"k": 2, "n": None}, None], pa.map_(pa.string(), pa.int32())),
    "r ROW<x INT, y ROW<z STRING>>": pa.array(
        [{"x": 1, "y": {"z": "é"}}, {"x": None, "y": None}], OF_ROW
    ),
    "i TIMESTAMP_LTZ(6)": pa.array(
        [*INSTANTS, datetime(9999, 12, 31, tzinfo=UTC)], pa.timestamp("us", "UTC")
    ),
}


def test_spark_reads_what_workers_write(spark: SparkSession, tmp_path: Path) -> None:
    for number, (columns, values) in enumerate(WRITTEN.items()):
        table = files(columns, tmp_path / str(number), "parquet")
        [name] = (column.name for column in table.columns)
        sink = worker_sink(table, columns=(name,))
        notes = sink.write(iter([pa.record_batch({name: values})]))
        sink.commit(lambda notes=notes: [note for _, note in notes if note], None)

        found = tables.read(spark, table).toArrow().column(0)

        assert found.to_pylist() == values.to_pylist()


MICROS = datetime(2024, 1, 2, 3, 4, 5, 123456)
OLD = datetime(1960, 1, 2, 3, 4, 5, 999999)
# What a column of the file has, as what it is read, and what becomes of it, as in Flink.
OF_OTHER_WRITERS = {
    "nanoseconds": (
        pa.array([MICROS, OLD, None], pa.timestamp("ns")), "TIMESTAMP(6)", [MICROS, OLD, None]
    ),
    "more digits": (
        pa.array([MICROS, OLD], pa.timestamp("us")),
        "TIMESTAMP(3)",
        [MICROS.replace(microsecond=123000), OLD.replace(microsecond=999000)],
    ),
    "instants as times": (pa.array([MICROS], pa.timestamp("us", "UTC")), "TIMESTAMP(6)", [MICROS]),
    "times as instants": (
        pa.array([MICROS], pa.timestamp("ns")), "TIMESTAMP_LTZ(6)", [MICROS.replace(tzinfo=UTC)]
    ),
    "inside a row": (
        pa.array([{"x": MICROS}], pa.struct([("x", pa.timestamp("ns"))])),
        "ROW<x TIMESTAMP(6)>",
        [{"x": MICROS}],
    ),
    "numbers of times": (pa.array([5, None], pa.timestamp("ms")), "BIGINT", [5, None]),
    "narrower": (pa.array([127, None], pa.int32()), "TINYINT", [127, None]),
    "unsigned": (pa.array([7, None], pa.uint64()), "BIGINT", [7, None]),
    "only NULLs": (pa.array([None, None], pa.null()), "ARRAY<INT>", [None, None]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("values", "type_", "expected"), OF_OTHER_WRITERS.values(), ids=OF_OTHER_WRITERS
)
def test_types_of_other_writers_are_read_as_flink_does(tmp_path, values, type_, expected):
    file = tmp_path / "rows.parquet"
    parquet(file, pa.table({"v": values}))

    assert read(request_for(file, f"v {type_}"), Part(str(file))) == [(v,) for v in expected]


def test_integers_that_do_not_fit_are_errors(tmp_path):
    file = tmp_path / "rows.parquet"
    parquet(file, pa.table({"v": pa.array([1, 2**63], pa.uint64())}))

    with pytest.raises(DataError, match=r"rows\.parquet  cannot read the file") as caught:
        read(request_for(file, "v BIGINT"), Part(str(file)))
    assert "column 'v'" in caught.value.notes["why"]


def request_for(file: Path, columns: str) -> ColumnsRequest:
    table = files(columns, file, "parquet")
    names, types = zip(*((each.name, each.type) for each in table.columns), strict=True)
    return replace(request_of(file, "parquet"), table=table, columns=names, types=types)


def test_workers_read_small_files_that_spark_does_not(tmp_path):
    micros, nanos = tmp_path / "micros.parquet", tmp_path / "nanos.parquet"
    for file, unit in {micros: "us", nanos: "ns"}.items():
        parquet(file, pa.table({"v": pa.array([MICROS], pa.timestamp(unit))}))

    assert connector.parts(request_for(micros, "v TIMESTAMP(3)")) is None
    assert connector.parts(request_for(nanos, "v TIMESTAMP(3)")) == [(Part(str(nanos)),)]


def test_spark_cuts_times_off_as_workers_do(spark: SparkSession, tmp_path: Path) -> None:
    table = files("v TIMESTAMP(3)", tmp_path, "parquet")
    values = pa.array([MICROS, OLD, None], pa.timestamp("us"))
    parquet(tmp_path / "rows.parquet", pa.table({"v": values}))

    found = tables.read(spark, table).toArrow().column(0).to_pylist()

    assert found == [MICROS.replace(microsecond=123000), OLD.replace(microsecond=999000), None]
