"""Tables of MySQL: what is its own, on a MariaDB server."""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from servers.mysql import PASSWORD, MySql
from tests.connectors import tables
from tests.connectors.jdbc_sinks import queried, run_locally
from tests.searching import searched
from tidemark import types as t
from tidemark.connectors import registry
from tidemark.connectors.jdbc import contract
from tidemark.connectors.jdbc.mysql.connections import string
from tidemark.connectors.jdbc.mysql.types import literals
from tidemark.connectors.jdbc.mysql.url import database as database_of
from tidemark.errors import DataError, JobError, NotSupported, OptionError, SetupError

UTC = ZoneInfo("UTC")

CACHED = {"lookup__cache": "PARTIAL", "lookup__partial_cache__max_rows": "100"}

# Columns of MySQL, their types in Flink SQL, a literal, and what is read.
VALUES: dict[str, tuple[str, str, str, Any]] = {
    "a": ("TINYINT(1)", "BOOLEAN", "TRUE", True),
    "a2": ("BIT(1)", "BOOLEAN", "b'1'", True),
    "b": ("TINYINT", "TINYINT", "-7", -7),
    "b2": ("TINYINT UNSIGNED", "SMALLINT", "255", 255),
    "c": ("SMALLINT UNSIGNED", "INT", "65535", 65535),
    "d": ("MEDIUMINT", "INT", "-8388608", -8388608),
    "e": ("INT UNSIGNED", "BIGINT", "4294967295", 2**32 - 1),
    "f": ("BIGINT", "BIGINT", "-9223372036854775808", -(2**63)),
    "g": ("BIGINT UNSIGNED", "DECIMAL(20, 0)", "18446744073709551615", Decimal(2**64 - 1)),
    "h": ("FLOAT", "FLOAT", "16777217.5", 16777218.0),
    "h2": ("FLOAT", "FLOAT", "0.1", 0.10000000149011612),
    "i": ("DOUBLE", "DOUBLE", "0.30000000000000004", 0.1 + 0.2),
    "j": ("DECIMAL(10, 2)", "DECIMAL(10, 2)", "-12.30", Decimal("-12.30")),
    "j2": ("NUMERIC(38, 18)", "DECIMAL(38, 18)", "1.5", Decimal("1.500000000000000000")),
    "k": ("DATE", "DATE", "'2024-02-29'", dt.date(2024, 2, 29)),
    "l": ("TIME(3)", "TIME(0)", "'10:20:30.9'", dt.time(10, 20, 30)),
    "m": ("DATETIME(6)", "TIMESTAMP(6)", "'1969-12-31 23:59:59.999999'",
          dt.datetime(1969, 12, 31, 23, 59, 59, 999_999)),
    "n": ("TIMESTAMP(3) NULL", "TIMESTAMP_LTZ(3)", "'2024-01-01 22:00:00.5'",
          dt.datetime(2024, 1, 1, 22, 0, 0, 500_000, tzinfo=UTC)),
    "o": ("CHAR(5)", "STRING", "'x '", "x"),
    "p": ("VARCHAR(9)", "VARCHAR(9)", "'é''s\\\\'", "é's\\"),
    "q": ("TEXT", "STRING", "''", ""),
    "q2": ("VARCHAR(5) CHARACTER SET latin1", "STRING", "'é'", "é"),
    "r": ("VARBINARY(4)", "BYTES", "x'00ff27'", b"\x00\xff'"),
    "s": ("BLOB", "BYTES", "''", b""),
    "t": ("JSON", "STRING", """'{"a": 1}'""", '{"a": 1}'),
    "u": ("ENUM('on', 'off')", "STRING", "'off'", "off"),
    "v": ("INT", "STRING", "12", "12"),
}  # fmt: skip


def table(mysql: MySql, columns: str, name: str, **more: str) -> Any:
    return tables.declared(f"CREATE TABLE t ({columns}) {mysql.options(name, **more)}")


def of_each_type(mysql: MySql) -> tuple[str, str]:
    name = mysql.table(", ".join(f"{name} {value[0]}" for name, value in VALUES.items()))
    return name, ", ".join(f"{name} {value[1]}" for name, value in VALUES.items())


@pytest.fixture(scope="module")
def filled(mysql: MySql) -> tuple[str, str]:
    name, columns = of_each_type(mysql)
    row, nulls = ", ".join(v[2] for v in VALUES.values()), ", ".join(["NULL"] * len(VALUES))
    mysql.run(f"INSERT INTO {name} VALUES ({row}), ({nulls})")
    return name, columns


# --- reading -----------------------------------------------------------------------------------


def test_values_of_each_type_are_read(mysql, filled):
    from tidemark.columns import polars_type

    declared = table(mysql, filled[1], filled[0])

    found = tables.frame(declared)

    first, nulls = found.rows()
    expected = tuple(value[3] for value in VALUES.values())
    assert repr(first) == repr(expected)
    assert set(nulls) == {None}
    assert found.dtypes == [polars_type(type_) for type_ in tables.columns_request(declared).types]


def test_only_the_columns_that_a_query_reads_are_asked_for(mysql):
    name = mysql.table("a INT, b POINT", "(1, POINT(1, 2))")

    found = tables.frame(table(mysql, "A INT, b INT", name), read=frozenset({"A"}))
    counted = tables.frame(table(mysql, "a INT, b INT", name), read=frozenset())

    assert found.rows() == [(1, None)]
    assert counted.rows() == [(None, None)]


def test_decimals_are_rounded_and_null_if_too_large_as_in_flink(mysql):
    name = mysql.table("d DECIMAL(10, 3)", "(99.994)", "(99.995)", "(-0.005)", "(12345)")

    found = tables.frame(table(mysql, "d DECIMAL(4, 2)", name))

    assert found["d"].to_list() == [Decimal("99.99"), None, Decimal("-0.01"), None]


@pytest.mark.parametrize(
    ("stored", "type_", "message"),
    [
        ("BIGINT", "INT", r"is bigint(\(20\))?, which cannot be read as INT"),
        ("INT UNSIGNED", "INT", r"is int(\(10\))? unsigned, which cannot be read as INT"),
        ("TINYINT", "BOOLEAN", r"is tinyint(\(4\))?, which cannot be read as BOOLEAN"),
        ("DATETIME", "TIMESTAMP_LTZ(3)", r"which cannot be read as TIMESTAMP_LTZ\(3\)"),
        ("BLOB", "STRING", "which cannot be read as STRING"),
    ],
)
def test_a_type_that_does_not_fit_is_an_error(mysql, stored, type_, message):
    name = mysql.table(f"v {stored}")

    with pytest.raises(DataError, match=message):
        tables.frame(table(mysql, f"v {type_}", name))


@pytest.mark.parametrize(
    ("stored", "type_", "value"),
    [("DATE", "DATE", "'2023-02-30'"), ("TIME", "TIME(0)", "'25:00:00'")],
)
def test_a_value_that_only_mysql_has_is_an_error(mysql, stored, type_, value):
    mysql.run("SET sql_mode = 'ALLOW_INVALID_DATES'")
    name = mysql.table(f"v {stored}", f"({value})")
    mysql.run("SET sql_mode = DEFAULT")

    with pytest.raises(DataError, match=f"column `v` of {name} has a value that is not"):
        tables.frame(table(mysql, f"v {type_}", name))


@pytest.mark.parametrize(
    ("stored", "type_"),
    [("DATE", "DATE"), ("DATETIME", "TIMESTAMP(3)"), ("TIMESTAMP NULL", "TIMESTAMP_LTZ(3)")],
)
def test_zero_dates_are_errors_unless_the_url_asks_for_null(mysql, stored, type_):
    mysql.run("SET sql_mode = ''")
    name = mysql.table(f"v {stored}", "(0)")
    mysql.run("SET sql_mode = DEFAULT")

    with pytest.raises(DataError, match="a date such as 0000-00-00") as caught:
        tables.frame(table(mysql, f"v {type_}", name))
    assert "zeroDateTimeBehavior=CONVERT_TO_NULL" in caught.value.notes["why"]
    for behavior in ("CONVERT_TO_NULL", "convertToNull"):
        url = f"{mysql.url}?zeroDateTimeBehavior={behavior}"
        assert tables.frame(table(mysql, f"v {type_}", name, url=url)).rows() == [(None,)]


def test_a_table_is_read_in_ranges_without_gaps(mysql):
    name = mysql.table("n DECIMAL(5, 1)", *(f"({n / 2})" for n in range(20)), "(NULL)")
    bounds = {"lower_bound": "2", "upper_bound": "6", "num": "2", "column": "n"}
    divided = {f"scan__partition__{key}": value for key, value in bounds.items()}
    declared = table(mysql, "n DECIMAL(5, 1)", name, **divided)
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


def test_who_stops_reading_does_not_read_the_rest(mysql, monkeypatch):
    from tidemark.connectors.jdbc.mysql import dialect

    monkeypatch.setattr(dialect, "_ROWS", 10)
    name = mysql.table("n INT", *(f"({n})" for n in range(100_000)))
    declared = table(mysql, "n INT", name)
    read_columns = registry.lookup(declared).read_columns
    assert read_columns is not None
    frames = read_columns(tables.columns_request(declared))()

    assert next(frames).height == 10  # type: ignore[call-overload]
    frames.close()  # type: ignore[attr-defined]

    assert tables.frame(declared).height == 100_000


def test_names_with_quotes_and_of_other_databases(mysql):
    mysql.run(
        "DROP DATABASE IF EXISTS `my sales`",
        "CREATE DATABASE `my sales`",
        "CREATE TABLE `my sales`.`Or``ders` (`I``d` INT PRIMARY KEY, amount INT)",
        "INSERT INTO `my sales`.`Or``ders` VALUES (1, 2)",
    )
    declared = f"CREATE TABLE t (`I``d` INT, AMOUNT INT, PRIMARY KEY (`I``d`) NOT ENFORCED) {mysql.options('`my sales`.`Or``ders`')};"

    run_locally(declared + "INSERT INTO t VALUES (1, 3), (2, 4);")

    assert queried(declared + "SELECT * FROM t;") == [
        {"I`d": 1, "AMOUNT": 3},
        {"I`d": 2, "AMOUNT": 4},
    ]


def test_names_are_never_part_of_the_sql(mysql):
    name = mysql.table("a INT")

    with pytest.raises(DataError, match="does not exist"):
        tables.frame(table(mysql, "a INT", f"{name}; DROP TABLE {name}"))
    with pytest.raises(DataError, match="did you mean `a`"):
        tables.frame(table(mysql, "aa INT", name))


STRINGS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@given(st.lists(STRINGS, min_size=1, max_size=5))
@searched(20)
def test_strings_are_values_whatever_is_in_them(mysql, values):
    frame = pl.DataFrame({"v": values})
    written = frame.select(literals(pl.col("v"), t.STRING)).to_series().to_list()

    [row] = mysql.rows(f"SELECT {', '.join(written)}")

    assert [*row] == values
    assert mysql.rows(f"SELECT {string(values[0])}") == [(values[0],)]


# --- lookups -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stored", "type_", "value"),
    [
        ("INT", "INT", "1"), ("DECIMAL(5, 2)", "DECIMAL(5, 2)", "1.50"),
        ("VARCHAR(9)", "STRING", "'it''s'"), ("DATE", "DATE", "DATE '2024-01-02'"),
        ("BIT(1)", "BOOLEAN", "TRUE"), ("FLOAT", "FLOAT", "0.1"), ("INT", "STRING", "'7'"),
        ("DATETIME(1)", "TIMESTAMP(6)", "TIMESTAMP '2024-01-02 00:00:00.5'"),
        ("VARBINARY(4)", "BYTES", "x'00ff'"),
    ],
)  # fmt: skip
def test_rows_are_found_by_keys_of_each_type(mysql, stored, type_, value):
    name = mysql.table(f"k {stored}, v INT", f"({value}, 7)", "(NULL, 8)")

    found = queried(
        f"""
        CREATE TABLE dim (k {type_}, v INT) {mysql.options(name)};
        SELECT d.v FROM (SELECT CAST(x AS {type_}) AS k, PROCTIME() AS p
          FROM (VALUES ({value}), (CAST(NULL AS {type_}))) AS t (x)) AS o
        LEFT JOIN dim FOR SYSTEM_TIME AS OF o.p AS d ON o.k = d.k;
        """
    )

    assert found == [{"v": 7}, {"v": None}]


def test_strings_of_keys_are_equal_only_if_they_are_the_same(mysql):
    # MySQL also finds what differs by case or by spaces at the end.
    name = mysql.table(
        "a VARCHAR(9), b INT, v INT", "('ann', 1, 1)", "('ANN', 1, 2)", "('ann', 2, 3)"
    )

    found = queried(
        f"""
        CREATE TABLE dim (a STRING, b INT, v INT) {mysql.options(name, **CACHED)};
        SELECT d.v FROM (SELECT a, b, PROCTIME() AS p
          FROM (VALUES ('ann', 1), ('ann ', 1)) AS t (a, b)) AS o
        JOIN dim FOR SYSTEM_TIME AS OF o.p AS d ON o.a = d.a AND o.b = d.b;
        """
    )

    assert found == [{"v": 1}]


# --- writing -----------------------------------------------------------------------------------


def test_values_of_each_type_are_written_as_they_were_read(mysql, filled):
    source, columns = filled
    target, _ = of_each_type(mysql)

    run_locally(
        f"CREATE TABLE s ({columns}) {mysql.options(source)};"
        f"CREATE TABLE t ({columns}) {mysql.options(target)};"
        "INSERT INTO t SELECT * FROM s;"
    )

    # TIME(0) had fewer digits than the column in the database.
    assert mysql.rows(f"SELECT * FROM {target} WHERE l <> '10:20:30'") == []
    shown = ", ".join(name for name in VALUES if name != "l")
    assert mysql.rows(f"SELECT {shown} FROM {target}") == mysql.rows(
        f"SELECT {shown} FROM {source}"
    )


def test_rows_are_sent_in_several_statements(mysql, monkeypatch):
    from tidemark.connectors.jdbc.mysql import staging

    monkeypatch.setattr(staging, "_STATEMENT_BYTES", 50)
    name = mysql.table("k INT PRIMARY KEY, v TEXT")
    values = ", ".join(f"({n}, '{n * 'x'}')" for n in range(100))

    run_locally(
        f"CREATE TABLE t (k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED) {mysql.options(name)};"
        f"INSERT INTO t VALUES {values};"
    )

    assert mysql.rows(f"SELECT COUNT(*), SUM(LENGTH(v)) FROM {name}") == [(100, Decimal(4950))]


def test_a_key_of_strings_is_compared_as_in_the_database(mysql):
    name = mysql.table("k VARCHAR(9) PRIMARY KEY, v INT", "('ann', 1)", "('bob', 2)")

    run_locally(
        f"CREATE TABLE t (k STRING, v INT, PRIMARY KEY (k) NOT ENFORCED) {mysql.options(name)};"
        "INSERT INTO t VALUES ('ANN', 3);"
    )

    assert mysql.rows(f"SELECT k, v FROM {name} ORDER BY k") == [("ann", 3), ("bob", 2)]


@pytest.mark.parametrize(
    ("columns", "declared", "message"),
    [
        ("k SMALLINT", "k INT", "Out of range value for column 'k'"),
        ("k SMALLINT PRIMARY KEY", "k INT PRIMARY KEY NOT ENFORCED", "Out of range value for column 'k'"),
        ("k INT", "k INT PRIMARY KEY NOT ENFORCED", "it has no unique key (k)"),
        ("k INT, v INT, UNIQUE (k, v)", "k INT PRIMARY KEY NOT ENFORCED", "it has no unique key (k)"),
        ("k INT, CONSTRAINT fails_if_large CHECK (k < 5)", "k INT", "fails_if_large"),
        ("k INT, v INT NOT NULL", "k INT, v INT", "'v' cannot be null"),
        ("k INT, v DATETIME", "k INT, v TIMESTAMP_LTZ(3)", "in which TIMESTAMP_LTZ(3) cannot be written"),
        ("k INT, v VARCHAR(1)", "k INT, gone INT", "column `gone` of"),
    ],
)  # fmt: skip
def test_what_does_not_fit_the_database_is_an_error(mysql, columns, declared, message):
    name = mysql.table(columns)
    nulls = "".join(", NULL" for _ in declared.split(", ")[1:])

    with pytest.raises((DataError, JobError)) as caught:
        run_locally(
            f"CREATE TABLE t ({declared}) {mysql.options(name)}; INSERT INTO t SELECT 70000{nulls};"
        )

    assert message in str(caught.value)
    assert mysql.rows(f"SELECT * FROM {name}") == []


def test_a_string_that_is_too_long_is_an_error(mysql):
    name = mysql.table("v VARCHAR(2)")

    with pytest.raises(DataError, match="Data too long for column 'v'"):
        run_locally(
            f"CREATE TABLE t (v STRING) {mysql.options(name)}; INSERT INTO t VALUES ('abc');"
        )

    assert (mysql.rows(f"SELECT * FROM {name}"), mysql.staging()) == ([], [])


def test_a_table_without_transactions_is_refused(mysql):
    name = f"t{uuid.uuid4().hex[:12]}"
    mysql.run(f"CREATE TABLE {name} (k INT) ENGINE = MyISAM")

    with pytest.raises(DataError, match="its engine MyISAM has no transactions"):
        run_locally(f"CREATE TABLE t (k INT) {mysql.options(name)}; INSERT INTO t VALUES (1);")


def test_a_lost_connection_is_tried_again(mysql, monkeypatch):
    """The server ends the connection after the rows were committed: they are not added twice."""
    from tidemark.connectors.jdbc.mysql.dialect import MysqlTransaction

    monkeypatch.setattr(contract.time, "sleep", lambda seconds: None)
    name, ended = mysql.table("k INT"), []
    commit = MysqlTransaction.commit

    def commit_and_lose(transaction: MysqlTransaction) -> None:
        commit(transaction)
        if mysql.rows(f"SELECT * FROM {name}") and not ended:
            ended.append(transaction.connection.thread_id())
            mysql.run(f"KILL {ended[0]}")

    monkeypatch.setattr(MysqlTransaction, "commit", commit_and_lose)

    run_locally(f"CREATE TABLE t (k INT) {mysql.options(name)}; INSERT INTO t VALUES (1);")

    assert (mysql.rows(f"SELECT * FROM {name}"), mysql.staging(), len(ended)) == ([(1,)], [], 1)


# --- rights, logins, URLs ----------------------------------------------------------------------


def test_missing_rights_are_named(mysql):
    name, user = mysql.table("k INT"), f"u{uuid.uuid4().hex[:8]}"
    mysql.run(f"CREATE USER {user} IDENTIFIED BY 'p'", f"GRANT SELECT, INSERT ON {name} TO {user}")
    options = mysql.options(name, username=user, password="p")

    with pytest.raises(SetupError, match="DROP command denied to user") as caught:
        run_locally(f"CREATE TABLE t (k INT) {options}; INSERT INTO t SELECT 1;")

    hint = caught.value.hint or ""
    assert user in hint and "rows wait in a table" in hint and "CREATE, DROP" in hint


def test_a_database_or_table_that_does_not_exist_is_named(mysql):
    nowhere = table(mysql, "a INT", "t", url=f"{mysql.url}_nowhere")
    with pytest.raises(SetupError, match="_nowhere") as caught:
        tables.frame(nowhere)
    assert caught.value.hint == "check the name of the database"
    with pytest.raises(DataError, match=r"table mysql\.nothing does not exist") as missing:
        tables.frame(table(mysql, "a INT", "mysql.nothing"))
    assert "check the names of database and table" in (missing.value.hint or "")


def test_who_cannot_log_in_is_told_so_without_the_password(mysql):
    declared = table(mysql, "a INT", "t", password="wrong-secret")

    with pytest.raises(SetupError, match="cannot connect to mysql://") as caught:
        tables.frame(declared)

    assert "Access denied" in str(caught.value)
    assert "wrong-secret" not in str(caught.value)
    assert "wrong-secret" not in str(registry.shown_options(declared))


def test_a_database_is_shown_without_its_password():
    found = database_of(f"jdbc:mysql://h/d?password={PASSWORD}", {"user": "me"}, 1)

    assert found.settings["password"] == PASSWORD
    assert PASSWORD not in repr(found) and "password" not in f"{found}{found!r}"


@pytest.mark.parametrize(
    ("url", "shown", "settings"),
    [
        ("jdbc:mysql://h", "mysql://h:3306/", {}),
        ("jdbc:mysql://[::1]:7/a%20b", "mysql://::1:7/a b", {}),
        ("jdbc:mysql:///d?useSSL=false&serverTimezone=UTC", "mysql://localhost:3306/d", {"ssl_disabled": True}),
        ("jdbc:mysql://h/d?sslMode=VERIFY_IDENTITY", "mysql://h:3306/d",
         {"ssl": {"verify_mode": True, "check_hostname": True}}),
    ],
)  # fmt: skip
def test_urls_are_those_of_the_java_driver(url, shown, settings):
    found = database_of(url, {}, 60)

    assert (str(found), found.settings) == (shown, {"connect_timeout": 60, **settings})


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("jdbc:mysql:h", "expected jdbc:mysql://host:port/database"),
        ("jdbc:mysql://h:x/d", "expected jdbc:mysql://host:port/database"),
        ("jdbc:mysql://a,b/d", "several hosts are not known"),
        ("jdbc:mysql://me:secret@h/d", "as options 'username' and 'password'"),
        ("jdbc:mysql://h/d?autoClosePStmtStreams=true", "the setting 'autoClosePStmtStreams' of the URL"),
        ("jdbc:mysql://h/d?zeroDateTimeBehavior=ROUND", "must be EXCEPTION or CONVERT_TO_NULL"),
        ("jdbc:mysql://h/d?sslMode=MAYBE", "sslMode must be one of"),
    ],
)  # fmt: skip
def test_urls_that_are_not_understood_are_refused(url, message):
    declared = tables.declared(
        f"CREATE TABLE t (a INT) WITH ('connector' = 'jdbc', 'url' = '{url}', 'table-name' = 't')"
    )

    with pytest.raises(OptionError, match=message) as caught:
        registry.options_of(declared)

    assert "secret" not in str(caught.value)


def test_mysql_has_no_arrays():
    declared = tables.declared(
        "CREATE TABLE t (a ARRAY<INT>) WITH ('connector' = 'jdbc', 'url' = 'jdbc:mysql://h/d', 'table-name' = 't')"
    )

    with pytest.raises(NotSupported, match="a column of type ARRAY<INT>"):
        registry.options_of(declared)
