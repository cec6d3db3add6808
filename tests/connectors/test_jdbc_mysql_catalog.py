"""The databases and tables of a MySQL server as a catalog."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from servers.mysql import DATABASE, PASSWORD, USER, MySql
from tidemark import connect
from tidemark.errors import CatalogError, SetupError

COLUMNS = {
    "b": ("INT", "INT"),
    "a": ("BIGINT UNSIGNED", "DECIMAL(20, 0)"),
    "ti": ("TINYINT", "TINYINT"),
    "tu": ("TINYINT UNSIGNED", "SMALLINT"),
    "flag": ("BOOLEAN", "BOOLEAN"),
    "bit": ("BIT(1)", "BOOLEAN"),
    "med": ("MEDIUMINT UNSIGNED", "INT"),
    "un": ("INT UNSIGNED", "BIGINT"),
    "y": ("YEAR", "SMALLINT"),
    "n": ("DECIMAL(6, 2) UNSIGNED", "DECIMAL(7, 2)"),
    "f": ("FLOAT UNSIGNED", "FLOAT"),
    "dbl": ("DOUBLE UNSIGNED", "DOUBLE"),
    "c": ("CHAR(3)", "CHAR(3)"),
    "v": ("VARCHAR(30)", "VARCHAR(30)"),
    "t": ("LONGTEXT", "STRING"),
    "e": ("ENUM('x', 'y')", "STRING"),
    "j": ("JSON", "STRING"),
    "d": ("DATE", "DATE"),
    "tm": ("TIME(3)", "TIME(3)"),
    "dt": ("DATETIME", "TIMESTAMP(0)"),
    "ts": ("TIMESTAMP(6) NULL", "TIMESTAMP_LTZ(6)"),
    "bytes": ("VARBINARY(5)", "BYTES"),
}


@pytest.fixture(scope="module")
def table(mysql: MySql) -> str:
    """A table, and a view of it."""
    name = f"it`s {uuid.uuid4().hex[:8]}"
    quoted = "`" + name.replace("`", "``") + "`"
    listed = ", ".join(f"{column} {type_}" for column, (type_, _) in COLUMNS.items())
    mysql.run(
        f"CREATE TABLE {quoted} ({listed}, PRIMARY KEY (b, a))",
        f"INSERT INTO {quoted} (b, a, ti, flag, n, dbl, e, dt) VALUES "
        "(1, 18446744073709551615, -7, TRUE, 1.5, 2.5, 'y', '2024-05-01 10:00:00')",
        f"CREATE VIEW `v {name.replace('`', '')}` AS SELECT b FROM {quoted}",
    )
    return name


def created(mysql: MySql, **more: str) -> str:
    options = {
        "type": "jdbc",
        "default-database": DATABASE,
        "username": USER,
        "password": PASSWORD.replace("'", "''"),
        "base-url": mysql.url.rpartition("/")[0],
    } | {key.replace("_", "-"): value for key, value in more.items()}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    return f"SET 'table.dml-sync' = 'true'; CREATE CATALOG my WITH ({listed}); USE CATALOG my;"


def rows(script: str) -> list[tuple[Any, ...]]:
    """The rows of a script's last statement."""
    with connect(engine="local") as session:
        *_, last = session.run(script)
        return [tuple(row.values()) for row in last.rows()]


def test_databases_and_tables_are_listed_without_those_of_the_server(mysql, table):
    databases = [name for (name,) in rows(f"{created(mysql)} SHOW DATABASES")]

    assert DATABASE in databases
    assert not {"mysql", "information_schema", "sys", "performance_schema"} & {*databases}
    tables = [name for (name,) in rows(f"{created(mysql)} SHOW TABLES")]
    assert table in tables
    view = f"v {table.replace('`', '')}"  # as in Flink
    assert view in tables
    assert rows(f"{created(mysql)} SELECT b FROM `{view}`") == [(1,)]
    assert ("type", "jdbc") in rows(f"{created(mysql)} DESCRIBE CATALOG my")


def test_columns_have_types_that_can_be_read(mysql, table):
    quoted = table.replace("`", "``")
    described = rows(f"{created(mysql)} DESCRIBE `{quoted}`")

    assert {name: type_ for name, type_, *_ in described} == {
        name: type_ for name, (_, type_) in COLUMNS.items()
    }
    assert {name for name, _, null, *_ in described if not null} == {"a", "b"}
    [row] = rows(f"{created(mysql)} SELECT * FROM `{quoted}`")
    found = dict(zip(COLUMNS, map(str, row), strict=True))
    assert (found["a"], found["ti"], found["flag"]) == ("18446744073709551615", "-7", "True")
    assert (found["n"], found["dbl"], found["e"]) == ("1.50", "2.5", "y")


def test_rows_are_written_by_key(mysql):
    name = f"w{uuid.uuid4().hex[:8]}"
    mysql.run(f"CREATE TABLE {name} (k INT PRIMARY KEY, v BIGINT)")

    rows(f"{created(mysql)} INSERT INTO {name} VALUES (1, 10); SHOW TABLES")
    rows(f"{created(mysql)} INSERT INTO my.{DATABASE}.{name} VALUES (1, 11), (2, 20); SHOW TABLES")

    assert sorted(mysql.rows(f"SELECT * FROM {name}")) == [(1, 11), (2, 20)]


def test_it_is_read_only(mysql):
    with pytest.raises(CatalogError, match="is read-only, as in Flink"):
        rows(f"{created(mysql)} CREATE TABLE x (a INT) WITH ('connector' = 'print')")


def test_a_wrong_password_is_an_error_that_does_not_show_it(mysql):
    with pytest.raises(SetupError, match="cannot connect to mysql") as caught:
        rows(created(mysql, password="wr0ng"))

    assert "wr0ng" not in str(caught.value)


@pytest.mark.parametrize("name", ["a?b#c", "sl/ash", "x%20y"])
def test_a_database_may_have_any_name(mysql, name):
    mysql.run(f"CREATE DATABASE `{name}`", f"CREATE TABLE `{name}`.t (i INT)")
    mysql.run(f"INSERT INTO `{name}`.t VALUES (7)")
    try:
        assert rows(f"{created(mysql)} SELECT i FROM `{name}`.t") == [(7,)]
    finally:
        mysql.run(f"DROP DATABASE `{name}`")


def test_the_password_is_not_in_what_is_shown_of_the_catalog(mysql):
    with connect(engine="local") as session:
        list(session.run(created(mysql)))
        assert PASSWORD not in repr(session.workspace.catalogs.catalogs["my"])
