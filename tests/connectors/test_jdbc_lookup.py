"""Tables of PostgreSQL in lookup joins."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from servers.postgres import Postgres
from tests.connectors import tables
from tidemark import connect
from tidemark.connectors import registry
from tidemark.errors import DataError

KEYED = [
    ("int", "INT", "1", 1),
    ("numeric(5, 2)", "DECIMAL(5, 2)", "1.50", Decimal("1.50")),
    ("text", "STRING", "'it''s'", "it's"),
    ("uuid", "STRING", "'00000000-0000-0000-0000-00000000000a'", "00000000-0000-0000-0000-00000000000a"),
    ("date", "DATE", "DATE '2024-01-02'", dt.date(2024, 1, 2)),
    ("timestamp", "TIMESTAMP(6)", "TIMESTAMP '2024-01-02 00:00:00.5'", dt.datetime(2024, 1, 2, 0, 0, 0, 500_000)),
    ("boolean", "BOOLEAN", "TRUE", True),
]  # fmt: skip


CACHED = {"lookup__cache": "PARTIAL", "lookup__partial_cache__max_rows": "100"}


def joined(postgres: Postgres, script: str) -> list[dict[str, Any]]:
    with connect(engine="local") as session:
        *_, last = session.run(script)
        return sorted(last.rows(), key=str)


@pytest.mark.parametrize(("stored", "type_", "value", "expected"), KEYED)
def test_rows_are_found_by_keys_of_each_type(postgres, stored, type_, value, expected):
    name = postgres.table(f"k {stored}, v int", f"({value}, 7)", "(NULL, 8)")

    found = joined(
        postgres,
        f"""
        CREATE TABLE dim (k {type_}, v INT) {postgres.options(name)};
        SELECT o.k, d.v FROM (SELECT CAST(x AS {type_}) AS k, PROCTIME() AS p
          FROM (VALUES ({value}), (CAST(NULL AS {type_}))) AS t (x)) AS o
        LEFT JOIN dim FOR SYSTEM_TIME AS OF o.p AS d ON o.k = d.k;
        """,
    )

    assert found == sorted([{"k": expected, "v": 7}, {"k": None, "v": None}], key=str)


def test_several_keys_conditions_and_rows(postgres):
    name = postgres.table(
        "a bigint, b text, v int",
        *["(1, 'x', 1)", "(1, 'x', 2)", "(1, 'y', 3)", "(2, 'x', 4)", "(3, 'x', -5)"],
    )

    found = joined(
        postgres,
        f"""
        CREATE TABLE dim (a BIGINT, b STRING, v INT) {postgres.options(name, **CACHED)};
        CREATE VIEW orders AS SELECT n, a, b, PROCTIME() AS p FROM (VALUES
          (1, CAST(1 AS BIGINT), 'x'), (2, 1, 'y'), (3, 2, 'y'), (4, 3, 'x'), (5, 1, 'x')) AS t (n, a, b);
        SELECT o.n, d.v FROM orders AS o
        JOIN dim FOR SYSTEM_TIME AS OF o.p AS d ON o.a = d.a AND o.b = d.b AND d.v > 0;
        """,
    )

    assert [tuple(row.values()) for row in found] == [(1, 1), (1, 2), (2, 3), (5, 1), (5, 2)]


def test_a_whole_table_may_be_kept(postgres):
    name = postgres.table("k int, v int", "(1, 7)")

    found = joined(
        postgres,
        f"""
        CREATE TABLE dim (k INT, v INT) {postgres.options(name, lookup__cache="FULL")};
        SELECT d.v FROM (SELECT x AS k, PROCTIME() AS p FROM (VALUES (1), (2)) AS t (x)) AS o
        JOIN dim FOR SYSTEM_TIME AS OF o.p AS d ON o.k = d.k;
        """,
    )

    assert found == [{"v": 7}]


def test_older_options_ask_for_a_cache(postgres):
    options = {"lookup__cache__max_rows": "5", "lookup__cache__ttl": "1 min"}
    table = tables.declared(f"CREATE TABLE t (a INT) {postgres.options('t', **options)}")

    found = registry.options_of(table)

    assert found["lookup.cache"] == "PARTIAL"
    assert found["lookup.partial-cache.max-rows"] == 5
    assert found["lookup.partial-cache.expire-after-write"] == 60_000


def test_a_table_that_does_not_fit_is_an_error(postgres):
    name = postgres.table("k int, v bigint", "(1, 7)")
    script = f"""
        CREATE TABLE dim (k INT, v INT) {postgres.options(name, lookup__max_retries="0")};
        SELECT d.v FROM (SELECT x AS k, PROCTIME() AS p FROM (VALUES (1)) AS t (x)) AS o
        JOIN dim FOR SYSTEM_TIME AS OF o.p AS d ON o.k = d.k;
    """
    with pytest.raises(DataError, match=r"`v` of .* is bigint, which cannot be read as INT"):
        joined(postgres, script)
