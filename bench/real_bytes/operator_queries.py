"""One query for each operator whose speed is measured over many rows of many keys.

Only the standard library is imported here, so that the interpreter with Flink can load it too.
"""

from __future__ import annotations

from dataclasses import replace

from bench.real_bytes.query import Query, Wanted

_WANTED = Wanted(warm=3.0)


def _over(frame: str) -> Query:
    return Query(
        "SELECT id, account, SUM(amount) OVER w AS total, COUNT(*) OVER w AS n\n"
        f"FROM payments WINDOW w AS (PARTITION BY account ORDER BY ts {frame})",
        "id BIGINT, account BIGINT, total BIGINT, n BIGINT",
        tables=("payments",),
        wanted=_WANTED,
    )


def _ranks(order: str, most: int, *, updating: bool = True) -> Query:
    return Query(
        "SELECT id, account, amount, ts FROM (\n"
        f"  SELECT *, ROW_NUMBER() OVER (PARTITION BY account ORDER BY {order}) AS place\n"
        f"  FROM payments) WHERE place <= {most}",
        "id BIGINT, account BIGINT, amount BIGINT, ts TIMESTAMP(3)",
        tables=("payments",),
        wanted=_WANTED,
        updating=updating,
    )


_GROUP_BY = Query(
    "SELECT account, COUNT(*) AS n, SUM(amount) AS total, MIN(amount) AS low,\n"
    "  MAX(amount) AS high FROM payments GROUP BY account",
    "account BIGINT, n BIGINT, total BIGINT, low BIGINT, high BIGINT",
    tables=("payments",),
    wanted=_WANTED,
    updating=True,
)

QUERIES = {
    "over-rows": _over("ROWS BETWEEN 9 PRECEDING AND CURRENT ROW"),
    # In batch mode, the code that Flink generates for a range of times does not compile.
    "over-range": replace(
        _over("RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW"), flink_batch=False
    ),
    "over-unbounded": _over("ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"),
    "top-n": _ranks("amount DESC, id", 3),
    "first-row": _ranks("ts", 1, updating=False),
    "last-row": _ranks("ts DESC", 1),
    "regular-join": replace(
        _GROUP_BY,
        text="SELECT p.id, a.name, p.amount FROM payments AS p JOIN accounts AS a\n"
        "ON p.account = a.account",
        columns="id BIGINT, name STRING, amount BIGINT",
        tables=("payments", "accounts"),
        updating=False,
    ),
    "group-by": _GROUP_BY,
    "extremes-of-counts": replace(
        _GROUP_BY,
        text="SELECT place, MAX(n) AS most, MIN(n) AS least FROM (\n"
        "  SELECT MOD(account, 100) AS place, account, COUNT(*) AS n\n"
        "  FROM payments GROUP BY account) GROUP BY place",
        columns="place BIGINT, most BIGINT, least BIGINT",
    ),
    "group-by-distinct": replace(
        _GROUP_BY,
        text="SELECT MOD(account, 100) AS place, COUNT(DISTINCT amount) AS n,\n"
        "  SUM(DISTINCT amount) FILTER (WHERE account > 50000) AS total\n"
        "FROM payments GROUP BY MOD(account, 100)",
        columns="place BIGINT, n BIGINT, total BIGINT",
    ),
}
