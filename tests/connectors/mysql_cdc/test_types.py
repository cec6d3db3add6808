"""Values of all types are the same in the snapshot and in changes."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from servers.mysql import MySql
from tests.connectors import tables
from tests.connectors.change_streams import check_types
from tests.connectors.mysql_cdc.streams import ONLY_MARIADB, Stream, table
from tests.connectors.test_jdbc_mysql import VALUES
from tidemark import types as t
from tidemark.connectors.mysql_cdc.columns.values import is_logged_as
from tidemark.connectors.mysql_cdc.known_columns import KnownColumn, not_readable
from tidemark.connectors.mysql_cdc.planning import look_at
from tidemark.errors import DataError, SetupError
from tidemark.formats import binlog as b
from tidemark.formats.binlog import LoggedColumn
from tidemark.formats.mysql_charsets import CHARACTER_SETS, decoded

LONG = "é" * 300
# Besides those of connector jdbc: columns of MySQL, their types in Flink SQL, values.
MORE: dict[str, tuple[str, str, str, Any]] = {
    "b3": ("TINYINT", "BIGINT", "127", 127),
    "c2": ("INT UNSIGNED", "INT", "2147483647", 2**31 - 1),
    "c3": ("BIGINT UNSIGNED", "BIGINT", "7", 7),
    "d2": ("MEDIUMINT UNSIGNED", "INT", "16777215", 16_777_215),
    "g2": ("BIGINT UNSIGNED", "STRING", "18446744073709551615", "18446744073709551615"),
    "h3": ("FLOAT", "DOUBLE", "-0.1", -0.10000000149011612),
    "i2": ("DOUBLE", "DOUBLE", "-1.7e308", -1.7e308),
    "j3": ("DECIMAL(38, 0)", "DECIMAL(38, 0)", "-" + "9" * 38, Decimal("-" + "9" * 38)),
    "j4": ("DECIMAL(65, 30)", "DECIMAL(38, 18)", "-1234567890.0000000000000000005",
           Decimal("-1234567890.000000000000000001")),
    "j5": ("DECIMAL(9, 9)", "DECIMAL(9, 9)", "-0.000000001", Decimal("-0.000000001")),
    "j6": ("DECIMAL(10, 2)", "DECIMAL(4, 1)", "123.45", Decimal("123.5")),
    "j7": ("DECIMAL(10, 2)", "DECIMAL(4, 1)", "1234.5", None),
    "j8": ("DECIMAL(20, 3)", "STRING", "-0.5", "-0.500"),
    "j9": ("INT", "DECIMAL(3, 0)", "1000", None),
    "j10": ("DECIMAL(65, 30)", "STRING", "-1.5", "-1.5" + "0" * 29),
    "j11": ("DECIMAL(65, 0)", "STRING", "0", "0"),
    "y": ("YEAR", "INT", "1999", 1999),
    "y2": ("YEAR", "STRING", "0", "0000"),
    "k2": ("DATE", "STRING", "'1000-01-01'", "1000-01-01"),
    "k3": ("DATE", "DATE", "'9999-12-31'", dt.date(9999, 12, 31)),
    "l2": ("TIME(6)", "TIME(3)", "'23:59:59.999999'", dt.time(23, 59, 59, 999_000)),
    "l3": ("TIME(1)", "STRING", "'00:00:00.5'", "00:00:00.5"),
    "m2": ("DATETIME", "TIMESTAMP(0)", "'1000-01-01 00:00:00'", dt.datetime(1000, 1, 1)),
    "m3": ("DATETIME(3)", "STRING", "'2024-01-01 00:00:00.5'", "2024-01-01 00:00:00.500"),
    "n2": ("TIMESTAMP(6) NULL", "TIMESTAMP(6)", "'2024-01-01 22:00:00.000001'",
           dt.datetime(2024, 1, 2, 6, 0, 0, 1)),
    "n3": ("TIMESTAMP NULL", "STRING", "'2024-01-01 22:00:00'", "2024-01-02 06:00:00"),
    "o2": ("CHAR(255) CHARACTER SET utf8mb4", "STRING", "'é🌊'", "é🌊"),
    "q3": ("LONGTEXT", "STRING", f"'{LONG}'", LONG),
    "q4": ("TINYTEXT CHARACTER SET gbk", "STRING", "'海'", "海"),
    "q5": ("VARCHAR(300) CHARACTER SET utf16", "STRING", "'a🌊'", "a🌊"),
    "q6": ("VARCHAR(300) CHARACTER SET latin1", "STRING", "'€uro, which is longer'",
           "€uro, which is longer"),
    "r2": ("BINARY(4)", "BYTES", "x'0100'", b"\x01\0\0\0"),
    "r3": ("BINARY(2)", "BYTES", "x'2020'", b"  "),
    "s2": ("MEDIUMBLOB", "BYTES", "REPEAT(x'00ff', 40000)", b"\0\xff" * 40000),
    "u2": ("ENUM('it''s', 'b') CHARACTER SET latin1", "STRING", "1", "it's"),
    "u3": ("SET('a', 'b', 'c')", "STRING", "'c,a'", "a,c"),
    "u4": ("SET('a', 'b')", "STRING", "''", ""),
    "u8": ("SET('a', 'b', 'c')", "ARRAY<STRING>", "'c,a'", ["a", "c"]),
    "u9": ("SET('a', 'b')", "ARRAY<STRING>", "''", []),
    "a3": ("BIT(1)", "BOOLEAN", "b'0'", False),
    "a4": ("BIT(16)", "BINARY(2)", "b'1100000001'", b"\x01\x03"),
    "a5": ("BIT(3)", "BYTES", "b'101'", b"\x05"),
    "a6": ("BIT(64)", "BYTES", "b'1'", b"\x01" + bytes(7)),
    "j12": ("DECIMAL(10, 2)", "DOUBLE", "-0.35", -0.35),
    "j13": ("DECIMAL(65, 30)", "DOUBLE", "0.1", 0.1),
    "j14": ("DECIMAL(5, 1) UNSIGNED", "FLOAT", "0.1", 0.10000000149011612),
    "u5": (r"ENUM('a\\b', 'c\nd')", "STRING", "1", r"a\b"),
    "u6": (r"SET('a\\b', 'c\nd')", "STRING", "3", "a\\b,c\nd"),
    "u7": ("ENUM('COMPRESSED', 'unsigned', '(5) zerofill')", "STRING", "3", "(5) zerofill"),
    "zt1": ("TIME(3)", "STRING", "'-100:00:00.5'", "-100:00:00.500"),
    "zt2": ("TIME", "STRING", "'838:59:59'", "838:59:59"),
    "zt3": ("TIME(6)", "STRING", "'-00:00:00.000001'", "-00:00:00.000001"),
    "z": ("INT(5) ZEROFILL", "STRING", "42", "00042"),
    "z2": ("DECIMAL(10, 2) ZEROFILL", "STRING", "12.5", "00000012.50"),
    "z3": ("DECIMAL(10, 0) ZEROFILL", "STRING", "12", "0000000012"),
}  # fmt: skip
ALL = {**VALUES, **MORE}
ZONE = {"server_time_zone": "Asia/Shanghai"}


def test_values_of_each_type_are_the_same_in_the_snapshot_and_in_changes(mysql, tmp_path):
    row = ", ".join(value[2] for value in ALL.values())
    rows = f"(1, {row})", f"(2, {', '.join(['NULL'] * len(ALL))})"
    columns = ", ".join(f"{name} {value[0]}" for name, value in ALL.items())
    name = mysql.table(f"id INT PRIMARY KEY, {columns}", *rows)
    declared = ", ".join(f"`{name}` {value[1]}" for name, value in ALL.items())
    declared = f"id INT, {declared}, PRIMARY KEY (id) NOT ENFORCED"
    with Stream(mysql, table(mysql, declared, name, **ZONE), tmp_path) as stream:
        snapshot = sorted(stream.step(), key=lambda found: found[1])
        mysql.run(f"UPDATE {name} SET id = id + 2")
        changes = [change for change in stream.step() if change[0] == "+I"]

    values = tuple(value[3] for value in ALL.values())
    for found, first in ((snapshot, 1), (changes, 3)):
        expected = [(first, *values), (first + 1, *[None] * len(ALL))]
        check_types(found, expected, ["id", *ALL])


def test_strings_of_each_character_set_are_what_the_server_makes_of_them(mysql):
    known = {str(name) for name, *_ in mysql.rows("SHOW CHARACTER SET")}
    for own in sorted(CHARACTER_SETS & known):
        sample = SAMPLES.get(own, EVERY)
        [(expected,)] = mysql.rows(
            f"SELECT CONVERT(CONVERT(x'{sample}' USING {own}) USING utf8mb4)"
        )
        content = pl.Series([bytes.fromhex(sample), None, b""], dtype=pl.Binary)
        assert decoded(content, own).to_list() == [expected, None, ""], own


EVERY = bytes(range(1, 256)).hex()
# Some characters in those in which not each byte is one.
SAMPLES = {
    "ascii": "417e",
    "big5": "a440a441",
    "euckr": "b0a1b0a2",
    "gb2312": "b0a1",
    "gbk": "81408141",
    "ucs2": "00410416",
    "ujis": "b0a1b0a2",
    "utf16": "0041d83cdf0a",
    "utf16le": "41003cd80adf",
    "utf32": "000000410001f30a",
    "utf8mb3": "c3a9e6b5b7",
    "utf8mb4": "c3a9f09f8c8a",
}


@pytest.mark.parametrize(
    ("type_", "wanted", "value"),
    [
        ("TIME", "TIME(0)", "'25:00:00'"),
        ("INT UNSIGNED", "INT", "2147483648"),
        ("BIGINT UNSIGNED", "BIGINT", "9223372036854775808"),
        ("TIME", "TIME(0)", "'-00:00:01'"),
    ],
)
def test_a_value_that_does_not_fit_is_an_error(
    mysql: MySql, tmp_path: Path, type_: str, wanted: str, value: str
):
    name = mysql.table(f"id INT PRIMARY KEY, v {type_}")
    columns = f"id INT, v {wanted}, PRIMARY KEY (id) NOT ENFORCED"
    with Stream(mysql, table(mysql, columns, name), tmp_path) as stream:
        stream.step()
        mysql.run("SET sql_mode = ''", f"INSERT INTO {name} VALUES (1, {value})")
        mysql.run("SET sql_mode = DEFAULT")
        with pytest.raises(DataError, match=f"column `v` of shop.{name} has a value that is not"):
            stream.step()


@pytest.mark.parametrize(
    ("type_", "wanted", "value"),
    [
        ("DATE", "DATE", "'0000-00-00'"),
        ("DATE", "DATE", "'2024-02-00'"),
        ("DATE", "STRING", "'2024-00-02'"),
        ("DATETIME(3)", "TIMESTAMP(3)", "'0000-00-00 00:00:00'"),
        ("DATETIME", "STRING", "'0000-00-00 00:00:00'"),
        ("TIMESTAMP NULL", "TIMESTAMP_LTZ(3)", "0"),
        ("TIMESTAMP(6) NULL", "STRING", "0"),
    ],
)
def test_zero_dates_are_null_as_in_flink_cdc(
    mysql: MySql, tmp_path: Path, type_: str, wanted: str, value: str
):
    name = mysql.table(f"id INT PRIMARY KEY, v {type_}")
    columns = f"id INT, v {wanted}, PRIMARY KEY (id) NOT ENFORCED"
    mysql.run("SET sql_mode = ''", f"INSERT INTO {name} VALUES (1, {value})")
    with Stream(mysql, table(mysql, columns, name), tmp_path) as stream:
        found = stream.step()
        mysql.run(f"INSERT INTO {name} VALUES (2, {value})", "SET sql_mode = DEFAULT")
        assert found + stream.step() == [("+I", 1, None), ("+I", 2, None)]


@pytest.mark.parametrize(
    ("type_", "wanted", "why"),
    [
        ("INT AS (1) VIRTUAL", "INT", "computed when it is read"),
        ("DOUBLE", "STRING", "changes do not have it as a string"),
        pytest.param("UUID", "STRING", "changes do not have it as a string", marks=ONLY_MARIADB),
        ("VARCHAR(9) CHARACTER SET swe7", "STRING", "character set swe7"),
        pytest.param("TEXT COMPRESSED", "STRING", "the log has it compressed", marks=ONLY_MARIADB),
        ("BIT(9)", "STRING", "cannot be read as STRING"),
        ("VARCHAR(9)", "INT", "cannot be read as INT"),
    ],
)
def test_a_column_that_changes_do_not_have_is_refused_at_once(mysql, type_, wanted, why):
    name = mysql.table(f"id INT PRIMARY KEY, v {type_}")
    asked = tables.columns_request(table(mysql, f"v {wanted}, PRIMARY KEY (v) NOT ENFORCED", name))
    with pytest.raises(DataError) as caught:
        look_at(asked)
    assert why in str(caught.value)


@ONLY_MARIADB
def test_a_column_that_is_not_read_may_be_of_any_type(mysql, tmp_path):
    name = mysql.table(
        "id INT PRIMARY KEY, p POINT, u UUID, c TEXT COMPRESSED, v VARCHAR(99) COMPRESSED, "
        "w INT AS (id + 1) VIRTUAL, b BIT(9), i INET6, s INT AS (id + 2) STORED, z INT INVISIBLE"
    )
    keyed = "id INT, s INT, PRIMARY KEY (id) NOT ENFORCED"
    with Stream(mysql, table(mysql, keyed, name), tmp_path) as stream:
        stream.step()
        mysql.run(
            f"INSERT INTO {name} (id, p, u, c, v, b, i) VALUES (1, POINT(1, 2), UUID(), "
            f"REPEAT('c', 500), REPEAT('v', 99), b'101', '::1'), (2, {', '.join(['NULL'] * 6)})"
        )
        assert stream.step() == [("+I", 1, 3), ("+I", 2, 4)]


@ONLY_MARIADB
@pytest.mark.parametrize("unique", ["UNIQUE (v), UNIQUE (w, v)", "UNIQUE (w) USING HASH"])
def test_a_table_with_hidden_columns_is_read(mysql, tmp_path, unique):
    name = mysql.table(f"id INT PRIMARY KEY, v TEXT, w INT, {unique}", "(1, 'a', 5)")
    keyed = "id INT, v STRING, w INT, PRIMARY KEY (id) NOT ENFORCED"
    with Stream(mysql, table(mysql, keyed, name), tmp_path) as stream:
        stream.step()
        mysql.run(f"UPDATE {name} SET v = 'b'", f"INSERT INTO {name} VALUES (2, 'c', NULL)")
        assert stream.step() == [("-U", 1, "a", 5), ("+U", 1, "b", 5), ("+I", 2, "c", None)]
        mysql.run(f"ALTER TABLE {name} ADD UNIQUE INDEX (w, v)", f"DELETE FROM {name}")
        assert stream.step() == [("-D", 1, "b", 5), ("-D", 2, "c", None)]


@ONLY_MARIADB
def test_old_times_are_refused(mysql, tmp_path):
    mysql.run("SET GLOBAL mysql56_temporal_format = OFF")
    try:
        name = mysql.table("id INT PRIMARY KEY, t DATETIME(3)")
        keyed = "id INT, PRIMARY KEY (id) NOT ENFORCED"
        with Stream(mysql, table(mysql, keyed, name), tmp_path) as stream:
            stream.step()
            mysql.run(f"INSERT INTO {name} VALUES (1, NOW())")
            with pytest.raises(SetupError, match=r"times in the form of MySQL 5\.5"):
                stream.step()
    finally:
        mysql.run("SET GLOBAL mysql56_temporal_format = ON")


def test_json_of_mysql_is_read_as_a_string_and_nothing_else():
    column = KnownColumn.of(("doc", "json", "json", *[None] * 5, "0", "0"))

    assert not_readable(column, t.VarChar(10)) is None
    assert not_readable(column, t.VarBinary(10)) is not None
    assert is_logged_as(column, LoggedColumn(b.JSON, 4))
