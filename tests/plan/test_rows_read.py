"""Which fields of rows a plan reads."""

from __future__ import annotations

import pytest

import tidemark
from tidemark.plan.nodes import Scan, walk

TABLE = """CREATE TABLE events (
  id INT,
  r ROW<a INT, b STRING, `in` ROW<x INT, y STRING>>,
  s ROW<`at` TIMESTAMP(3), note STRING>,
  ts AS s.`at`,
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'json')"""


@pytest.fixture(scope="module")
def session() -> tidemark.Session:
    session = tidemark.connect(engine="local")
    session.sql(TABLE)
    session.sql("CREATE VIEW named AS SELECT id, r.a, r.b, r, ts FROM events WHERE r.a > 1")
    return session


def rows_read(session: tidemark.Session, query: str) -> list[dict[str, str]]:
    *_, planned = session.workspace.plan_script(query, "test.sql")
    assert planned.plan is not None
    scans = [node for node in walk(planned.plan.roots[0]) if isinstance(node, Scan)]
    return [{name: type_.text() for name, type_ in scan.rows_read} for scan in scans]


S = "ROW<`at` TIMESTAMP(3)>"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT r.a FROM events", {"r": "ROW<`a` INT>", "s": S}),
        ("SELECT b FROM named", {"r": "ROW<`a` INT, `b` STRING>", "s": S}),
        ("SELECT r.`in`.y FROM named", {"r": "ROW<`a` INT, `in` ROW<`y` STRING>>", "s": S}),
        (
            "SELECT r.`in`.y, r.`in` FROM named",
            {"r": "ROW<`a` INT, `in` ROW<`x` INT, `y` STRING>>", "s": S},
        ),
        ("SELECT r FROM named", {"s": S}),
        ("SELECT r.a FROM events WHERE r IS NOT NULL", {"s": S}),
        ("SELECT r.a FROM events WHERE s.note LIKE '%x'", {"r": "ROW<`a` INT>"}),
        ("SELECT COALESCE(r.b, 'none') AS b FROM events", {"r": "ROW<`b` STRING>", "s": S}),
        ("SELECT DISTINCT r FROM named", {"s": S}),
        ("SELECT r.b, COUNT(*) AS n FROM events GROUP BY r.b", {"r": "ROW<`b` STRING>", "s": S}),
    ],
)
def test_only_the_fields_that_a_query_uses_are_read(
    session: tidemark.Session, query: str, expected: dict[str, str]
):
    assert rows_read(session, query) == [expected]


def test_each_branch_reads_what_it_uses(session: tidemark.Session):
    query = "SELECT l.a FROM named AS l JOIN events AS r ON l.b = r.r.b AND l.id < r.id"

    assert rows_read(session, query) == [
        {"r": "ROW<`a` INT, `b` STRING>", "s": S},
        {"r": "ROW<`b` STRING>", "s": S},
    ]
