"""Files that are read and written in this process."""

import gzip
from datetime import date, datetime, time
from pathlib import Path

import pytest

import tidemark
from tidemark.errors import DataError, NeedsSpark

ORDERS = [
    '{"shop": "a", "ts": "2024-01-01 00:00:01"}',
    '{"shop": "a", "ts": "2024-01-01 00:00:25"}',
    # Behind the watermark of the row before it, which has closed its window.
    '{"shop": "a", "ts": "2024-01-01 00:00:02"}',
]


@pytest.fixture
def session() -> tidemark.Session:
    return tidemark.connect(engine="local")


def files(path: Path, columns: str, format_: str = "json") -> str:
    return (
        f"CREATE TABLE t ({columns}) WITH "
        f"('connector' = 'filesystem', 'path' = '{path}', 'format' = '{format_}')"
    )


def test_row_of_a_small_file_is_late_if_the_row_before_it_has_closed_its_window(
    session: tidemark.Session, tmp_path: Path
):
    path = tmp_path / "orders.json"
    path.write_text("\n".join(ORDERS))
    session.sql(files(path, "shop STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"))
    result = session.sql(
        "SELECT shop, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
        " GROUP BY shop, window_start, window_end"
    )
    assert result.rows() == [{"shop": "a", "n": 1}, {"shop": "a", "n": 1}]
    assert result.job is not None
    assert result.job.progress().operators[0].late == (1,)


def test_row_without_an_event_time_is_an_error(session: tidemark.Session, tmp_path: Path):
    path = tmp_path / "orders.json"
    path.write_text('{"shop": "a"}')
    session.sql(files(path, "shop STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"))
    with pytest.raises(DataError, match=r"orders\.json  event time `ts` is NULL") as failure:
        session.sql("SELECT * FROM t").rows()
    assert failure.value.notes["record"] == '{"shop":"a","ts":null}'


EVENTS = """
CREATE TABLE t (kind INT, shop STRING, ts TIMESTAMP(3), code BYTES, WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json');
CREATE TABLE other (shop STRING) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json');
CREATE VIEW timed AS SELECT shop, ts FROM t WHERE kind > 0
"""
# Queries of a view that drops the rows without a time.
OVER_VIEW = {
    "rows": "SELECT shop FROM timed",
    "union": "SELECT shop FROM timed UNION ALL SELECT shop FROM other WHERE shop = 'c'",
    "windows": "SELECT MAX(shop) FROM TABLE(TUMBLE(TABLE timed, DESCRIPTOR(ts), INTERVAL '1' HOUR))"
    " GROUP BY window_start, window_end",
    "a join": "SELECT a.shop FROM timed AS a JOIN timed AS b ON a.shop = b.shop"
    " AND a.ts BETWEEN b.ts AND b.ts + INTERVAL '1' HOUR",
}


@pytest.mark.parametrize("query", OVER_VIEW.values(), ids=OVER_VIEW)
def test_rows_that_a_filter_drops_need_no_event_time(
    session: tidemark.Session, tmp_path: Path, query: str
):
    path = tmp_path / "events.json"
    lines = ['{"kind": 1, "shop": "a", "ts": "2024-01-01 00:00:01"}', '{"kind": 0, "code": "AA=="}']
    path.write_text("\n".join(lines))
    session.sql(EVENTS.format(path=path))
    assert [[*row.values()] for row in session.sql(query).rows()] == [["a"]]

    path.write_text("\n".join([*lines, '{"kind": 2, "code": "AA=="}']))
    with pytest.raises(DataError, match=r"events\.json  event time `ts` is NULL") as failure:
        session.sql(query).rows()
    assert failure.value.notes["record"] == '{"kind":2,"shop":null,"ts":null}'


def test_bad_records_that_are_left_out_are_counted(session: tidemark.Session, tmp_path: Path):
    path = tmp_path / "orders.json"
    path.write_text('{"n": 1}\nbroken\n{"n": "x"}\n{"n": 2}\n')
    session.sql(
        f"CREATE TABLE t (n INT) WITH ('connector' = 'filesystem', 'path' = '{path}', "
        "'format' = 'json', 'json.ignore-parse-errors' = 'true')"
    )
    result = session.sql("SELECT n FROM t")
    rows = result.rows()
    assert result.job is not None
    assert (len(rows), result.job.progress().skipped) == (3, 1)


def test_files_are_read_in_order_of_name_whether_compressed_or_not(
    session: tidemark.Session, tmp_path: Path
):
    (tmp_path / "1.json.gz").write_bytes(gzip.compress(b'{"n": 1}\n{"n": 2}\n'))
    (tmp_path / "2.json").write_text('{"n": 3}')
    session.sql(files(tmp_path, "n INT, name STRING METADATA FROM 'file.name' VIRTUAL"))
    assert [tuple(row.values()) for row in session.sql("SELECT * FROM t").rows()] == [
        (1, "1.json.gz"),
        (2, "1.json.gz"),
        (3, "2.json"),
    ]


@pytest.mark.parametrize("format_", ["json", "csv", "parquet"])
def test_file_is_read_as_it_was_written(session: tidemark.Session, tmp_path: Path, format_: str):
    session.sql(files(tmp_path / "t", "n INT, name STRING", format_))
    job = session.sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')").job
    assert job is not None
    job.wait()
    assert session.sql("SELECT * FROM t").rows() == [
        {"n": 1, "name": "a"},
        {"n": 2, "name": "b"},
    ]


def test_overwriting_replaces_all_files_that_are_read(session: tidemark.Session, tmp_path: Path):
    folder = tmp_path / "t"
    (folder / "older").mkdir(parents=True)
    for name in ("rows", "older/rows", "_kept", ".kept"):
        (folder / name).write_text('{"n": 1}')
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    session.sql(files(folder, "n INT"))
    job = session.sql("INSERT OVERWRITE t VALUES (2)").job
    assert job is not None
    job.wait()

    assert session.sql("SELECT * FROM t").rows() == [{"n": 2}]
    assert {each.name for each in folder.iterdir()} >= {"_kept", ".kept"}


# What a folder's name is, and the value that it stands for.
PARTITION_VALUES = [
    ("INT", "-2", -2),
    ("BOOLEAN", "true", True),
    ("DOUBLE", "1.5", 1.5),
    ("DATE", "2024-01-02", date(2024, 1, 2)),
    ("TIME(0)", "10%3A00%3A01", time(10, 0, 1)),
    ("TIMESTAMP(3)", "2024-01-02T03%3A04", datetime(2024, 1, 2, 3, 4)),
    ("TIMESTAMP(3)", "2024-01-02 03%3A04%3A05.120", datetime(2024, 1, 2, 3, 4, 5, 120000)),
    ("CHAR(3)", "a%2Fb", "a/b"),
    ("BYTES", "YQ%3D%3D", b"a"),
    ("BIGINT", "__DEFAULT_PARTITION__", None),
]


@pytest.mark.parametrize(("type_", "name", "value"), PARTITION_VALUES)
def test_partition_columns_of_any_type_are_read(
    session: tidemark.Session, tmp_path: Path, type_: str, name: str, value: object
):
    (tmp_path / f"p={name}").mkdir()
    (tmp_path / f"p={name}" / "rows").write_text('{"a": 1}')
    ddl = files(tmp_path, f"a INT, p {type_}").replace("WITH", "PARTITIONED BY (p) WITH")
    session.sql(ddl)

    assert session.sql("SELECT * FROM t").rows() == [{"a": 1, "p": value}]


def test_folder_that_is_not_a_value_of_its_column_is_an_error(
    session: tidemark.Session, tmp_path: Path
):
    (tmp_path / "p=x").mkdir()
    (tmp_path / "p=x" / "rows").write_text('{"a": 1}')
    session.sql(files(tmp_path, "a INT, p INT").replace("WITH", "PARTITIONED BY (p) WITH"))

    with pytest.raises(DataError, match=r"p=x/rows  cannot read the partition value `p` as INT"):
        session.sql("SELECT * FROM t").rows()


def test_partitions_are_read_as_they_were_written(session: tidemark.Session, tmp_path: Path):
    declared = files(tmp_path / "t", "n INT, city STRING")
    session.sql(declared.replace("WITH", "PARTITIONED BY (city) WITH"))
    job = session.sql("INSERT INTO t VALUES (1, 'monday'), (2, NULL), (3, 'monday')").job
    assert job is not None
    job.wait()
    assert session.sql("SELECT * FROM t").rows() == [
        {"n": 2, "city": None},
        {"n": 1, "city": "monday"},
        {"n": 3, "city": "monday"},
    ]


def test_table_that_only_spark_writes_is_named(session: tidemark.Session, tmp_path: Path):
    declared = files(tmp_path / "t", "city STRING", "raw")
    session.sql(declared.replace("'raw'", "'raw', 'raw.charset' = 'UTF-16LE'"))
    with pytest.raises(NeedsSpark, match="writing `t` needs Spark"):
        session.sql("INSERT INTO t VALUES ('monday')")
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(
    ("format_", "text"), [("json", '{"a": 1, "b": "x"}\n'), ("csv", "1,x,2024-01-01 00:00:00\n")]
)
def test_values_are_converted_only_if_the_query_reads_them(
    session: tidemark.Session, tmp_path: Path, format_: str, text: str
):
    path = tmp_path / "t"
    path.write_text(text)
    session.sql(files(path, "a INT, b INT, ts TIMESTAMP(3), c AS b + 1", format_))

    assert session.sql("SELECT a FROM t").rows() == [{"a": 1}]
    assert session.sql("SELECT COUNT(*) AS n FROM t").rows()[-1] == {"n": 1}
    for query in ("SELECT c FROM t", "SELECT a FROM t WHERE b = 1"):
        with pytest.raises(DataError, match="cannot read `b` as INT"):
            session.sql(query).rows()


def test_no_more_columns_of_a_table_with_a_watermark_are_read(
    session: tidemark.Session, tmp_path: Path
):
    path = tmp_path / "t"
    path.write_text("1,x,2024-01-01 00:00:00\n")
    session.sql(files(path, "a INT, b INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts", "csv"))

    assert session.sql("SELECT a FROM t").rows() == [{"a": 1}]


@pytest.mark.parametrize("format_", ["maxwell-json", "ogg-json"])
def test_changes_that_were_written_are_read_again(
    session: tidemark.Session, tmp_path: Path, format_: str
):
    session.sql(files(tmp_path / "out", "name STRING, n BIGINT", format_))
    counted = "SELECT name, COUNT(*) FROM (VALUES ('a'), ('b'), ('a')) AS v(name) GROUP BY name"

    written = session.sql(f"INSERT INTO t {counted}")
    assert written.job is not None
    written.job.wait()

    changes = session.sql("SELECT * FROM t").changes()
    # As Flink writes them, an update is a delete and an insert.
    assert [(change.kind, *change.row.values()) for change in changes] == [
        ("+I", "a", 1),
        ("+I", "b", 1),
        ("-D", "a", 1),
        ("+I", "a", 2),
    ]
