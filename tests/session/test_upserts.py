"""Upserts on real Spark: a registered DataFrame whose updates come without the rows they replace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

import tidemark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UPSERTS = "users /*+ OPTIONS('changelog-mode' = 'upsert') */"
ROWS = [
    (1, "a", 10, "+I"),
    (2, "a", 20, "+I"),
    (1, "b", 5, "+U"),
    (3, "b", 30, "+U"),  # the first row of its key, whatever it says
    (3, "b", 30, "+U"),
    (9, None, None, "-D"),
    (2, None, None, "-D"),  # nothing but the key
    (3, "b", 7, "+U"),
]


@pytest.fixture
def session(spark: SparkSession) -> Iterator[tidemark.Session]:
    session = tidemark.connect(spark)
    frame = spark.createDataFrame(ROWS, "id INT, k STRING, v INT, op STRING").coalesce(1)
    session.register("users", frame, primary_key=["id"], row_kind="op")
    teams = spark.createDataFrame([("a", "ants"), ("b", "bees")], "k STRING, team STRING")
    session.register("teams", teams)
    yield session
    session.stop()


def test_a_filter_takes_back_a_row_whose_update_does_not_pass(session: tidemark.Session):
    result = session.sql(f"SELECT id, v FROM {UPSERTS} WHERE v > 8")

    changes = [(c.kind, c.row["id"], c.row["v"]) for c in result.changes()]
    assert [change for change in changes if change[1] == 1] == [("+I", 1, 10), ("-D", 1, 10)]
    assert [change for change in changes if change[1] == 2] == [("+I", 2, 20), ("-D", 2, 20)]
    assert [change for change in changes if change[1] == 3] == [("+I", 3, 30), ("-D", 3, 30)]


def test_changes_as_rows_have_the_rows_that_are_replaced(session: tidemark.Session):
    changes = f"TO_CHANGELOG(input => (SELECT id, k, v FROM {UPSERTS}))"
    result = session.sql(f"SELECT op, id FROM {changes} WHERE v > 8")

    # A filter above is one of rows: it deletes none.
    assert sorted((row["op"], row["id"]) for row in result.rows()) == [
        ("DELETE", 2),
        ("INSERT", 1),
        ("INSERT", 2),
        ("INSERT", 3),
        ("UPDATE_BEFORE", 1),
        ("UPDATE_BEFORE", 3),
    ]


def test_joined_and_grouped_rows_are_those_that_are_left(session: tidemark.Session):
    result = session.sql(
        f"SELECT team, COUNT(*) AS n, SUM(v) AS total FROM {UPSERTS} JOIN teams USING (k) "
        "GROUP BY team"
    )

    assert result.rows() == [{"team": "bees", "n": 2, "total": 12}]


def test_a_result_with_the_key_keeps_the_last_row_of_each(session: tidemark.Session):
    result = session.sql(f"SELECT v, id FROM {UPSERTS}")

    assert sorted((row["id"], row["v"]) for row in result.rows()) == [(1, 5), (3, 7)]
