"""Sessions on Tidemark with many open ones in state, and micro-batches that touch a few.

The table is a folder of Parquet files, one per micro-batch: first a row of every account, then rows
of random accounts, which prolong their sessions. The first rows of some accounts are older, so that
each micro-batch closes about the same number of sessions.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import tidemark
from bench.parquet_batches import Grown, followed, measure, stream_of, write_batch
from bench.temporal_join_workload import START_MS
from bench.windows_tidemark import OPERATOR
from bench.windows_workload import DELAY_MS, KINDS, SINK, window_table

_GAP_MS = 10_000
_BATCH_MS = 100


@dataclass(frozen=True)
class Growth:
    """How many sessions are open, and what arrives then."""

    open: int
    batches: int = 20
    rows: int = 50_000
    touched: int = 10_000
    closing: int = 2_000


def main() -> None:
    measure(Growth, write_files, measured)


def write_files(folder: Path, growth: Growth) -> None:
    """One file per micro-batch, with increasing modification times."""
    random = np.random.default_rng(seed=1)
    _write(folder, 0, np.arange(growth.open), load_times(growth))
    for number in range(1, growth.batches + 1):
        keys = random.choice(growth.open, min(growth.touched, growth.open), replace=False)
        times = START_MS + _GAP_MS + number * _BATCH_MS
        spread = np.arange(growth.rows) * _BATCH_MS // growth.rows
        _write(folder, number, random.choice(keys, growth.rows), times + spread)


def load_times(growth: Growth) -> Any:
    """When the sessions open: most late enough to outlast all micro-batches, and for each
    micro-batch some that the watermark closes in it.
    """
    times = np.full(growth.open, START_MS + _GAP_MS)
    batch = np.arange(min(growth.open, growth.batches * growth.closing)) // growth.closing
    # After each micro-batch the watermark is a delay behind the end of its stretch of time.
    times[: len(batch)] = START_MS - DELAY_MS + (batch + 2) * _BATCH_MS
    return times


def _write(folder: Path, number: int, accounts: Any, milliseconds: Any) -> None:
    instant = pl.from_epoch(pl.Series(milliseconds, dtype=pl.Int64), time_unit="ms")
    rows = pl.DataFrame(
        {
            "account": pl.Series(accounts, dtype=pl.Int64),
            "amount": pl.int_range(len(accounts), dtype=pl.Int64, eager=True),
            "ts": instant.dt.replace_time_zone("UTC"),
        }
    )
    write_batch(folder, number, rows)


def measured(session: tidemark.Session, folder: Path, growth: Growth) -> Grown:
    session.sql(SINK)
    watermark = f"ts - INTERVAL '{DELAY_MS // 1000}' SECOND"
    session.register("records", stream_of(session.spark, folder), watermark=watermark)
    insert = f"INSERT INTO sink {window_table(KINDS['session'])}"
    return followed(session, insert, OPERATOR, growth.batches)


if __name__ == "__main__":
    main()
