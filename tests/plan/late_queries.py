"""Queries that drop late rows, beside INSERTs that read these."""

from __future__ import annotations

from tests.plan.marked import plan
from tests.plan.test_late_rows import LATE, MEET, TUMBLE, WINDOWS
from tidemark.plan.nodes import Node, walk
from tidemark.plan.planner import Plan

TOP = (
    "SELECT k, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k "
    f"ORDER BY i) AS rn FROM {WINDOWS.format('s')}) WHERE rn <= 3"
)
NEAR = (
    "SELECT l.k, 1 FROM o AS l JOIN s AS r "
    "ON l.k = r.k AND l.ts BETWEEN r.ts - INTERVAL '5' SECOND AND r.ts"
)
VERSIONED = (
    "SELECT l.k, 1 FROM s AS l LEFT JOIN versions FOR SYSTEM_TIME AS OF l.ts AS v ON l.i = v.id"
)
FIRST = (
    "SELECT k, i FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS rn FROM s) "
    "WHERE rn = 1"
)
SESSIONS = (
    "SELECT k, i FROM TABLE(SESSION(TABLE s PARTITION BY c, DESCRIPTOR(ts), INTERVAL '5' SECOND))"
)


HOPPING, CUMULATING = (
    MEET.replace("TUMBLE(", f"{windows}(").replace(
        "INTERVAL '10'", "INTERVAL '2' SECOND, INTERVAL '10'"
    )
    for windows in ("HOP", "CUMULATE")
)
DOUBLE = (
    "SELECT 'all', SUM(n) FROM (SELECT window_time AS ts, COUNT(*) AS n FROM "
    f"{WINDOWS.format('s')} GROUP BY window_start, window_end, window_time) "
    "GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)"
)
COUNTED = (
    "SELECT k, window_start, window_end, COUNT(*) AS n "
    f"FROM {WINDOWS.format('s')} GROUP BY k, window_start, window_end"
)
BEST = (
    "SELECT k, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end "
    f"ORDER BY n DESC) AS rn FROM ({COUNTED}) WHERE n > 1) WHERE rn <= 3"
)
MIXED = (
    "SELECT k, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end "
    "ORDER BY n) AS rn FROM TABLE(HOP(TABLE {}, DESCRIPTOR(ts), "
    "INTERVAL '5' SECOND, INTERVAL '10' SECOND))) WHERE rn <= 3"
)
TWICE_THERE = (
    f"SELECT a.k, a.n FROM ({COUNTED}) AS a JOIN ({COUNTED}) AS b ON a.k = b.k "
    "AND a.window_start = b.window_start AND a.window_end = b.window_end"
)
BOTH_COUNTED = TWICE_THERE.replace(
    f"({COUNTED}) AS b", f"({COUNTED.replace('TABLE s', 'TABLE o')}) AS b"
)
PLACED = (
    "SELECT l.k, 1 FROM placed AS l JOIN placed AS r ON l.k = r.k "
    "AND l.window_start = r.window_start AND l.window_end = r.window_end"
)
SEVERAL = TOP.replace("TUMBLE(", "{}(").replace(
    "INTERVAL '10'", "INTERVAL '2' SECOND, INTERVAL '10'"
)
SETS = (
    f"SELECT k, COUNT(*) FROM {WINDOWS.format('s')} "
    "GROUP BY window_start, window_end, GROUPING SETS ((k, c), (k), ())"
)
UNITED_VIEW = "CREATE VIEW united AS SELECT k, 1 AS i, ts FROM o UNION ALL SELECT k, i, ts FROM s"
UNITED = TOP.replace("TABLE s", "TABLE united")
UNION = TUMBLE.replace("FROM s", "FROM (SELECT k, ts FROM o UNION ALL SELECT k, ts FROM s)")


def together(tables, *inserts: str) -> Plan:
    return plan(f"EXECUTE STATEMENT SET BEGIN {'; '.join(inserts)}; END", tables)


def beside(tables, *queries: str, late: str = LATE) -> Plan:
    """An INSERT of late rows, and the queries that drop some."""
    return together(
        tables, f"INSERT INTO lates {late}", *(f"INSERT INTO counts {query}" for query in queries)
    )


def found(root: Node, kind: type) -> list[Node]:
    return [node for node in walk(root) if isinstance(node, kind)]
