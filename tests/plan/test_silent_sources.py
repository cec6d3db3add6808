"""Of which silent tables a query is warned: those that an idle timeout does not make idle."""

from __future__ import annotations

import pytest

from tidemark.session.workspace import Workspace

TABLES = """
CREATE TABLE orders (k INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'kafka', 'topic' = 'orders', 'format' = 'json',
  'properties.bootstrap.servers' = 'b:9092', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE files (k INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '{folder}', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE at_rest (k INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '{folder}', 'format' = 'json');
SET 'table.exec.source.idle-timeout' = '{timeout}';
"""
PAIRS = """
SELECT a.k FROM {left} AS a JOIN {right} AS b
ON a.k = b.k AND a.ts BETWEEN b.ts - INTERVAL '1' MINUTE AND b.ts
"""


@pytest.mark.parametrize(
    ("left", "right", "timeout", "named"),
    [
        ("orders", "files", "10 s", ["`files`"]),
        ("files", "orders", "10 s", ["`files`"]),
        ("orders", "files", "0 ms", []),
        ("orders", "at_rest", "10 s", []),
        ("orders", "orders", "10 s", []),
        ("files", "files", "10 s", []),
    ],
)
def test_a_folder_that_holds_back_others_is_named(left, right, timeout, named, tmp_path):
    script = TABLES.format(folder=tmp_path, timeout=timeout) + PAIRS.format(left=left, right=right)
    *_, planned = Workspace().plan_script(script)
    assert planned.plan is not None

    warnings = [text for text in planned.plan.warnings if "idle-timeout" in text]
    assert [text.split(" to ")[1].split(",")[0] for text in warnings] == named
