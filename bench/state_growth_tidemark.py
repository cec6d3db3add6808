"""A temporal join on Tidemark with many keys in state, and micro-batches that touch a few.

Both tables are folders of Parquet files, of which each micro-batch takes one: first a version of
every key, then rows of keys drawn at random.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import tidemark
from bench.processes import resident_mb
from bench.progress import Progress, batch_ms, follow, totals
from bench.temporal_join_tidemark import OPERATOR, register
from bench.temporal_join_workload import JOIN, SINK, START_MS

# A tenth of the rows are versions.
_ORDERS_PER_VERSION = 9
_BATCH_MS = 1_000


@dataclass(frozen=True)
class Growth:
    """What is in state, and what comes then."""

    keys: int
    batches: int = 20
    rows: int = 50_000
    touched: int = 10_000

    @property
    def versions(self) -> int:
        return self.rows // (_ORDERS_PER_VERSION + 1)

    @property
    def orders(self) -> int:
        return self.rows - self.versions

    def arguments(self) -> list[str]:
        return [f"--{name}={value}" for name, value in asdict(self).items()]


@dataclass(frozen=True)
class Grown:
    """How long the load took, and then each micro-batch; what is in state and memory after."""

    load_ms: int
    batch_ms: list[int]
    state_rows: int
    state_mb: float
    resident_mb: dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in asdict(Growth(0)):
        parser.add_argument(f"--{name}", type=int)
    growth = Growth(**vars(parser.parse_args()))
    with tempfile.TemporaryDirectory() as folder, tidemark.connect() as session:
        write_files(Path(folder), growth)
        print(json.dumps(asdict(measured(session, Path(folder), growth))), flush=True)


def write_files(folder: Path, growth: Growth) -> None:
    """A file of each table per micro-batch, in the order of their times of change."""
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
    """A row of each account in turn, spread over the time of a micro-batch."""
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
        file = folder / name / f"{number:04}.parquet"
        rows.write_parquet(file, mkdir=True)
        # Spark takes the oldest file first.
        changed = file.stat().st_mtime // 1 + number
        os.utime(file, (changed, changed))


def measured(session: tidemark.Session, folder: Path, growth: Growth) -> Grown:
    session.sql(SINK)
    register(session, *_tables(session.spark, folder))
    session.sql(f"INSERT INTO sink {JOIN}")
    [query] = session.spark.streams.active
    taken = itertools.count()

    def last(batch: Progress) -> bool:
        return bool(batch["numInputRows"]) and next(taken) == growth.batches

    progress = follow(query, last)
    # Without the micro-batches that only move the watermark.
    load, *others = [batch for batch in progress if batch["numInputRows"]]
    metrics = totals(progress, OPERATOR).read()
    return Grown(
        load_ms=batch_ms(load),
        batch_ms=[batch_ms(batch) for batch in others],
        state_rows=metrics.state_rows,
        state_mb=round(metrics.state_bytes / 1e6, 1),
        resident_mb=resident_mb(),
    )


def _tables(spark: Any, folder: Path) -> Iterator[Any]:
    for name in ("orders", "versions"):
        schema = spark.read.parquet(str(folder / name / "0000.parquet")).schema
        source = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        yield source.parquet(str(folder / name))


if __name__ == "__main__":
    main()
