"""The events of Nexmark as Tidemark's connector makes them."""

from __future__ import annotations

import polars as pl

import tidemark
from bench.real_bytes.nexmark_queries import COLUMNS

# Events in a second of event time. With more, some would be at the same time, in no known order.
_RATE = 1_000
_OPTIONS = f"'first-event.rate' = '{_RATE}', 'tidemark.base-time' = '2024-01-01'"


def events_of(events: int) -> pl.DataFrame:
    with tidemark.connect(engine="local") as session:
        session.sql(
            f"CREATE TABLE nexmark ({COLUMNS})\n"
            f"WITH ('connector' = 'nexmark', 'events.num' = '{events}', {_OPTIONS})"
        )
        return session.sql("SELECT event_type, person, auction, bid FROM nexmark").to_polars()


def rows_of(kind: str, events: int) -> pl.DataFrame:
    """Those of all persons, auctions or bids."""
    rows = events_of(events).get_column(kind).drop_nulls().struct.unnest()
    return rows.cast({pl.Datetime: pl.Datetime("ms")})
