"""Rows are the same whether filters are tested before operators or after them."""

from __future__ import annotations

import random
from collections import Counter

import pytest

import tidemark
from tidemark.plan import planner

_RANKED = "(SELECT *, ROW_NUMBER() OVER (PARTITION BY {by}) AS n FROM {table})"
TABLES = {
    "totals": "(SELECT k, v, COUNT(*) AS n FROM l GROUP BY k, v)",
    "totals of changes": "(SELECT k, n AS v, COUNT(*) AS n FROM (SELECT k, v, COUNT(*) AS n FROM l"
    " GROUP BY k, v) GROUP BY k, n)",
    "sets": "(SELECT k, v, COUNT(*) AS n FROM l GROUP BY CUBE(k, v))",
    "distinct": "(SELECT DISTINCT k, v, 1 AS n FROM l)",
    "newest": f"(SELECT k, v, n FROM {_RANKED.format(by='k ORDER BY ts DESC', table='l')} WHERE n = 1)",
    "best": f"(SELECT k, v, n FROM {_RANKED.format(by='k ORDER BY v, ts', table='l')} WHERE n <= 2)",
    "union": "(SELECT k, v, COUNT(*) AS n FROM l GROUP BY k, v UNION ALL SELECT k, v, 0 FROM r)",
    "semi": "(SELECT k, v, 1 AS n FROM l WHERE k IN (SELECT k FROM r WHERE v > 0))",
    "anti": "(SELECT k, v, 1 AS n FROM l WHERE v NOT IN (SELECT v FROM r WHERE r.k = l.k))",
    "intersect": "(SELECT k, v, 1 AS n FROM l INTERSECT SELECT k, v, 1 FROM r)",
    "except": "(SELECT k, v, 1 AS n FROM l EXCEPT ALL SELECT k, v, 1 FROM r)",
    "joined": "(SELECT l.k, r.v, t.n FROM l LEFT JOIN r ON l.k = r.k AND r.v > 0 JOIN (SELECT k,"
    " COUNT(*) AS n FROM l GROUP BY k) AS t ON t.k = l.k)",
}
FILTERS = (
    "k = 'a' AND n > 1",
    "v > 1 OR k IS NULL",
    "UPPER(k) IN ('A', 'C') AND v + n > 1",
)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> tidemark.Session:
    folder, chosen = tmp_path_factory.mktemp("early"), random.Random(5)
    session = tidemark.connect(engine="local")
    for name, count in (("l", 60), ("r", 25)):
        rows = (
            f"{chosen.choice(['a', 'b', 'c', ''])},{chosen.choice([0, 1, 2, 3, ''])},"
            f"2024-05-06 10:00:{second:02}\n"
            for second in range(count)
        )
        path = folder / f"{name}.csv"
        path.write_text("".join(rows))
        session.sql(
            f"CREATE TABLE {name} (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH"
            f" ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv',"
            " 'csv.null-literal' = '')"
        )
    return session


@pytest.mark.parametrize("mode", ["streaming", pytest.param("batch", marks=pytest.mark.thorough)])
@pytest.mark.parametrize("table", TABLES)
def test_rows_are_those_of_filters_above(
    session: tidemark.Session, table: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.sql(f"SET 'execution.runtime-mode' = '{mode}'")
    queries = [f"SELECT k, v, n FROM {TABLES[table]} AS t WHERE {each}" for each in FILTERS]
    early = [rows_of(session, query) for query in queries]
    monkeypatch.setattr(planner, "with_early_filters", lambda root, only=None: root)

    assert any(early)
    assert early == [rows_of(session, query) for query in queries]


def rows_of(session: tidemark.Session, query: str) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row.values()) for row in session.sql(query).rows())
