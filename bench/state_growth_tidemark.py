"""A temporal join on Tidemark with many keys in state, and micro-batches that touch a few.

Both tables are folders of Parquet files, one per micro-batch: first a version of every key, then
rows of random keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import tidemark
from bench.parquet_batches import Grown, followed, measure, stream_of, write_batch
from bench.temporal_join_tidemark import OPERATOR, register
from bench.temporal_join_workload import JOIN, START_MS, sink
from tidemark.catalog.options import MAX_PARALLELISM
from tidemark.spark.launch import FEWEST_KEY_GROUPS

# A tenth of the rows are versions.
_ORDERS_PER_VERSION = 9
_BATCH_MS = 1_000


@dataclass(frozen=True)
class Growth:
    """What is in state, and what arrives then."""

    keys: int
    batches: int = 20
    rows: int = 50_000
    touched: int = 10_000
    groups: int = FEWEST_KEY_GROUPS

    @property
    def versions(self) -> int:
        return self.rows // (_ORDERS_PER_VERSION + 1)

    @property
    def orders(self) -> int:
        return self.rows - self.versions


def main() -> None:
    measure(Growth, write_files, measured)


def write_files(folder: Path, growth: Growth) -> None:
    """One file per table and micro-batch, with increasing modification times."""
    random = np.random.default_rng(seed=1)
    _write(folder, 0, *_load(growth))
    for number in range(1, growth.batches + 1):
        keys = random.choice(growth.keys, growth.touched, replace=False)
        times = START_MS + number * _BATCH_MS
        orders = _rows(random.choice(keys, growth.orders), times, "n", "order_time")
        versions = _rows(random.choice(keys, growth.versions), times, "version", "valid_from")
        _write(folder, number, orders, versions)


def _load(growth: Growth) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A version of each key, and an order, without which there would be no watermark."""
    orders = _rows(np.zeros(1, np.int64), START_MS, "n", "order_time")
    return orders, _rows(np.arange(growth.keys), START_MS, "version", "valid_from")


def _rows(accounts: Any, start_ms: int, number: str, time: str) -> pl.DataFrame:
    """One row per account in turn, spread over the time of a micro-batch."""
    n = pl.int_range(len(accounts), dtype=pl.Int64, eager=True)
    instant = pl.from_epoch(start_ms + n * _BATCH_MS // len(accounts), time_unit="ms")
    return pl.DataFrame(
        {
            number: n,
            "account": pl.Series(accounts, dtype=pl.Int64),
            time: instant.dt.replace_time_zone("UTC"),
        }
    )


def _write(folder: Path, number: int, orders: pl.DataFrame, versions: pl.DataFrame) -> None:
    for name, rows in (("orders", orders), ("versions", versions)):
        write_batch(folder / name, number, rows)


def measured(session: tidemark.Session, folder: Path, growth: Growth) -> Grown:
    session.sql(f"SET '{MAX_PARALLELISM}' = '{growth.groups}'")
    session.sql(sink(digits=6))
    tables = [stream_of(session.spark, folder / name) for name in ("orders", "versions")]
    register(session, *tables)
    return followed(session, f"INSERT INTO sink {JOIN}", OPERATOR, growth.batches)


if __name__ == "__main__":
    main()
