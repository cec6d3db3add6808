"""print, blackhole and DataFrames."""

from dataclasses import replace

import pytest

from tests.connectors.tables import declared, read, rows, write
from tidemark.catalog.tables import Changelog
from tidemark.connectors import registry
from tidemark.dialect.statements import Option


def printing(columns, **options):
    more = "".join(f", '{k}' = '{v}'" for k, v in options.items())
    return declared(f"CREATE TABLE t ({columns}) WITH ('connector' = 'print'{more})")


def test_rows_are_printed_as_flink_prints_them(spark, capsys):
    columns = "a INT, b STRING, c TIMESTAMP(3), d ARRAY<INT>, e MAP<STRING, INT>, f ROW<x INT>, g BYTES, h DOUBLE, i DECIMAL(10, 2), n INT"
    frame = spark.sql(
        "SELECT 1 AS a, 'x, y' AS b, TIMESTAMP_NTZ'2024-01-01 00:00:00' AS c, array(1, 2) AS d, map('a', 1) AS e,"
        " named_struct('x', 1) AS f, X'00ff' AS g, 1e10D AS h, CAST(1.5 AS DECIMAL(10, 2)) AS i, INT(NULL) AS n"
    )

    write(printing(columns), frame)

    # Confirmed on Flink 2.3.
    assert capsys.readouterr().out == (
        "+I[1, x, y, 2024-01-01T00:00, [1, 2], {a=1}, +I[1], [0, -1], 1.0E10, 1.50, null]\n"
    )


def test_row_kinds_identifier_and_tasks_are_shown(spark, capsys):
    table = printing(
        "a INT", **{"print-identifier": "ID", "standard-error": "true", "sink.parallelism": "2"}
    )

    write(
        table,
        spark.sql("SELECT a, '-D' AS _tm_kind FROM VALUES 1, NULL AS t(a)").coalesce(1),
        changelog=Changelog.RETRACT,
    )

    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "ID:1> -D[1]\nID:2> -D[null]\n"


def test_the_identifier_alone_precedes_each_line(spark, capsys):
    write(printing("a INT", **{"print-identifier": "ID"}), spark.sql("SELECT 1 AS a"))

    assert capsys.readouterr().out == "ID> +I[1]\n"


def test_a_blackhole_computes_what_it_takes(spark):
    table = declared("CREATE TABLE t (a INT) WITH ('connector' = 'blackhole')")

    write(table, spark.sql("SELECT 1 AS a"))
    with pytest.raises(Exception, match="seen"):
        write(table, spark.sql("SELECT CAST(raise_error('seen') AS INT) AS a"))


def of_frame(columns, frame, *options):
    table = declared(f"CREATE TABLE t ({columns}) WITH ('connector' = 'print')")
    return replace(table, dataframe=frame, options=tuple(Option(*pair) for pair in options))


def test_a_dataframe_is_read_by_its_columns_names(spark):
    frame = spark.sql("SELECT 1 AS `a.b`, 'x' AS other, 2 AS c")

    assert rows(read(spark, of_frame("c INT, `a.b` INT", frame))) == [(2, 1)]


def test_a_dataframe_is_bounded_unless_it_streams(spark):
    still = of_frame("`value` BIGINT", spark.range(3).toDF("value"))
    moving = of_frame("`value` BIGINT", spark.readStream.format("rate").load())

    assert registry.traits(still).bounded
    assert not registry.traits(moving).bounded


def test_a_dataframe_with_row_kinds_is_a_changelog(spark):
    frame = spark.sql("SELECT 1 AS a, '-D' AS op")
    table = of_frame("a INT", frame, ("row-kind", "op"))

    assert registry.traits(table).changelog is Changelog.RETRACT
    assert rows(read(spark, table)) == [(1, "-D")]
    upserts = of_frame("a INT", frame, ("row-kind", "op"), ("changelog-mode", "upsert"))
    assert registry.traits(upserts).changelog is Changelog.UPSERT
