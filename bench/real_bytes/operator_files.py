"""The payments and accounts that the queries of operators read: a hundred payments of each."""

from __future__ import annotations

import polars as pl

from bench.real_bytes.workload import SPAN_S
from bench.temporal_join_workload import ORDER_FACTOR, PRIME, START_MS

_PER_ACCOUNT = 100
_TURN_FACTOR = 7919
# Less than the time between two payments of an account, which therefore stay in order.
_JITTER_MS = SPAN_S * 1000 // _PER_ACCOUNT - 100


def _accounts(payments: int) -> int:
    return max(payments // _PER_ACCOUNT, 1)


def payments_of(payments: int) -> pl.DataFrame:
    n = pl.col("id")
    ms = n * (SPAN_S * 1000) // payments + n * ORDER_FACTOR % PRIME % _JITTER_MS + START_MS
    return pl.DataFrame({"id": pl.int_range(payments, dtype=pl.Int64, eager=True)}).select(
        n,
        (n * _TURN_FACTOR % _accounts(payments)).alias("account"),
        (n * ORDER_FACTOR % PRIME % 1000).alias("amount"),
        ms.cast(pl.Datetime("ms")).alias("ts"),
    )


def accounts_of(payments: int) -> pl.DataFrame:
    account = pl.int_range(_accounts(payments), dtype=pl.Int64, eager=True)
    return pl.DataFrame({"account": account}).select(
        "account",
        pl.format("account {}", "account").alias("name"),
        pl.lit(START_MS).cast(pl.Datetime("ms")).alias("ts"),
    )
