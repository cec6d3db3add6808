"""Tables of SQLite: what is its own."""

from __future__ import annotations

import datetime as dt
import sqlite3
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl
import pytest

from tests.connectors import tables
from tests.connectors.jdbc_sinks import queried, run_locally
from tests.connectors.sqlite_file import SqliteFile
from tidemark.connectors import registry
from tidemark.errors import DataError, JobError, NotSupported, OptionError, SetupError

UTC = ZoneInfo("UTC")

# Columns of SQLite, their types in Flink SQL, a literal of SQLite, what is read, and the string of
# SQLite's that is written for it.
VALUES: dict[str, tuple[str, str, str, Any, str]] = {
    "a": ("BOOLEAN", "BOOLEAN", "1", True, "1"),
    "b": ("TINYINT", "TINYINT", "-7", -7, "-7"),
    "c": ("INT", "INT", "8", 8, "8"),
    "d": ("INTEGER", "BIGINT", "9223372036854775807", 2**63 - 1, "9223372036854775807"),
    "e": ("REAL", "FLOAT", "1.5", 1.5, "1.5"),
    "f": ("DOUBLE", "DOUBLE", "2", 2.0, "2.0"),
    "g": ("DECIMAL(5, 2)", "DECIMAL(5, 2)", "'-12.30'", Decimal("-12.30"), "-12.3"),
    "h": ("TEXT", "DECIMAL(38, 18)", "'1234567890123456789.5'",
          Decimal("1234567890123456789.500000000000000000"),
          "1234567890123456789.500000000000000000"),
    "i": ("TEXT", "STRING", "'é''s'", "é's", "é's"),
    "j": ("VARCHAR(5)", "VARCHAR(5)", "''", "", ""),
    "k": ("BLOB", "BYTES", "x'00ff'", b"\x00\xff", "00FF"),
    "l": ("DATE", "DATE", "'0001-01-01'", dt.date(1, 1, 1), "0001-01-01"),
    "m": ("TIME", "TIME(0)", "'10:20:30.9'", dt.time(10, 20, 30), "10:20:30"),
    "n": ("TIMESTAMP", "TIMESTAMP(6)", "'1969-12-31 23:59:59.999999'",
          dt.datetime(1969, 12, 31, 23, 59, 59, 999_999), "1969-12-31 23:59:59.999999"),
    "o": ("DATETIME", "TIMESTAMP(3)", "'2024-05-01T09:00'", dt.datetime(2024, 5, 1, 9),
          "2024-05-01 09:00:00"),
    "p": ("TEXT", "TIMESTAMP_LTZ(3)", "'2024-01-01 00:00:00.5+02:00'",
          dt.datetime(2023, 12, 31, 22, 0, 0, 500_000, tzinfo=UTC), "2023-12-31 22:00:00.5"),
    "q": ("", "INT", "3", 3, "3"),
}  # fmt: skip


@pytest.fixture
def sqlite(tmp_path: Path) -> SqliteFile:
    return SqliteFile.new(tmp_path)


def table(sqlite: SqliteFile, columns: str, name: str, **more: str) -> Any:
    return tables.declared(f"CREATE TABLE t ({columns}) {sqlite.options(name, **more)}")


def of_each_type(sqlite: SqliteFile) -> tuple[str, str]:
    name = sqlite.table(", ".join(f"{name} {value[0]}" for name, value in VALUES.items()))
    return name, ", ".join(f"{name} {value[1]}" for name, value in VALUES.items())


def filled(sqlite: SqliteFile) -> tuple[str, str]:
    name, columns = of_each_type(sqlite)
    row, nulls = ", ".join(v[2] for v in VALUES.values()), ", ".join(["NULL"] * len(VALUES))
    sqlite.run(f"INSERT INTO {name} VALUES ({row}), ({nulls})")
    return name, columns


# --- reading -----------------------------------------------------------------------------------


def test_values_of_each_type_are_read(sqlite):
    from tidemark.columns import polars_type

    name, columns = filled(sqlite)
    declared = table(sqlite, columns, name)

    found = tables.frame(declared)

    first, nulls = found.rows()
    assert repr(first) == repr(tuple(value[3] for value in VALUES.values()))
    assert set(nulls) == {None}
    assert found.dtypes == [polars_type(t) for t in tables.columns_request(declared).types]


def test_only_the_columns_that_a_query_reads_are_tested(sqlite):
    name = sqlite.table("a, b", "(1, 'no number')")

    found = tables.frame(table(sqlite, "A INT, b INT", name), read=frozenset({"A"}))
    counted = tables.frame(table(sqlite, "a INT, b INT", name), read=frozenset())

    assert found.rows() == [(1, None)]
    assert counted.rows() == [(None, None)]


def test_zones_of_times(sqlite):
    times = ["2024-01-01 01:00:00", "2024-01-01T01:00Z", "2024-01-01 01:00:00-01:30"]
    name = sqlite.table("t TEXT", *(f"('{time}')" for time in times))

    found = tables.frame(table(sqlite, "t TIMESTAMP_LTZ(3)", name))

    one, later = dt.datetime(2024, 1, 1, 1, tzinfo=UTC), dt.datetime(2024, 1, 1, 2, 30, tzinfo=UTC)
    assert found["t"].to_list() == [one, one, later]


def test_decimals_are_rounded_and_null_if_too_large_as_in_flink(sqlite):
    name = sqlite.table("d", "(99.994)", "('99.995')", "(-0.005)", "(12345)", "(7)", "(1e1)")

    found = tables.frame(table(sqlite, "d DECIMAL(4, 2)", name))

    expected = [Decimal("99.99"), None, Decimal("-0.01"), None, Decimal(7), Decimal(10)]
    assert found["d"].to_list() == expected


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        ("'x'", "INT"), ("1.5", "INT"), ("300", "TINYINT"), ("2", "BOOLEAN"), ("'x'", "DOUBLE"),
        ("'x'", "DECIMAL(4, 2)"), ("x'00'", "STRING"), ("'x'", "BYTES"), ("'2024-02-30'", "DATE"),
        ("1714554000000", "TIMESTAMP(3)"), ("'2024-01-01 01:00:00Z'", "TIMESTAMP(3)"),
        ("'10:70:00'", "TIME(0)"),
    ],
)  # fmt: skip
def test_a_value_of_another_type_is_an_error(sqlite, value, type_):
    name = sqlite.table("v", f"({value})")

    with pytest.raises(DataError) as caught:
        tables.frame(table(sqlite, f"v {type_}", name))

    assert f"column `v` of {name} has a value that is not {type_.split('(')[0]}" in str(
        caught.value
    )


def test_a_table_is_read_in_ranges_without_gaps(sqlite):
    name = sqlite.table("n TEXT", *(f"('{n / 2}')" for n in range(20)), "(NULL)")
    bounds = {"lower_bound": "2", "upper_bound": "6", "num": "2", "column": "n"}
    divided = {f"scan__partition__{key}": value for key, value in bounds.items()}
    declared = table(sqlite, "n DECIMAL(5, 1)", name, **divided)
    connector = registry.lookup(declared)
    assert connector.parts is not None and connector.read_columns is not None

    tasks = connector.parts(tables.columns_request(declared)) or ()
    shares = [
        pl.concat(connector.read_columns(tables.columns_request(declared, parts=task))())
        for task in tasks
    ]

    assert [[float(v) for v in share["n"]] for share in shares] == [
        [2, 2.5, 3, 3.5],
        [4, 4.5, 5, 5.5, 6],
    ]


def test_names_are_found_in_any_case(sqlite):
    sqlite.run(
        'CREATE TABLE "Or""ders" ("Id" INT, amount INT)', 'INSERT INTO "Or""ders" VALUES (1, 2)'
    )

    for name in ('"or""ders"', 'main."Or""ders"'):
        assert tables.frame(table(sqlite, "ID INT, Amount INT", name)).rows() == [(1, 2)]


def test_a_name_with_a_period_has_to_be_quoted(sqlite):
    sqlite.run('CREATE TABLE "we.ird" (a INT)', 'INSERT INTO "we.ird" VALUES (1)')

    assert tables.frame(table(sqlite, "a INT", '"we.ird"')).rows() == [(1,)]
    with pytest.raises(DataError) as failure:
        tables.frame(table(sqlite, "a INT", "We.ird"))
    assert failure.value.hint == 'write "we.ird": what precedes a period is a schema'


def test_names_are_never_part_of_the_sql(sqlite):
    name = sqlite.table("a INT")

    with pytest.raises(DataError, match="does not exist"):
        tables.frame(table(sqlite, "a INT", f"{name}; DROP TABLE {name}"))
    with pytest.raises(DataError, match="did you mean `a`"):
        tables.frame(table(sqlite, "aa INT", name))


# --- lookups -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stored", "type_", "value"),
    [
        ("INT", "INT", "1"), ("DECIMAL(5, 2)", "DECIMAL(5, 2)", "1.50"),
        ("TEXT", "DECIMAL(5, 2)", "1.50"), ("TEXT", "STRING", "'it''s'"), ("INT", "STRING", "'7'"),
        ("DATE", "DATE", "DATE '2024-01-02'"), ("BOOLEAN", "BOOLEAN", "TRUE"),
        ("TIMESTAMP", "TIMESTAMP(6)", "TIMESTAMP '2024-01-02 00:00:00.5'"),
        ("TIME", "TIME(0)", "TIME '10:20:00'"),
    ],
)  # fmt: skip
def test_rows_are_found_by_keys_of_each_type(sqlite, stored, type_, value):
    written = value.split(" ", 1)[1] if value[:4] in ("DATE", "TIME") else value
    name = sqlite.table(f"k {stored}, v INT", f"({written}, 7)", "(NULL, 8)")

    found = queried(
        f"""
        CREATE TABLE dim (k {type_}, v INT) {sqlite.options(name)};
        SELECT d.v FROM (SELECT CAST(x AS {type_}) AS k, PROCTIME() AS p
          FROM (VALUES ({value}), (CAST(NULL AS {type_}))) AS t (x)) AS o
        LEFT JOIN dim FOR SYSTEM_TIME AS OF o.p AS d ON o.k = d.k;
        """
    )

    assert found == [{"v": 7}, {"v": None}]


# --- writing -----------------------------------------------------------------------------------


def test_values_of_each_type_are_written_as_they_were_read(sqlite):
    source, columns = filled(sqlite)
    target, _ = of_each_type(sqlite)
    run_locally(
        f"CREATE TABLE s ({columns}) {sqlite.options(source)};"
        f"CREATE TABLE t ({columns}) {sqlite.options(target)};"
        "INSERT INTO t SELECT * FROM s;"
    )

    shown = ", ".join(
        f"hex({name})" if value[0] == "BLOB" else f"CAST({name} AS TEXT)"
        for name, value in VALUES.items()
    )
    [written] = sqlite.rows(f"SELECT {shown} FROM {target} WHERE a IS NOT NULL")
    assert written == tuple(value[4] for value in VALUES.values())
    assert tables.frame(table(sqlite, columns, target)).equals(
        tables.frame(table(sqlite, columns, source))
    )


@pytest.mark.parametrize(
    ("columns", "declared", "message"),
    [
        ("k TEXT", "k INT", "is TEXT, in which INT cannot be written"),
        ("k STRING", "k STRING", "is STRING, in which STRING cannot be written"),
        ("k NUMERIC", "k DECIMAL(16, 2)", "in which DECIMAL(16, 2) cannot be written"),
        ("k TEXT", "k STRING PRIMARY KEY NOT ENFORCED", "ON CONFLICT clause does not match"),
        ("k INT CHECK (k < 5)", "k INT", "CHECK constraint failed"),
        ("k INT", "k INT, gone INT", "column `gone` of"),
    ],
)  # fmt: skip
def test_what_does_not_fit_the_database_is_an_error(sqlite, columns, declared, message):
    name = sqlite.table(columns)
    nulls = ", NULL" * (declared.count(", gone"))
    type_ = declared.split(" ", 1)[1].split(" PRIMARY")[0].split(", gone")[0]

    with pytest.raises((DataError, JobError)) as caught:
        run_locally(
            f"CREATE TABLE t ({declared}) {sqlite.options(name)};"
            f"INSERT INTO t SELECT CAST(7 AS {type_}){nulls};"
        )

    assert message in str(caught.value)
    assert (sqlite.rows(f"SELECT * FROM {name}"), sqlite.staging()) == ([], [])


def test_a_table_that_others_write_to_is_waited_for(sqlite):
    name = sqlite.table("k INT")
    script = f"CREATE TABLE t (k INT) {sqlite.options(name, connection__max_retry_timeout='1 ms', sink__max_retries='0')};"

    with sqlite3.connect(sqlite.path) as other:
        other.execute(f"INSERT INTO {name} VALUES (1)")
        with pytest.raises(JobError, match="database is locked"):
            run_locally(script + "INSERT INTO t SELECT 2;")
    other.close()

    assert (sqlite.rows(f"SELECT * FROM {name}"), sqlite.staging()) == ([(1,)], [])


# --- options -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("jdbc:sqlite:", "expected jdbc:sqlite:path"),
        ("jdbc:sqlite::memory:", "expected jdbc:sqlite:path"),
        ("jdbc:sqlite:a.db?x=1", "settings in the URL are not known"),
    ],
)
def test_urls_that_are_not_of_files_are_refused(url, message):
    with pytest.raises(OptionError, match=message):
        registry.options_of(declared(url))


def test_sqlite_has_no_users():
    with pytest.raises(OptionError, match="SQLite has no users and passwords"):
        registry.options_of(declared("jdbc:sqlite:a.db", username="me", password="secret"))


def test_sqlite_has_no_arrays():
    with pytest.raises(NotSupported, match="a column of type ARRAY<INT>"):
        registry.options_of(declared("jdbc:sqlite:a.db", "a ARRAY<INT>"))


def declared(url: str, columns: str = "a INT", **more: str) -> Any:
    options = {"connector": "jdbc", "url": url, "table-name": "t", **more}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    return tables.declared(f"CREATE TABLE t ({columns}) WITH ({listed})")


def test_a_file_that_is_not_there_is_not_made(tmp_path):
    here = SqliteFile(tmp_path / "none.db")

    with pytest.raises(SetupError, match=r"none\.db does not exist"):
        tables.frame(table(here, "a INT", "t"))

    assert not here.path.exists()


def test_a_file_of_something_else_is_an_error(tmp_path):
    here = SqliteFile(tmp_path / "text.db")
    here.path.write_text("something else " * 100)

    with pytest.raises(SetupError, match="file is not a database"):
        tables.frame(table(here, "a INT", "t"))
