"""The queries that are measured, and how many times Flink's rate is wanted of each.

Only the standard library is imported here, so that the interpreter with Flink can load it too.
"""

from __future__ import annotations

from dataclasses import replace

from bench.real_bytes.query import Query, Wanted

_AS_READ = Wanted(warm=2.0, cold=1.0)


def _windows(windows: str) -> str:
    return (
        "SELECT account, window_start, window_end, COUNT(*) AS n, SUM(amount) AS total\n"
        f"FROM TABLE({windows})\n"
        "GROUP BY account, window_start, window_end"
    )


_WINDOW_COLUMNS = (
    "account BIGINT, window_start TIMESTAMP(3), window_end TIMESTAMP(3), n BIGINT, total BIGINT"
)

_TEMPORAL_JOIN = Query(
    "SELECT o.id, o.amount * r.rate AS converted, o.ts\n"
    "FROM orders AS o JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.account = r.account",
    "id BIGINT, converted BIGINT, ts TIMESTAMP(3)",
    tables=("orders", "rates"),
    flink_batch=False,
)

QUERIES = {
    "scan": Query(
        "SELECT id, amount FROM orders WHERE amount > 500",
        "id BIGINT, amount BIGINT",
        wanted=_AS_READ,
    ),
    "copy": Query(
        "SELECT id, account, amount * 2 + 1 AS doubled, UPPER(status) AS status, ts\n"
        "FROM orders WHERE status <> 'returned'",
        "id BIGINT, account BIGINT, doubled BIGINT, status STRING, ts TIMESTAMP(3)",
        wanted=_AS_READ,
        written=True,
    ),
    "tumbling": Query(
        _windows("TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' SECOND)"), _WINDOW_COLUMNS
    ),
    "sliding": Query(
        _windows("HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '10' SECOND)"),
        _WINDOW_COLUMNS,
    ),
    "session": Query(
        _windows(
            "SESSION(TABLE orders PARTITION BY account, DESCRIPTOR(ts), INTERVAL '10' SECOND)"
        ),
        _WINDOW_COLUMNS,
        flink_batch=False,
    ),
    "temporal-join": _TEMPORAL_JOIN,
    "temporal-join-events": replace(_TEMPORAL_JOIN, events=True),
    "interval-join": Query(
        "SELECT o.id, o.amount * r.rate AS converted, o.ts, r.ts AS since\n"
        "FROM orders AS o JOIN rates AS r ON o.account = r.account\n"
        "AND r.ts BETWEEN o.ts - INTERVAL '10' SECOND AND o.ts",
        "id BIGINT, converted BIGINT, ts TIMESTAMP(3), since TIMESTAMP(3)",
        tables=("orders", "rates"),
    ),
}
