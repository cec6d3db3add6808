"""Aggregates that nothing reads are not computed, as in Flink: their changes would be emitted."""

from __future__ import annotations

import pytest

from tests.plan.marked import root, world
from tidemark.plan.nodes import GroupAggregate, WindowAggregate, walk

DDL = """
CREATE TABLE ev (k STRING, x INT, y INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'fake');
CREATE VIEW grouped AS SELECT k, COUNT(*) AS n, SUM(x) AS s, MAX(y) AS m FROM ev GROUP BY k;
CREATE VIEW total AS SELECT COUNT(*) AS n, SUM(x) AS s FROM ev;
CREATE VIEW windowed AS SELECT k, window_start, COUNT(*) AS n, SUM(x) AS s
  FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end;
"""


@pytest.mark.parametrize(
    ("query", "computed", "read"),
    [
        ("SELECT k, m FROM grouped", ["MAX(y)"], ["k", "y"]),
        ("SELECT n, s FROM grouped", ["COUNT(*)", "SUM(x)"], ["k", "x"]),
        ("SELECT k FROM grouped", [], ["k"]),
        ("SELECT k FROM grouped WHERE s > 1", ["SUM(x)"], ["k", "x"]),
        ("SELECT COUNT(*) FROM grouped", [], ["k"]),
        ("SELECT s FROM total", ["SUM(x)"], ["x"]),
        ("SELECT 1 FROM total", ["COUNT(*)"], []),
        ("SELECT k, s FROM windowed", ["SUM(x)"], ["k", "x", "ts"]),
        ("SELECT window_start FROM windowed", [], ["k", "ts"]),
    ],
)
def test_only_what_is_read_is_computed(query, computed, read):
    nodes = walk(root(query, world(DDL)))
    node = [n for n in nodes if isinstance(n, GroupAggregate | WindowAggregate)][-1]

    names = node.input.edge.names
    assert [call.words(names) for call in node.calls] == computed
    assert [*names] == read
