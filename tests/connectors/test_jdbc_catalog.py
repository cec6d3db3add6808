"""The databases and tables of a PostgreSQL server as a catalog."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from servers.postgres import Postgres
from tidemark import connect
from tidemark.errors import CatalogError, NotSupported, OptionError, SetupError


@pytest.fixture(scope="module")
def shop(postgres: Postgres) -> str:
    """A database with two tables and a view."""
    name = f"d{uuid.uuid4().hex[:8]}"
    postgres.run(f"CREATE DATABASE {name}")
    postgres.run(
        """CREATE TABLE orders (b int, a bigint, n numeric(6, 2), free numeric, c char(3),
          v varchar(5), t text, ts timestamp(3), tz timestamptz, d date NOT NULL, xs int[],
          j jsonb, PRIMARY KEY (a, b))""",
        "INSERT INTO orders VALUES (2, 1, 1.50, 2.5, 'x', 'y', 'z', '2024-01-01', now(), '2024-01-02', '{1}', '{}')",
        'CREATE SCHEMA "Other"',
        'CREATE TABLE "Other"."Totals" (k int PRIMARY KEY, v bigint)',
        "CREATE VIEW seen AS SELECT * FROM orders",
        database=name,
    )
    return name


def created(postgres: Postgres, default: str, /, **more: str) -> str:
    options = {
        "type": "jdbc",
        "default-database": default,
        "username": "postgres",
        "password": "it''s a secret",
        "base-url": postgres.base_url,
    } | {key.replace("_", "-"): value for key, value in more.items()}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in options.items() if value)
    return f"CREATE CATALOG pg WITH ({listed});"


def rows(script: str) -> list[tuple[Any, ...]]:
    """The rows of a script's last statement."""
    with connect(engine="local") as session:
        *_, last = session.run(script)
        return [tuple(row.values()) for row in last.rows()]


def test_databases_and_tables_are_listed_as_in_flink(postgres, shop):
    script = created(postgres, shop)

    databases = [name for (name,) in rows(f"{script} SHOW DATABASES FROM pg")]

    assert {"postgres", shop} <= set(databases) and "template1" not in databases
    assert rows(f"{script} USE CATALOG pg; SHOW CURRENT DATABASE") == [(shop,)]
    assert rows(f"{script} USE CATALOG pg; SHOW TABLES") == [("Other.Totals",), ("public.orders",)]


def test_columns_have_the_types_of_flinks_catalog(postgres, shop):
    described = rows(f"{created(postgres, shop)} DESCRIBE pg.{shop}.orders")

    assert [(name, type_, null) for name, type_, null, *_ in described] == [
        ("b", "INT", False),
        ("a", "BIGINT", False),
        ("n", "DECIMAL(6, 2)", True),
        ("free", "DECIMAL(38, 18)", True),
        ("c", "CHAR(3)", True),
        ("v", "VARCHAR(5)", True),
        ("t", "STRING", True),
        ("ts", "TIMESTAMP(3)", True),
        ("tz", "TIMESTAMP_LTZ(6)", True),
        ("d", "DATE", False),
        ("xs", "ARRAY<INT>", True),
        ("j", "STRING", True),
    ]
    assert {key for *_, key, _, _ in described if key} == {"PRI(a, b)"}


def test_tables_are_read_and_written(postgres, shop):
    script = f"""
        {created(postgres, shop)}
        USE CATALOG pg;
        SET 'table.dml-sync' = 'true';
        INSERT INTO `Other.Totals` SELECT b, SUM(a) FROM `public.orders` GROUP BY b;
        SELECT o.t, v.v, o.n FROM orders AS o JOIN pg.{shop}.`Other.Totals` AS v ON o.b = v.k;
    """
    assert [(t, v, str(n)) for t, v, n in rows(script)] == [("z", 1, "1.50")]
    assert postgres.rows('SELECT * FROM "Other"."Totals"', database=shop) == [(2, 1)]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SELECT * FROM pg.{0}.`public.ordrs`", "did you mean `public.orders`"),
        ("SELECT * FROM pg.nowhere.orders", "database `nowhere` does not exist in catalog `pg`"),
        ("USE CATALOG pg; SELECT * FROM Other.Totals", "write `Other.Totals` in backticks"),
        ("USE CATALOG pg; SELECT * FROM Others.Totals", "database `Others` does not exist"),
        ("CREATE TABLE pg.{0}.x (a INT) WITH ('connector' = 'print')", "is read-only, as in Flink"),
        ("CREATE DATABASE pg.x", "is read-only, as in Flink"),
        ("DROP TABLE pg.{0}.orders", "is read-only, as in Flink"),
        ("DROP DATABASE pg.{0} CASCADE", "is read-only, as in Flink"),
    ],
)
def test_what_does_not_exist_or_cannot_be_changed_is_an_error(postgres, shop, statement, message):
    with pytest.raises(CatalogError, match=message):
        rows(f"{created(postgres, shop)} {statement.format(shop)}")


def test_a_catalog_is_dropped_and_its_server_keeps_all(postgres, shop):
    assert rows(f"{created(postgres, shop)} DROP CATALOG pg; SHOW CATALOGS") == [
        ("default_catalog",)
    ]
    assert postgres.rows("SELECT count(*) FROM orders", database=shop) == [(1,)]


def test_temporary_tables_are_the_sessions_own(postgres, shop):
    script = f"""
        {created(postgres, shop)} USE CATALOG pg;
        CREATE TEMPORARY TABLE mine (a INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1');
        SELECT COUNT(*) FROM mine;
    """
    assert rows(script)[-1][-1] == 1


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"username": ""}, OptionError, "option 'username' of the catalog is missing"),
        ({"base_url": "jdbc:postgresql://h/db"}, OptionError, "not the JDBC URL of a server"),
        ({"base_url": "jdbc:sqlite:/x"}, NotSupported, "with sqlite is not supported yet"),
        ({"base_url": "jdbc:oracle:thin:@h"}, NotSupported, "with oracle is not supported yet"),
        ({"database": "x"}, OptionError, "unknown catalog option 'database'"),
        ({"password": "wrong"}, SetupError, "cannot connect to postgresql"),
    ],
)
def test_a_catalog_that_cannot_be_is_refused_at_once(postgres, shop, options, error, message):
    with pytest.raises(error, match=message):
        rows(created(postgres, shop, **options))
