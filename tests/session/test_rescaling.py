"""Jobs that resume with another number of shuffle partitions find the state of every key."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pytest

from tests.thorough import names

from .moving import MovingJob, Row

KEYS = range(24)
# So late that the watermark lets everything out.
PUSH = [(-1, 0, 3000)]


def rows(value: int, second: int) -> list[Row]:
    """A row of each key."""
    return [(k, value + k, second) for k in KEYS]


@dataclass
class Moved:
    """A query, and what comes out after rows have come before the move and after it."""

    query: str
    expected: dict[tuple[int, int], int] = field(default_factory=dict)
    before: dict[str, list[Row]] = field(default_factory=lambda: {"a": rows(100, 1)})
    after: dict[str, list[Row]] = field(default_factory=lambda: {"a": rows(200, 2)})


JOINED = {(100 + k, 200 + k): 1 for k in KEYS}
SUMS = {(k, 300 + 2 * k): 1 for k in KEYS}
A_THEN_B = {"before": {"a": rows(100, 2)}, "after": {"b": rows(200, 1)}}
WINDOWS = "TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"

KINDS = {
    "temporal join, versions first": Moved(
        "SELECT a.v, b.v FROM a LEFT JOIN b FOR SYSTEM_TIME AS OF a.ts ON a.k = b.k WHERE a.k >= 0",
        JOINED,
        {"b": rows(200, 1)},
        {"a": rows(100, 2)},
    ),
    "temporal join, rows first": Moved(
        "SELECT a.v, b.v FROM a LEFT JOIN b FOR SYSTEM_TIME AS OF a.ts ON a.k = b.k WHERE a.k >= 0",
        JOINED,
        **A_THEN_B,
    ),
    "interval join": Moved(
        "SELECT a.v, b.v FROM a JOIN b ON a.k = b.k WHERE a.k >= 0"
        " AND b.ts BETWEEN a.ts - INTERVAL '5' SECOND AND a.ts",
        JOINED,
        **A_THEN_B,
    ),
    "regular join": Moved(
        "SELECT a.v, b.v FROM a LEFT JOIN b ON a.k = b.k WHERE a.k >= 0", JOINED, **A_THEN_B
    ),
    "window join": Moved(
        f"SELECT l.v, r.v FROM (SELECT * FROM {WINDOWS.format('a')}) l"
        f" JOIN (SELECT * FROM {WINDOWS.format('b')}) r ON l.k = r.k"
        " AND l.window_start = r.window_start AND l.window_end = r.window_end WHERE l.k >= 0",
        JOINED,
        **A_THEN_B,
    ),
    "window aggregate": Moved(
        f"SELECT k, SUM(v) FROM {WINDOWS.format('a')} WHERE k >= 0"
        " GROUP BY k, window_start, window_end",
        SUMS,
    ),
    "sessions": Moved(
        "SELECT k, SUM(v) FROM a WHERE k >= 0 GROUP BY k, SESSION(ts, INTERVAL '1' MINUTE)", SUMS
    ),
    "rows of sessions": Moved(
        "SELECT k, v FROM TABLE(SESSION(TABLE a PARTITION BY k, DESCRIPTOR(ts),"
        " INTERVAL '1' MINUTE)) WHERE k >= 0",
        {(k, v): 1 for k, v, _ in rows(100, 1) + rows(200, 2)},
    ),
    "group aggregate": Moved("SELECT k, SUM(v) FROM a WHERE k >= 0 GROUP BY k", SUMS),
    "window rank": Moved(
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k, window_start, window_end"
        f" ORDER BY v DESC) AS n FROM {WINDOWS.format('a')}) WHERE n = 1 AND k >= 0",
        {(k, 200 + k): 1 for k in KEYS},
    ),
    "last rows": Moved(
        "SELECT a.v, r.v FROM a JOIN (SELECT k, v, ts FROM (SELECT *, ROW_NUMBER() OVER"
        " (PARTITION BY k ORDER BY ts DESC) AS n FROM b) WHERE n = 1)"
        " FOR SYSTEM_TIME AS OF a.ts AS r ON a.k = r.k WHERE a.k >= 0",
        JOINED,
        {"b": rows(200, 1)},
        {"a": rows(100, 2)},
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    "kind", names(KINDS, often={"temporal join, rows first", "window aggregate", "group aggregate"})
)
def test_no_key_loses_its_state_when_a_job_moves(spark, tmp_path, kind):
    moved = KINDS[kind]
    job = MovingJob(spark, tmp_path, moved.query)

    job.step(partitions=2, **moved.before)
    job.step(partitions=3, **moved.after)
    out = job.step(partitions=1, a=PUSH, b=PUSH)

    assert out == Counter(moved.expected)
