"""Without Spark, a table of which an operator gets several inputs is read block by block, once."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import tidemark
from tidemark.connectors.filesystem import files_columns
from tidemark.formats.json import JsonDecoder
from tidemark.local.read_once import in_turns

SELF = "SELECT a.id, b.v FROM t AS a JOIN t AS b ON a.id = b.id + 1"
NOTHING = "SELECT a.id, b.v FROM t AS a LEFT JOIN (SELECT * FROM t WHERE v < 0) AS b ON a.id = b.id"
# The table is also read for the sums, by another operator.
SUMS = "SELECT a.id, b.v, c.s FROM t AS a JOIN t AS b ON a.id = b.id + 1 JOIN (SELECT SUM(v) AS s FROM t) AS c ON TRUE"
SUMS_FIRST = "SELECT a.id, c.s FROM (SELECT id, SUM(v) AS s FROM t GROUP BY id) AS c JOIN t AS a ON a.id = c.id"


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tidemark.Session:
    monkeypatch.setattr(files_columns, "BLOCK", 1_000)
    lines = [json.dumps({"id": i, "v": i * 7 % 11, "note": "x" * 50}) for i in range(500)]
    (tmp_path / "t.json").write_text("\n".join(lines))
    session = tidemark.connect(engine="local")
    session.sql(
        f"CREATE TABLE t (id INT, v INT, note STRING) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}',"
        " 'format' = 'json')"
    )
    return session


@pytest.mark.parametrize(
    ("query", "times", "rows"),
    [
        (SELF, 1, [(i, (i - 1) * 7 % 11) for i in range(1, 500)]),
        (NOTHING, 1, [(i, None) for i in range(500)]),
        (SUMS, 2, [(i, (i - 1) * 7 % 11, sum(n * 7 % 11 for n in range(500))) for i in range(1, 500)]),
        (SUMS_FIRST, 2, [(i, i * 7 % 11) for i in range(500)]),
    ],
    ids=("with itself", "without rows", "next to another operator", "behind another operator"),
)  # fmt: skip
def test_a_table_is_read_once(
    session: tidemark.Session, monkeypatch: pytest.MonkeyPatch, query: str, times: int, rows: Any
) -> None:
    decode, blocks = JsonDecoder.__call__, count()

    def counted(self: JsonDecoder, *args: Any, **kwargs: Any) -> Any:
        next(blocks)
        return decode(self, *args, **kwargs)

    expected_once = len(list(session.sql("SELECT * FROM t").rows())) * 80 // 1_000
    monkeypatch.setattr(JsonDecoder, "__call__", counted)

    found = sorted(tuple(row.values()) for row in session.sql(query).rows())

    assert found == rows
    assert expected_once * times * 0.7 < next(blocks) < expected_once * times * 1.3


def test_nothing_gets_far_ahead() -> None:
    seen: list[tuple[str, int]] = []

    def items(name: str, number: int) -> Any:
        for place in range(number):
            seen.append((name, place))
            yield name, place

    assert len(list(in_turns([items("a", 3), items("b", 1), items("c", 2)]))) == 6
    assert seen == [("a", 0), ("b", 0), ("c", 0), ("a", 1), ("c", 1), ("a", 2)]
