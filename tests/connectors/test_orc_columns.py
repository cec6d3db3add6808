"""ORC files in columns: each stripe is read once, and no value is cast."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import orc
from pyspark.sql import SparkSession

import tidemark
from tests.connectors import tables
from tests.connectors.tables import files
from tests.connectors.test_file_parts import folder, read, request_of
from tests.connectors.test_files_by_workers import worker_sink
from tests.searching import searched
from tidemark import types as t
from tidemark.connectors.base import ColumnsRequest, Part
from tidemark.connectors.filesystem import connector, file_parts, orc_columns
from tidemark.connectors.filesystem.orc_columns import OrcColumns
from tidemark.connectors.formats.base import FormatField
from tidemark.connectors.formats.orc_times import with_times
from tidemark.errors import DataError

__all__ = ["folder"]


def numbers(count: int = 1000) -> pa.Table:
    ids = [*range(count)]
    return pa.table({"id": pa.array(ids, pa.int32()), "s": [f"{i}-" * 50 for i in ids]})


def in_stripes(path: Path, table: pa.Table, rows: int) -> None:
    with orc.ORCWriter(str(path), stripe_size=1, batch_size=rows) as writer:
        for start in range(0, table.num_rows, rows):
            writer.write(table.slice(start, rows))


@searched(30)
@given(cuts=st.lists(st.integers(0, 30_000), max_size=4), rows=st.integers(50, 400))
def test_each_stripe_is_in_one_part(folder, cuts, rows):
    file = folder / "rows.orc"
    in_stripes(file, numbers(), rows)
    assert orc.ORCFile(file).nstripes > 1
    size = file.stat().st_size
    bounds = sorted({0, size, *(cut for cut in cuts if cut < size)})
    parts = [Part(str(file), start, end) for start, end in pairwise(bounds)]

    assert [row[0] for row in read(request_of(file, "orc"), *parts)] == [*range(1000)]


def test_stripes_of_a_large_file_are_shared(tmp_path, monkeypatch):
    monkeypatch.setattr(file_parts, "_SHARED_COLUMNS_FROM", 10)
    monkeypatch.setattr(file_parts, "_SHARE_OF_COLUMNS", 1000)
    file = tmp_path / "rows.orc"
    in_stripes(file, numbers(), 100)

    tasks = connector.parts(request_of(file, "orc"))

    assert tasks is not None and len(tasks) > 1
    found = [read(request_of(file, "orc"), *task) for task in tasks]
    assert all(found) and sum(map(len, found)) == 1000


# What a column of the file has, and what becomes of it as an INT.
OTHER_TYPES = {
    "smaller": (pa.array([1, None], pa.int8()), [1, None]),
    "larger": (pa.array([1, 2], pa.int64()), None),
    "fractions": (pa.array([1.5, 2.0]), None),
    "strings": (pa.array(["1", "2"]), None),
    "times": (pa.array([1, 2], pa.timestamp("ms")), None),
}


@pytest.mark.parametrize(("values", "expected"), OTHER_TYPES.values(), ids=OTHER_TYPES)
def test_columns_of_other_types_are_not_cast(tmp_path, monkeypatch, values, expected):
    monkeypatch.setattr(file_parts, "_SHARED_COLUMNS_FROM", 10)
    file = tmp_path / "rows.orc"
    orc.write_table(pa.table({"ID": values}), file)
    request = request_of(file, "orc")

    assert (connector.parts(request) is None) == (expected is None)
    if expected is None:
        with pytest.raises(DataError, match=r"rows\.orc  column `ID` is .* as INT"):
            read(request, Part(str(file)))
    else:
        assert read(request, Part(str(file))) == [(value, None) for value in expected]


def test_columns_without_names_are_not_taken_for_missing(tmp_path):
    file = tmp_path / "rows.orc"
    orc.write_table(pa.table({"_col0": pa.array([1], pa.int32())}), file)

    with pytest.raises(DataError, match="columns have no names"):
        read(request_of(file, "orc"), Part(str(file)))


def test_an_empty_file_has_no_rows(tmp_path):
    """As in Flink 2.3."""
    file = tmp_path / "rows.orc"
    file.write_bytes(b"")

    assert read(request_of(file, "orc"), Part(str(file))) == []


def test_a_file_that_is_not_orc_is_named(tmp_path):
    file = tmp_path / "rows.orc"
    file.write_bytes(b"ORC but not really")

    with pytest.raises(DataError, match=r"rows\.orc  cannot read the file"):
        read(request_of(file, "orc"), Part(str(file)))


# What Flink 2.3 wrote with flink-sql-orc 2.3.0, where clocks were those of Los Angeles.
OF_FLINK = Path(__file__).parent / "times_of_flink.orc"
TIMES_OF_FLINK = (
    datetime(2024, 1, 2, 3, 4, 5),
    datetime(2024, 7, 2, 3, 4, 5, 123456),
    [datetime(2024, 1, 1, 0, 0, 0, 123000)],
)


def request_for(file: Path, columns: str) -> ColumnsRequest:
    table = files(columns, file, "orc")
    physical = table.columns
    return replace(
        request_of(file, "orc"),
        table=table,
        columns=tuple(each.name for each in physical),
        types=tuple(each.type for each in physical),
    )


def test_times_of_flink_are_read_by_workers(monkeypatch):
    monkeypatch.setattr(file_parts, "_SHARED_COLUMNS_FROM", 10)
    request = request_for(OF_FLINK, "ts0 TIMESTAMP(0), ts9 TIMESTAMP(6), ats ARRAY<TIMESTAMP(3)>")

    assert connector.parts(request) is not None
    assert read(request, Part(str(OF_FLINK))) == [TIMES_OF_FLINK, (None, None, None)]


def test_instants_are_read_from_files_that_store_them(tmp_path):
    file, moment = tmp_path / "rows.orc", datetime(2024, 1, 2, 3, 4, 5, 678000, UTC)
    orc.write_table(pa.table({"q": pa.array([moment], pa.timestamp("us", "UTC"))}), file)

    assert read(request_for(file, "q TIMESTAMP_LTZ(3)"), Part(str(file))) == [(moment,)]
    of_instants = OrcColumns((FormatField("ts", "ts", t.TimestampLtz(3)),))
    [layout] = orc_columns.layouts([str(OF_FLINK)], of_instants)
    assert not layout.fits


def test_times_that_spark_wrote_are_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr(file_parts, "_SHARED_COLUMNS_FROM", 10)
    file, far = tmp_path / "rows.orc", 253_370_764_800_000_000
    row = pa.struct([("x", pa.int64())])
    orc.write_table(
        pa.table(
            {"p": [far, None], "l": [[far, None], None], "r": pa.array([{"x": far}, None], row)}
        ),
        file,
    )
    request = request_for(file, "p TIMESTAMP(3), l ARRAY<TIMESTAMP(3)>, r ROW<x TIMESTAMP(3)>")
    moment = datetime(9999, 1, 1)

    assert connector.parts(request) is not None
    assert read(request, Part(str(file))) == [
        (moment, [moment, None], {"x": moment}),
        (None, None, None),
    ]


def test_times_beyond_those_of_arrow_are_named(tmp_path):
    file = tmp_path / "rows.orc"
    orc.write_table(pa.table({"p": pa.array([datetime(9999, 1, 1)], pa.timestamp("us"))}), file)

    with pytest.raises(DataError, match=r"rows\.orc  cannot read the file") as caught:
        read(request_for(file, "p TIMESTAMP(3)"), Part(str(file)))

    assert caught.value.hint is not None and "1677 to 2262" in caught.value.hint


NESTED_TIMES = (
    "p TIMESTAMP(6), l ARRAY<TIMESTAMP(3)>, m MAP<STRING, TIMESTAMP(3)>, r ROW<t TIMESTAMP(3)>"
)


def written_times(folder: Path, *moments: datetime | None) -> Path:
    """A file that workers write with each time in columns, rows, arrays and maps."""
    time = pa.timestamp("us")
    rows = pa.table(
        {
            "p": pa.array(moments, time),
            "l": pa.array([[each] for each in moments], pa.list_(time)),
            "m": pa.array([{"k": each} for each in moments], pa.map_(pa.string(), time)),
            "r": pa.array([{"t": each} for each in moments], pa.struct([("t", time)])),
        }
    )
    sink = worker_sink(files(NESTED_TIMES, folder / "out", "orc"), columns=("p", "l", "m", "r"))
    notes = sink.write(iter(rows.to_batches()))
    sink.commit(lambda: [note for _, note in notes if note], None)
    [file] = (folder / "out").iterdir()
    return file


def test_times_are_written_as_those_of_orc(tmp_path):
    moments = [
        datetime(2024, 7, 1, 2, 3, 4, 567891),
        datetime(1950, 1, 1),
        datetime(1970, 1, 1, 0, 0, 0, 5),
        None,
    ]

    file = written_times(tmp_path, *moments)

    found = orc.ORCFile(file).schema
    assert found.field("p").type == pa.timestamp("ns")
    assert found.field("l").type.value_type == pa.timestamp("ns")
    rows = read(request_for(file, NESTED_TIMES), Part(str(file)))
    assert rows == [(each, [each], {"k": each}, {"t": each}) for each in moments]


# Arrow writes these in another way than it should, or does not read them again.
NOT_WRITTEN = {
    "fractions before 1970": (datetime(1969, 12, 31, 23, 59, 58, 500000), "before 1970"),
    "after Arrow's nanoseconds": (datetime(9999, 12, 31), "1677 to 2262"),
    "before them": (datetime(1600, 1, 1), "1677 to 2262"),
}


@pytest.mark.parametrize(("moment", "why"), NOT_WRITTEN.values(), ids=NOT_WRITTEN)
@pytest.mark.parametrize("inside", ["p", "l", "m", "r"])
def test_times_that_orc_would_damage_are_refused(moment, why, inside):
    time = pa.timestamp("us")
    columns = {
        "p": pa.array([None, moment], time),
        "l": pa.array([[None, moment]], pa.list_(time)),
        "m": pa.array([{"k": moment}], pa.map_(pa.string(), time)),
        "r": pa.array([None, {"t": moment}], pa.struct([("t", time)])),
    }

    with pytest.raises(DataError, match=f"in `{inside}` with the orc format") as caught:
        with_times(pa.table({inside: columns[inside]}))

    assert why in caught.value.notes["why"]


COLUMNS = "a BOOLEAN, b TINYINT, c SMALLINT, d INT, e BIGINT, f FLOAT, g DOUBLE, h DECIMAL(20, 4), i STRING, j BYTES, k DATE"
VALUES = (
    "SELECT TRUE AS a, 1Y AS b, 2S AS c, 3 AS d, 4L AS e, 1.5F AS f, 2.5D AS g, CAST(12.34 AS DECIMAL(20, 4)) AS h,"
    " 'é' AS i, X'0102' AS j, DATE '1600-01-02' AS k UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL"
)


def test_files_of_spark_and_of_workers_are_read_alike(spark: SparkSession, tmp_path: Path) -> None:
    nested = ", n ARRAY<INT>, o MAP<STRING, INT>, p ROW<x INT, y STRING>, q TIMESTAMP(6)"
    table = files(COLUMNS + nested, tmp_path / "spark", "orc")
    more = ", ARRAY(1, NULL) AS n, MAP('k', 1) AS o, NAMED_STRUCT('x', 1, 'y', 'z') AS p, TIMESTAMP_NTZ '2024-07-01 02:03:04.567891' AS q"
    rows = spark.sql(VALUES.replace(" AS k", f" AS k{more}") + ", NULL" * 4)
    tables.write(table, rows.coalesce(1))

    session = tidemark.connect(engine="local")
    session.sql(
        f"CREATE TABLE t ({COLUMNS}{nested}) WITH "
        f"('connector' = 'filesystem', 'path' = '{tmp_path}/spark', 'format' = 'orc')"
    )
    here = [tuple(row.values()) for row in session.sql("SELECT * FROM t").rows()]

    there = pl.from_arrow(tables.read(spark, table).toArrow())
    assert isinstance(there, pl.DataFrame)
    assert here[0][:11] == there.rows()[0][:11]
    assert here[0][11:] == ([1, None], {"k": 1}, {"x": 1, "y": "z"}, there["q"][0])
    assert here[1] == (None,) * 15


@pytest.mark.parametrize("codec", ["NONE", "SNAPPY", "ZLIB", "LZ4", "ZSTD"])
def test_spark_reads_what_workers_write(spark: SparkSession, tmp_path: Path, codec: str) -> None:
    table = files(COLUMNS, tmp_path / "out", "orc", orc__compress=codec)
    rows = spark.sql(VALUES)
    columns = tuple(rows.columns)
    sink = worker_sink(table, columns=columns)

    notes = sink.write(iter(rows.coalesce(1).toArrow().to_batches()))
    sink.commit(lambda: [note for _, note in notes if note], None)

    [file] = (tmp_path / "out").iterdir()
    assert orc.ORCFile(file).compression == ("UNCOMPRESSED" if codec == "NONE" else codec)
    assert tables.rows(tables.read(spark, table)) == tables.rows(rows)


def test_fields_of_rows_are_found_by_name(tmp_path):
    """As in Flink 2.3: others are left out, those that are not there are NULL, integers may be
    narrower."""
    file = tmp_path / "rows.orc"
    kind = pa.struct([("x", pa.int32()), ("y", pa.string())])
    row = {"x": 1, "y": "q"}
    orc.write_table(
        pa.table(
            {
                "r": pa.array([row, None], kind),
                "l": pa.array([[row, None], None], pa.list_(kind)),
                "n": pa.array([[1], None], pa.list_(pa.int32())),
            }
        ),
        file,
    )
    request = request_for(
        file, "r ROW<z INT, y STRING, x BIGINT>, l ARRAY<ROW<x BIGINT>>, n ARRAY<BIGINT>"
    )

    assert read(request, Part(str(file))) == [
        ({"z": None, "y": "q", "x": 1}, [{"x": 1}, None], [1]),
        (None, None, None),
    ]


def test_fields_of_rows_that_are_of_other_types_are_named(tmp_path):
    file = tmp_path / "rows.orc"
    orc.write_table(pa.table({"r": [{"x": "1"}]}), file)

    with pytest.raises(DataError, match=r"column `r` is .* cannot be read as ROW"):
        read(request_for(file, "r ROW<x INT>"), Part(str(file)))
