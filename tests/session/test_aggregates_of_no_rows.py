"""An aggregate without GROUP BY has a row in batch mode even for no rows, as seen in Flink 2.3."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import tidemark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NO_ROWS = pa.table({"n": pa.array([], pa.int32()), "s": pa.array([], pa.string())})

ROWS_OF_NONE: dict[str, list[tuple[Any, ...]]] = {
    "SELECT COUNT(*), COUNT(n), SUM(n), MAX(s), COUNT(DISTINCT s) FROM t": [(0, 0, None, None, 0)],
    "SELECT COUNT(*) FILTER (WHERE n > 1), JSON_ARRAYAGG(s) FROM t": [(0, "[]")],
    "SELECT MAX(n) FROM t": [(None,)],
    "SELECT COUNT(*) + 1 FROM t HAVING COUNT(*) = 0": [(1,)],
    "SELECT 'none' FROM t HAVING COUNT(*) < 1": [("none",)],
    "SELECT COUNT(*) FROM t GROUP BY ()": [(0,)],
    "SELECT COUNT(*), MAX(c) FROM (SELECT COUNT(*) AS c FROM t)": [(1, 0)],
    "SELECT COUNT(*) FROM (SELECT n FROM t WHERE 1 = 0 UNION ALL SELECT n FROM t)": [(0,)],
    "SELECT (SELECT COUNT(*) FROM t), (SELECT MAX(n) FROM t) FROM (VALUES 1) AS v (x)": [(0, None)],
    "SELECT x FROM (VALUES 1) AS v (x) WHERE x > (SELECT COUNT(*) FROM t)": [(1,)],
    "SELECT x FROM (VALUES 1) AS v (x) WHERE EXISTS (SELECT MAX(n) FROM t)": [(1,)],
    "SELECT n, COUNT(*) FROM t GROUP BY n": [],
    "SELECT n, COUNT(*) FROM t GROUP BY ROLLUP (n)": [],
    "SELECT COUNT(*) FROM t HAVING COUNT(*) > 0": [],
}


@pytest.fixture
def session() -> Iterator[tidemark.Session]:
    with tidemark.connect(engine="local") as session:
        session.sql("SET 'execution.runtime-mode' = 'batch'")
        session.register("t", NO_ROWS)
        yield session


def rows(session: tidemark.Session, query: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in session.sql(query).to_arrow().to_pylist()]


@pytest.mark.parametrize("query", ROWS_OF_NONE)
def test_a_batch_has_a_row(query: str, session: tidemark.Session):
    assert rows(session, query) == ROWS_OF_NONE[query]


def test_a_stream_has_none(session: tidemark.Session):
    session.sql("SET 'execution.runtime-mode' = 'streaming'")

    assert rows(session, "SELECT COUNT(*) FROM t") == []


class Total:
    """Begins with 100."""

    def create_accumulator(self) -> list[int]:
        return [100]

    def accumulate(self, accumulator: list[int], value: int) -> None:
        accumulator[0] += value

    def get_value(self, accumulator: list[int]) -> int:
        return accumulator[0]


class Mean(Total):
    def get_value(self, accumulator: list[int]) -> int:
        return 1 // (accumulator[0] - 100)


class Wrong(Total):
    def get_value(self, accumulator: list[int]) -> str:  # type: ignore[override]
        return "no number"


def test_a_function_of_python_has_the_value_of_a_new_accumulator(session: tidemark.Session):
    session.create_aggregate_function("total", Total(), parameters=["INT"], returns="INT")
    session.create_aggregate_function("mean", Mean(), parameters=["INT"], returns="INT")

    session.create_aggregate_function("wrong", Wrong(), parameters=["INT"], returns="INT")

    assert rows(session, "SELECT total(n), mean(n), wrong(n) FROM t") == [(100, None, None)]


def test_a_row_of_rows_is_as_before(session: tidemark.Session):
    session.register("two_rows", pa.table({"n": [1, 2]}))

    assert rows(session, "SELECT COUNT(*), SUM(n) FROM two_rows") == [(2, 3)]
    assert rows(session, "SELECT b FROM (SELECT SUM(n) AS a, COUNT(*) AS b FROM two_rows)") == [
        (2,)
    ]


def test_spark_has_the_same_rows(spark: SparkSession):
    queries = [*ROWS_OF_NONE][:3]
    with tidemark.connect(spark) as session:
        session.sql("SET 'execution.runtime-mode' = 'batch'")
        session.register("t", NO_ROWS)
        session.register("two_rows", pa.table({"n": [1, 2]}))
        found = [rows(session, query) for query in queries]
        some = rows(session, "SELECT COUNT(*), SUM(n) FROM two_rows")

    assert found == [ROWS_OF_NONE[query] for query in queries]
    assert some == [(2, 3)]
