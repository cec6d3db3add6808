"""A part of an expression that fails does so only for rows that reach it.

Spark evaluates conditions in another order than they are written in, puts constants in place of
columns, and computes parts that occur twice before anyone has asked for them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import tidemark
from tidemark.errors import TidemarkError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.session.session import Session

TABLES = """
CREATE TABLE t (k INT, j INT, b STRING, d INT)
WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/t.json');
CREATE VIEW numbers AS SELECT k, j, CAST(CASE WHEN k = 0 THEN '1' ELSE b END AS INT) AS n FROM t;
CREATE VIEW quotients AS SELECT k, j, 10 / CASE WHEN k = 0 THEN 1 ELSE d END AS n FROM t;
CREATE TABLE required (n INT NOT NULL)
WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/out');
"""
ROWS = [{"k": 0, "j": 1, "b": "x", "d": 0}, {"k": 1, "j": 1, "b": "5", "d": 2}]
GOOD = {
    "a constant in a cast": ("SELECT n FROM numbers WHERE n > 0 AND k = 1", [5]),
    "a constant in a division": ("SELECT n FROM quotients WHERE n > 0 AND k = 1", [5]),
    "another column in a cast": ("SELECT n FROM numbers WHERE n > 0 AND k = j", [5]),
    "another column in a division": ("SELECT n FROM quotients WHERE n > 0 AND k = j", [5]),
    # Reading `k` costs more than reading `b`, which is a string in the file too.
    "the second part of an AND": ("SELECT j FROM t WHERE k = 1 AND CAST(b AS INT) > 3", [1]),
    "a constant that no row has": ("SELECT CAST(b AS INT) FROM t WHERE b = 'y'", []),
    "a part of an AND that occurs twice": (
        "SELECT k = 1 AND CAST(b AS INT) > 3 AND CAST(b AS INT) < 9 FROM t",
        [False, True],
    ),
    "a part of an OR that occurs twice": (
        "SELECT k = 0 OR CAST(b AS INT) > 3 OR CAST(b AS INT) < 9 FROM t",
        [True, True],
    ),
    "a branch of a CASE": (
        "SELECT CASE WHEN k = 1 THEN CAST(b AS INT) ELSE 0 END + "
        "CASE WHEN k = 1 THEN CAST(b AS INT) ELSE 0 END FROM t",
        [0, 10],
    ),
    "JSON in a branch of a CASE": (
        "SELECT CASE WHEN k = 1 THEN JSON_VALUE(b, 'strict $' ERROR ON ERROR) ELSE '' END FROM t",
        ["", "5"],
    ),
    "JSON in an AND": (
        "SELECT k FROM t WHERE k = 1 AND JSON_EXISTS(b, 'strict $' ERROR ON ERROR)",
        [1],
    ),
}
BAD = {
    "a cast": ("SELECT CAST(b AS INT) FROM t", "cannot cast 'x' to INT"),
    "a division": ("SELECT 10 / d FROM t", "Division by zero"),
    "JSON": (
        "SELECT JSON_VALUE(b, 'strict $' ERROR ON ERROR) FROM t",
        "JSON_VALUE cannot",
    ),
}


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> Session:
    (tmp_path / "t.json").write_text("\n".join(map(json.dumps, ROWS)) + "\n", encoding="utf-8")
    session = tidemark.connect(spark)
    session.sql(TABLES.format(folder=tmp_path))
    return session


@pytest.mark.parametrize("what", GOOD)
def test_an_expression_that_a_row_does_not_reach_cannot_fail(session: Session, what: str):
    sql, expected = GOOD[what]

    assert sorted(next(iter(row.values())) for row in session.sql(sql).rows()) == expected


@pytest.mark.parametrize("what", BAD)
def test_an_expression_that_a_row_reaches_fails_the_job(session: Session, what: str):
    sql, message = BAD[what]

    with pytest.raises(TidemarkError, match=message):
        session.sql(sql).rows()


def test_a_not_null_column_is_not_checked_in_rows_that_are_filtered_out(session):
    insert = "INSERT INTO required SELECT CASE WHEN k = 0 THEN CAST(NULL AS INT) ELSE d END FROM t "

    session.sql(insert + "WHERE k = 1").job.wait()
    with pytest.raises(TidemarkError, match="column `n` of table `required` is NOT NULL"):
        session.sql(insert).job.wait()

    [row] = session.sql("SELECT n FROM required").rows()
    assert row == {"n": 2}
