"""Projections above a join that only pick and rename its columns: the join gives just these."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

import tidemark

JOIN = """FROM l {how} JOIN r ON l.k = r.k
    AND r.ts BETWEEN l.ts - INTERVAL '1' SECOND AND l.ts + INTERVAL '1' SECOND"""


@pytest.fixture
def session(spark: SparkSession) -> Iterator[tidemark.Session]:
    with tidemark.connect(spark) as session:
        for side, offset in (("l", 0), ("r", 100)):
            rows = spark.range(2).selectExpr(
                "id AS k", f"{offset} + id AS v", "timestamp_millis(id * 1000) AS ts"
            )
            session.register(side, rows, watermark="ts")
        yield session


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ("r.v, l.v", [(100, 0), (101, 1)]),
        ("r.v AS k, l.k AS v", [(100, 0), (101, 1)]),
        ("l.v, l.v AS again", [(0, 0), (1, 1)]),
        ("l.v + r.v AS total, l.k", [(100, 0), (102, 1)]),
        ("1 AS first_one", [(1,), (1,)]),
    ],
)
def test_columns_keep_their_order_and_names(
    session: tidemark.Session, select: str, expected: list[tuple[int, ...]]
) -> None:
    rows = session.sql(f"SELECT {select} {JOIN.format(how='')}").rows()

    assert sorted(tuple(row.values()) for row in rows) == expected
    names = [part.split()[-1].split(".")[-1] for part in select.split(", ")]
    assert all(len(row) == len(names) for row in rows)
    if len({*names}) == len(names):
        assert all(list(row) == names for row in rows)


def test_rows_are_not_copied_for_it(
    session: tidemark.Session, capsys: pytest.CaptureFixture[str]
) -> None:
    joined = session.sql(f"SELECT r.v AS b, l.v AS a {JOIN.format(how='LEFT')}").to_dataframe()

    joined.explain()

    _, *plan = capsys.readouterr().out.splitlines()
    top = next(line for line in plan if not line.startswith("AdaptiveSparkPlan"))
    assert "MapInArrow Unpack" in top and "[b#" in top, top
