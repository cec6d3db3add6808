"""Tables of PostgreSQL as sources."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from itertools import chain
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl
import pytest

from servers.postgres import Postgres
from tests.connectors import tables
from tidemark.connectors import registry
from tidemark.connectors.jdbc.contract import NotUnderstood
from tidemark.connectors.jdbc.postgres.url import postgres as database_of
from tidemark.errors import DataError, NotSupported, OptionError, PlanError, SetupError
from tidemark.redaction import masked

UTC = ZoneInfo("UTC")

# Columns of PostgreSQL, their types in Flink SQL, a literal, and what is read.
VALUES: dict[str, tuple[str, str, str, Any]] = {
    "a": ("smallint", "SMALLINT", "-7", -7),
    "b": ("integer", "INT", "8", 8),
    "c": ("bigint", "BIGINT", "9223372036854775807", 2**63 - 1),
    "wider": ("smallint", "BIGINT", "5", 5),
    "d": ("real", "FLOAT", "1.5", 1.5),
    "d_double": ("real", "DOUBLE", "0.1", 0.10000000149011612),
    "d_doubles": ("real[]", "ARRAY<DOUBLE>", "'{0.1}'", [0.10000000149011612]),
    "e": ("double precision", "DOUBLE", "'NaN'", float("nan")),
    "f": ("numeric(10, 2)", "DECIMAL(10, 2)", "-12.30", Decimal("-12.30")),
    "f_free": ("numeric", "DECIMAL(38, 18)", "1.5", Decimal("1.500000000000000000")),
    "f_int": ("integer", "DECIMAL(12, 1)", "4", Decimal("4.0")),
    "g": ("boolean", "BOOLEAN", "true", True),
    "h": ("varchar(5)", "VARCHAR(5)", "'é''s'", "é's"),
    "i": ("char(4)", "CHAR(4)", "'x'", "x   "),
    "j": ("text", "STRING", "''", ""),
    "k": ("bytea", "BYTES", r"'\x00ff'", b"\x00\xff"),
    "l": ("date", "DATE", "'0001-01-01'", dt.date(1, 1, 1)),
    "m": ("time", "TIME(0)", "'10:20:30.9'", dt.time(10, 20, 30)),
    "n": ("timestamp", "TIMESTAMP(6)", "'1969-12-31 23:59:59.999999'",
          dt.datetime(1969, 12, 31, 23, 59, 59, 999_999)),
    "o": ("timestamptz", "TIMESTAMP_LTZ(3)", "'2024-01-01 00:00:00+02'",
          dt.datetime(2023, 12, 31, 22, tzinfo=UTC)),
    "p": ("integer[]", "ARRAY<INT>", "'{1,NULL}'", [1, None]),
    "q": ("numeric(4, 1)[]", "ARRAY<DECIMAL(4, 1)>", "'{1.5}'", [Decimal("1.5")]),
    "r": ("uuid", "STRING", "'00000000-0000-0000-0000-00000000000a'",
          "00000000-0000-0000-0000-00000000000a"),
    "s": ("jsonb", "STRING", """'{"a": 1}'""", '{"a": 1}'),
    "t": ("integer", "STRING", "12", "12"),
}  # fmt: skip


@pytest.fixture(scope="module")
def of_each_type(postgres: Postgres) -> str:
    columns = ", ".join(f"{name} {value[0]}" for name, value in VALUES.items())
    row = ", ".join(value[2] for value in VALUES.values())
    return postgres.table(columns, f"({row})", f"({', '.join(['NULL'] * len(VALUES))})")


def flink_columns() -> str:
    return ", ".join(f"`{name}` {value[1]}" for name, value in VALUES.items())


def table(postgres: Postgres, columns: str, name: str, **more: str) -> Any:
    return tables.declared(f"CREATE TABLE t ({columns}) {postgres.options(name, **more)}")


def test_values_of_each_type_are_read(postgres, of_each_type):
    found = tables.frame(table(postgres, flink_columns(), of_each_type))

    first, nulls = found.rows()
    expected = [value[3] for value in VALUES.values()]
    assert repr(first) == repr(tuple(expected))
    assert set(nulls) == {None}
    from tidemark.columns import polars_type

    declared = tables.columns_request(table(postgres, flink_columns(), of_each_type)).types
    assert found.dtypes == [polars_type(type_) for type_ in declared]


def test_spark_reads_the_same_values(spark, postgres, of_each_type):
    rows = tables.rows(tables.read(spark, table(postgres, flink_columns(), of_each_type)))

    expected = tuple(value[3] for value in VALUES.values())
    local = dt.datetime(2023, 12, 31, 22, tzinfo=UTC).astimezone().replace(tzinfo=None)
    shown = [local if isinstance(v, dt.datetime) and v.tzinfo else v for v in expected]
    [found] = [row for row in rows if row[0] is not None]
    assert [v for v in found if v == v] == [v for v in shown if v == v]


def test_only_the_columns_that_a_query_reads_are_asked_for(postgres):
    name = postgres.table("a int, b point", "(1, '(1,2)')")

    found = tables.frame(table(postgres, "a INT, b INT", name), read=frozenset({"a"}))
    counted = tables.frame(table(postgres, "a INT, b INT", name), read=frozenset())

    assert found.rows() == [(1, None)]
    assert counted.rows() == [(None, None)]


def test_decimals_with_too_many_digits_are_null_as_in_flink(postgres):
    name = postgres.table("d numeric", "(99.994)", "(99.995)", "(-0.005)", "(12345)")

    found = tables.frame(table(postgres, "d DECIMAL(4, 2)", name))

    assert found["d"].to_list() == [Decimal("99.99"), None, Decimal("-0.01"), None]


def test_names_are_found_with_and_without_their_case(postgres):
    postgres.run(
        "DROP SCHEMA IF EXISTS \"Sales\" CASCADE",
        "CREATE SCHEMA \"Sales\"",
        'CREATE TABLE "Sales"."Or""ders" ("Id" int, amount int)',
        'INSERT INTO "Sales"."Or""ders" VALUES (1, 2)',
    )  # fmt: skip

    found = tables.frame(table(postgres, "Id INT, AMOUNT INT", '"Sales"."Or""ders"'))

    assert found.rows() == [(1, 2)]


def test_a_table_is_read_in_ranges_without_gaps(postgres):
    name = postgres.table("n numeric(5, 1)", *(f"({n / 2})" for n in range(30)), "(NULL)")
    divided = {
        "scan__partition__column": "N",
        "scan__partition__num": "4",
        "scan__partition__lower_bound": "2",
        "scan__partition__upper_bound": "11",
    }
    declared = table(postgres, "N DECIMAL(5, 1)", name, **divided)
    parts = registry.lookup(declared).parts
    assert parts is not None

    tasks = parts(tables.columns_request(declared))
    assert tasks is not None
    shares = [
        pl.concat(found)["N"].cast(pl.Float64).to_list() if found else []
        for found in ([*_read(declared, parts=task)] for task in tasks)
    ]

    assert shares == [
        [2, 2.5, 3, 3.5],
        [4, 4.5, 5, 5.5, 6, 6.5],
        [7, 7.5, 8, 8.5],
        [9, 9.5, 10, 10.5, 11],
    ]
    assert (
        sorted(chain.from_iterable(shares))
        == tables.frame(declared)["N"].cast(pl.Float64).to_list()
    )


def _read(declared: Any, **changes: Any) -> Any:
    read_columns = registry.lookup(declared).read_columns
    assert read_columns is not None
    return read_columns(tables.columns_request(declared, **changes))()


@pytest.mark.parametrize(
    ("value", "reason"), [("'NaN'", "not DECIMAL"), ("'-Infinity'", "not DECIMAL")]
)
def test_what_is_not_a_number_is_an_error(postgres, value, reason):
    name = postgres.table("d numeric", f"({value})")

    with pytest.raises(DataError, match=f"column `d` of {name} has a value that is {reason}"):
        tables.frame(table(postgres, "d DECIMAL(4, 2)", name))


@pytest.mark.parametrize(
    ("type_", "wanted", "value", "what"),
    [
        ("timestamp", "TIMESTAMP(3)", "'infinity'", "a time"),
        ("timestamp[]", "ARRAY<TIMESTAMP(3)>", "'{-infinity}'", "a time"),
        ("date", "DATE", "'infinity'", "a date"),
        ("date", "DATE", "'10000-01-01'", "a date"),
        ("date[]", "ARRAY<DATE>", "'{NULL,2024-01-01,-infinity}'", "a date"),
    ],
)
def test_a_year_that_only_postgresql_has_is_an_error(postgres, type_, wanted, value, what):
    name = postgres.table(f"v {type_}", f"({value})", "(NULL)")

    with pytest.raises(DataError, match=f"{what} that is not in the years 1 to 9999"):
        tables.frame(table(postgres, f"v {wanted}", name))


@pytest.mark.parametrize(
    ("type_", "wanted", "value"),
    [
        ("time", "TIME(0)", "'24:00:00'"),
        ("time", "TIME(6)", "'24:00:00'"),
        ("time[]", "ARRAY<TIME(0)>", "'{NULL,10:00:00,24:00:00}'"),
    ],
)
def test_the_end_of_a_day_is_no_time(postgres, type_, wanted, value):
    name = postgres.table(f"v {type_}", f"({value})", "(NULL)")

    with pytest.raises(DataError, match="has the time 24:00:00"):
        tables.frame(table(postgres, f"v {wanted}", name))


def test_a_type_that_does_not_fit_is_an_error(postgres):
    name = postgres.table("id bigint, at timestamp")

    with pytest.raises(
        DataError, match=f"column `id` of {name} is bigint, which cannot be read as INT"
    ):
        tables.frame(table(postgres, "id INT", name))
    with pytest.raises(DataError, match="which cannot be read as TIMESTAMP"):
        tables.frame(table(postgres, "`at` TIMESTAMP_LTZ(3)", name))


def test_what_the_database_does_not_have_is_named(postgres):
    name = postgres.table("amount int")

    with pytest.raises(DataError, match="table nothing does not exist"):
        tables.frame(table(postgres, "a INT", "nothing"))
    with pytest.raises(DataError, match="did you mean `amount`"):
        tables.frame(table(postgres, "amont INT", name))


def test_names_are_never_part_of_the_sql(postgres):
    with pytest.raises(DataError, match="does not exist"):
        tables.frame(table(postgres, "a INT", "pg_class; DROP TABLE x"))


def test_who_cannot_log_in_is_told_so_without_the_password(postgres):
    declared = table(postgres, "a INT", "t", password="wrong-secret")

    with pytest.raises(SetupError, match="cannot connect to postgresql") as caught:
        tables.frame(declared)

    assert "password authentication failed" in str(caught.value)
    assert "wrong-secret" not in str(caught.value)
    shown = registry.shown_options(declared)
    assert "wrong-secret" not in str(shown)


# --- without a server --------------------------------------------------------------------------


def declared(columns: str = "a INT", **options: str) -> Any:
    given = {"url": "jdbc:postgresql://h/d", "table-name": "t"} | tables.spelled(options)
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    return tables.declared(f"CREATE TABLE t ({columns}) WITH ('connector' = 'jdbc', {listed})")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"url": "postgresql://h/d"}, "'url' is not a JDBC URL"),
        ({"url": "jdbc:pgsql://h/d"}, "unknown database system 'pgsql'"),
        ({"url": "jdbc:postgresql://h:x/d"}, "expected jdbc:postgresql://host:port/database"),
        ({"url": "jdbc:postgresql://h/d?color=red"}, "the setting 'color' of the URL is not known"),
        ({"username": "u"}, "must be given together"),
        ({"scan__partition__num": "2"}, "'scan.partition.num' also needs scan.partition.column"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        registry.options_of(declared(**options))


def test_only_columns_of_numbers_divide_a_table():
    ranges = {
        "scan__partition__num": "2",
        "scan__partition__lower_bound": "1",
        "scan__partition__upper_bound": "5",
    }
    with pytest.raises(PlanError, match="must be a column of numbers; `a` is STRING"):
        registry.options_of(declared("a STRING", scan__partition__column="a", **ranges))
    with pytest.raises(OptionError, match="column `b` does not exist"):
        registry.options_of(declared("a INT", scan__partition__column="b", **ranges))


def test_other_systems_and_types_are_refused_by_name():
    with pytest.raises(NotSupported, match="connector 'jdbc' with oracle is not supported yet"):
        registry.options_of(declared(url="jdbc:oracle:thin:@h"))
    with pytest.raises(NotSupported, match="a column of type MAP<STRING, INT> in connector 'jdbc'"):
        registry.options_of(declared("m MAP<STRING, INT>"))


@pytest.mark.parametrize(
    ("url", "uri"),
    [
        ("jdbc:postgresql:shop", "host=localhost&port=5432&dbname=shop&connect_timeout=60"),
        ("jdbc:postgresql://a,b:6000/x%20y", "host=a%2Cb&port=5432%2C6000&dbname=x%20y&connect_timeout=60"),
        ("jdbc:postgresql://[::1]:7/", "host=%3A%3A1&port=7&connect_timeout=60"),
        (
            "jdbc:postgresql://h/d?ssl=true&currentSchema=a,b&reWriteBatchedInserts=true",
            "host=h&port=5432&dbname=d&connect_timeout=60&sslmode=verify-full&options=-csearch_path%3Da%2Cb",
        ),
    ],
)  # fmt: skip
def test_urls_are_those_of_the_java_driver(url, uri):
    assert database_of(url, {"user": None}, 60).uri == f"postgresql://?{uri}"


def test_a_database_is_shown_without_its_password():
    found = database_of("jdbc:postgresql://h/d?password=hidden", {"user": "me", "password": "s"}, 1)

    assert found.settings["password"] == "s"
    assert "hidden" not in repr(found) and "password" not in repr(found)
    with pytest.raises(NotUnderstood):
        database_of("jdbc:postgresql://h/d?x=y", {}, 1)
    assert replace(found) == found


def test_a_password_in_a_url_is_not_shown():
    table = declared(url="jdbc:postgresql://h/d?user=u&password=hid%20den&ssl=true", driver="5")
    expected = "jdbc:postgresql://h/d?user=u&password=******&ssl=true"

    assert {o.key: o.value for o in registry.shown_options(table)}["url"] == expected
    assert masked("'url' = 'j?password=abc'") == "'url' = 'j?password=***'"
