"""Conditions of queries that the database tests before it sends rows."""

from __future__ import annotations

from typing import Any

import pytest

from tidemark import connect

ROWS = "(1, 'a')", "(2, 'A')", "(3, 'a ')", "(4, NULL)", "(NULL, 'it''s')", "(-7, '100%')"
VALUES = [(1, "a"), (2, "A"), (3, "a "), (4, None), (None, "it's"), (-7, "100%")]


def ran(script: str) -> Any:
    with connect(engine="local") as session:
        *_, last = session.run(f"SET 'execution.runtime-mode' = 'batch'; {script}")
        return [tuple(row.values()) for row in last.rows()]


def found(database: Any, name: str, condition: str, **options: str) -> list[tuple[Any, ...]]:
    declared = f"CREATE TABLE t (n BIGINT, s STRING) {database.options(name, **options)};"
    return ran(f"{declared} SELECT n, s FROM t WHERE {condition};")


@pytest.mark.parametrize(
    ("condition", "places"),
    [
        ("n = 1", [0]),
        ("1 < n", [1, 2, 3]),
        ("n <> 2", [0, 2, 3, 5]),
        ("n BETWEEN -7 AND 1 AND s IS NOT NULL", [0, 5]),
        ("n IN (1, 4) OR s = 'it''s'", [0, 3, 4]),
        ("s = 'a'", [0]),
        ("s IN ('A', '100%')", [1, 5]),
        ("NOT (n = 1 OR n = 2)", [2, 3, 5]),
        ("n = 1.5 OR n > 2", [2, 3]),
        ("n > 9223372036854775806", []),
        ("UPPER(s) = 'A' AND n < 2", [0]),
    ],
)
def test_rows_are_those_that_meet_the_condition(database, condition, places):
    name = database.table("n BIGINT, s VARCHAR(9)", *ROWS)

    rows = found(database, name, condition)

    assert sorted(rows, key=str) == sorted((VALUES[place] for place in places), key=str)


def test_rows_that_do_not_meet_it_are_not_sent(sqlite):
    # A value that cannot be read would be an error.
    name = sqlite.table("n BIGINT, s TEXT", "('one', 'a')", "(2, 'b')")

    assert found(sqlite, name, "s = 'b' AND s <> 'c'") == [(2, "b")]
    assert found(sqlite, name, "n <= 2 AND n >= 0") == [(2, "b")]


def test_values_that_a_database_compares_in_another_way_are_compared_here(sqlite):
    name = sqlite.table("n TEXT, s", "('10', 5)", "('9', '5')")

    declared = f"CREATE TABLE t (n STRING, s STRING) {sqlite.options(name)};"
    assert ran(f"{declared} SELECT n FROM t WHERE s = '5';") == [("10",), ("9",)]


def test_conditions_and_ranges_are_both_asked(database):
    name = database.table("n BIGINT, s VARCHAR(9)", *ROWS)
    bounds = {"column": "n", "num": "2", "lower_bound": "1", "upper_bound": "3"}
    options = {f"scan__partition__{key}": value for key, value in bounds.items()}

    assert sorted(found(database, name, "n < 3 OR s = 'x'", **options)) == [(1, "a"), (2, "A")]
