"""The csv format on Spark. Expected values were confirmed on Flink 2.3 unless a test says else."""

import bz2
import datetime as dt
import gzip

import pytest

from tests.connectors.tables import files, read, rows, write
from tests.formats.csv_examples import BAD, PLAIN, SHORT, SINGLE
from tidemark.connectors.filesystem import decoded_files
from tidemark.errors import DataError


@pytest.fixture
def written(tmp_path):
    def put(text):
        path = tmp_path / "rows.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return put


def in_folder(tmp_path, examples):
    """A file for each text, and all of their rows."""
    for number, text in enumerate(examples):
        (tmp_path / f"{number:02}").write_bytes(text.encode())
    return [row for found in examples.values() for row in found]


def test_records_are_taken_apart(spark, tmp_path):
    expected = in_folder(tmp_path, PLAIN)

    assert rows(read(spark, files("id INT, s STRING", tmp_path, "csv"))) == expected


def test_empty_lines_are_records(spark, tmp_path):
    expected = in_folder(tmp_path, SHORT)
    table = files("s STRING, id INT", tmp_path, "csv", csv__ignore_parse_errors="true")

    assert rows(read(spark, table)) == expected


def test_a_single_column_may_have_line_breaks_in_quotes(spark, tmp_path):
    expected = in_folder(tmp_path, SINGLE)

    assert rows(read(spark, files("s STRING", tmp_path, "csv"))) == expected


def test_options_change_how_records_are_taken_apart(spark, written):
    options = {"csv__field_delimiter": "\\t", "csv__null_literal": "null"}
    table = files("id INT, s STRING", written("1\ta,b\n2\tnull\n"), "csv", **options)

    assert rows(read(spark, table)) == [(1, "a,b"), (2, None)]


def test_bad_records_are_errors_or_skipped(spark, written):
    text, ignoring, reason = BAD[1]
    path = written(text)

    skips = {"csv__ignore_parse_errors": "true"}
    assert rows(read(spark, files("id INT, s STRING", path, "csv", **skips))) == ignoring
    with pytest.raises(DataError) as caught:
        rows(read(spark, files("id INT, s STRING", path, "csv")))
    assert caught.value.message == f"{path}:1  cannot read the record as CSV"
    assert reason in caught.value.notes["why"]


def test_compressed_files_are_read(spark, tmp_path):
    for number, compress in enumerate((gzip.compress, bz2.compress)):
        ending = ("gz", "bz2")[number]
        (tmp_path / f"{number}.csv.{ending}").write_bytes(compress(b"%d,a\n" % number))

    assert rows(read(spark, files("id INT, s STRING", tmp_path, "csv"))) == [(0, "a"), (1, "a")]


def test_spark_hands_over_files_that_only_it_can_open(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(decoded_files, "_BY_ARROW", set())
    (tmp_path / "a.csv").write_text("1,a\n2,b\n")
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"3,c\n"))

    there = read(spark, files("id INT, s STRING", tmp_path, "csv"))

    assert sorted(rows(there)) == [(1, "a"), (2, "b"), (3, "c")]


def test_a_bad_value_names_file_line_value_and_record(spark, written):
    path = written("1,a\nx,b\n")

    with pytest.raises(DataError) as caught:
        rows(read(spark, files("id INT, s STRING", path, "csv")))

    assert caught.value.message == f"{path}:2  cannot read `id` as INT"
    assert caught.value.notes["record"] == "x,b"


def test_an_empty_field_is_not_a_number(spark, written):
    path = written("1,\n")

    with pytest.raises(DataError):
        rows(read(spark, files("id INT, n INT", path, "csv")))
    assert rows(
        read(spark, files("id INT, n INT", path, "csv", csv__ignore_parse_errors="true"))
    ) == [(1, None)]


def test_bad_records_are_detected_even_if_no_column_is_selected(spark, written):
    with pytest.raises(DataError):
        rows(read(spark, files("id INT, s STRING", written("1,a,b\n"), "csv")).groupBy().count())


def test_values_are_converted_as_csv_does(spark, written):
    columns = "d DATE, o TIME(3), p TIMESTAMP(3), b BOOLEAN, y BYTES, l ARRAY<INT>, r ROW<a INT, b STRING>"
    path = written("2024-1-1,10:00,2024-01-01 10:00:00.1239,TRUE,aGVsbG8=,1;2;;3,1;x\n")

    assert rows(read(spark, files(columns, path, "csv"))) == [
        (
            dt.date(2024, 1, 1),
            dt.time(10, 0),
            dt.datetime(2024, 1, 1, 10, 0, 0, 123000),
            True,
            b"hello",
            [1, 2, None, 3],
            (1, "x"),
        )
    ]


def content(folder):
    return "".join(p.read_text() for p in sorted(folder.rglob("part-*")))


def test_strings_are_quoted_where_flink_quotes_them(spark, tmp_path):
    values = [
        "plain",
        "a b",
        'q"q',
        "a,b",
        "a\\b",
        "it's",
        "x;y",
        "#c",
        "-",
        "+",
        "",
        "null",
        "a-b_c.d:e/f",
        "é",
    ]
    frame = (
        spark.createDataFrame([(v,) for v in values], "s string")
        .coalesce(1)
        .selectExpr("1 AS a", "s")
    )
    table = files("a INT, s STRING", tmp_path / "out", "csv")

    write(table, frame)

    assert content(tmp_path / "out") == (
        '1,plain\n1,"a b"\n1,"q""q"\n1,"a,b"\n1,"a\\b"\n1,"it\'s"\n1,x;y\n1,"#c"\n1,-\n1,"+"\n1,\n1,null\n'
        "1,a-b_c.d:e/f\n1,é\n"
    )
    assert [row[1] for row in rows(read(spark, table))] == values


def test_null_is_written_as_the_null_literal(spark, tmp_path):
    table = files("a INT, s STRING", tmp_path / "out", "csv", csv__null_literal="NULL")

    write(table, spark.sql("SELECT INT(NULL) AS a, STRING(NULL) AS s"))

    assert content(tmp_path / "out") == "NULL,NULL\n"
    assert rows(read(spark, table)) == [(None, None)]


def test_arrays_and_rows_are_written_with_their_delimiter(spark, tmp_path):
    table = files("l ARRAY<INT>, r ROW<x INT, y STRING>", tmp_path / "out", "csv")

    write(table, spark.sql("SELECT array(1, NULL, 3) AS l, named_struct('x', 1, 'y', 'p') AS r"))

    assert content(tmp_path / "out") == "1;;3,1;p\n"
    assert rows(read(spark, table)) == [([1, None, 3], (1, "p"))]
