"""The tables of the queries, as they are declared.

Only the standard library is imported here, so that the interpreter with Flink can load it too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bench.real_bytes import nexmark_queries


@dataclass(frozen=True)
class Table:
    """The columns of a table, its event time, further parts of its schema, and views of it."""

    columns: str
    time: str = "ts"
    key: str = ""
    views: tuple[str, ...] = ()

    def schema(self, delay_s: int) -> str:
        """What is in the parentheses of CREATE TABLE."""
        watermark = f"WATERMARK FOR {self.time} AS {self.time} - INTERVAL '{delay_s}' SECOND"
        return f"{self.columns},\n  {watermark}{self.key}"


_ACCOUNT_KEY = ", PRIMARY KEY (account) NOT ENFORCED"

TABLES = {
    "orders": Table("id BIGINT, account BIGINT, amount BIGINT, status STRING, ts TIMESTAMP(3)"),
    "rates": Table("account BIGINT, rate BIGINT, ts TIMESTAMP(3)", key=_ACCOUNT_KEY),
    "payments": Table("id BIGINT, account BIGINT, amount BIGINT, ts TIMESTAMP(3)"),
    "accounts": Table("account BIGINT, name STRING, ts TIMESTAMP(3)"),
    "nexmark": Table(nexmark_queries.COLUMNS, time="`dateTime`", views=nexmark_queries.VIEWS),
} | {kind: Table(columns, time="`dateTime`") for kind, columns in nexmark_queries.ROWS.items()}

# Tables that are read instead of others. In Parquet files, Flink and Tidemark read no times
# within rows that the other one reads, too.
PARTS_OF: Mapping[tuple[str, tuple[str, ...]], tuple[str, ...]] = {
    ("parquet", ("nexmark",)): tuple(nexmark_queries.ROWS)
}
