"""Joins of a batch whose small side each worker loads: the same rows as with an exchange."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import tidemark
from tidemark import Session
from tidemark.errors import DataError

THRESHOLD = "SET 'table.optimizer.join.broadcast-threshold' = '{}'"
# One row of no key, two of one key, one of a key that no other row has.
NAMES = ["0,zero", "1,one", "1,uno", "3,", ",nobody", "9,nine"]
EQUAL, TESTED = "p.k = a.k", "p.k = a.k AND p.n > 4 + CHAR_LENGTH(a.name)"


@pytest.fixture
def session(spark, tmp_path: Path) -> Iterator[Session]:
    (tmp_path / "names.csv").write_text("\n".join(NAMES))
    (tmp_path / "numbers.csv").write_text("\n".join(f"{n},{n % 5 or ''}" for n in range(12)))
    files = "WITH ('connector' = 'filesystem', 'format' = 'csv', 'csv.null-literal' = '', 'path' = "
    session = tidemark.connect(spark)
    session.sql(
        f"""SET 'execution.runtime-mode' = 'batch';
        CREATE TABLE names (k INT, name STRING) {files} '{tmp_path}/names.csv');
        CREATE TABLE of_files (n INT, k INT) {files} '{tmp_path}/numbers.csv');
        CREATE TABLE made (n INT, k AS NULLIF(n % 5, 0)) WITH ('connector' = 'datagen',
          'fields.n.kind' = 'sequence', 'fields.n.start' = '0', 'fields.n.end' = '11');
        CREATE VIEW few AS SELECT k, UPPER(name) AS name FROM names WHERE name <> 'nine'"""
    )
    yield session
    session.stop()


def rows(session: Session, sql: str, threshold: int) -> tuple[list[tuple[object, ...]], bool]:
    """What a query emits, and whether there is an exchange."""
    session.sql(THRESHOLD.format(threshold))
    result = session.sql(sql)
    found = sorted((tuple(row.values()) for row in result.rows()), key=str)
    return found, bool(result.job.progress().operators)


@pytest.mark.parametrize("on", [EQUAL, TESTED])
@pytest.mark.parametrize(
    ("how", "left", "right"),
    [
        ("INNER", "made AS p", "names AS a"),
        ("INNER", "few AS a", "of_files AS p"),
        ("LEFT", "of_files AS p", "few AS a"),
        ("RIGHT", "names AS a", "made AS p"),
    ],
)
def test_rows_are_those_of_an_exchange(session, how, left, right, on):
    sql = f"SELECT p.n, p.k, a.k AS `of`, a.name FROM {left} {how} JOIN {right} ON {on}"

    exchanged, loaded = rows(session, sql, -1), rows(session, sql, 1000)

    assert exchanged == (loaded[0], True)
    assert not loaded[1]
    assert len(loaded[0]) >= (12 if how in ("LEFT", "RIGHT") else 2)


@pytest.mark.thorough
def test_what_is_joined_goes_on_to_an_operator(session):
    sql = """SELECT name, SUM(n), COUNT(*) FROM made AS p JOIN names AS a ON p.k = a.k
        JOIN of_files USING (n) GROUP BY name"""

    assert rows(session, sql, 1000) == rows(session, sql, -1)


def test_a_bad_record_of_the_small_side_is_named(session, tmp_path):
    (tmp_path / "names.csv").write_text("1,one\nx,y")

    with pytest.raises(tidemark.TidemarkError, match=r"names\.csv:2"):
        rows(session, "SELECT n, name FROM made AS p JOIN names AS a ON p.k = a.k", 1000)


@pytest.mark.parametrize("threshold", [-1, 1000])
def test_a_file_that_is_not_parquet_is_named(session, tmp_path, threshold):
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 but nothing else PAR1")
    session.sql(
        f"""CREATE TABLE bad (k INT, name STRING) WITH ('connector' = 'filesystem',
          'path' = '{tmp_path}/bad.parquet', 'format' = 'parquet')"""
    )
    sql = "SELECT n, name FROM made AS p LEFT JOIN bad AS a ON p.k = a.k"

    [explained] = session.sql(f"EXPLAIN {sql}").rows()
    assert "RegularJoin" in explained["result"]
    with pytest.raises(DataError, match=r"bad\.parquet  cannot read the file"):
        rows(session, sql, threshold)
