"""Sessions on Tidemark with many open ones in state, and micro-batches that touch a few.

The table is a folder of Parquet files, of which each micro-batch takes one: first a row of every
account, then rows of accounts drawn at random, which prolong their sessions. The first rows of some
accounts are older, so that each micro-batch finds about as many sessions to close.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import tidemark
from bench.processes import resident_mb
from bench.progress import Progress, batch_ms, follow, totals
from bench.state_growth_tidemark import Grown
from bench.temporal_join_workload import START_MS
from bench.windows_spark import OPERATOR
from bench.windows_workload import DELAY_MS, KINDS, SINK, window_table

_GAP_MS = 10_000
_BATCH_MS = 100


@dataclass(frozen=True)
class Growth:
    """How many sessions are open, and what comes then."""

    open: int
    batches: int = 20
    rows: int = 50_000
    touched: int = 10_000
    closing: int = 2_000

    def arguments(self) -> list[str]:
        return [f"--{name}={value}" for name, value in asdict(self).items()]


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in asdict(Growth(0)):
        parser.add_argument(f"--{name}", type=int)
    growth = Growth(**vars(parser.parse_args()))
    with tempfile.TemporaryDirectory() as folder, tidemark.connect() as session:
        write_files(Path(folder), growth)
        print(json.dumps(asdict(measured(session, Path(folder), growth))), flush=True)


def write_files(folder: Path, growth: Growth) -> None:
    """A file per micro-batch, in the order of their times of change."""
    random = np.random.default_rng(seed=1)
    _write(folder, 0, np.arange(growth.open), load_times(growth))
    for number in range(1, growth.batches + 1):
        keys = random.choice(growth.open, min(growth.touched, growth.open), replace=False)
        times = START_MS + _GAP_MS + number * _BATCH_MS
        spread = np.arange(growth.rows) * _BATCH_MS // growth.rows
        _write(folder, number, random.choice(keys, growth.rows), times + spread)


def load_times(growth: Growth) -> Any:
    """When the sessions open: most late enough to outlast all micro-batches, and for each of
    these some that have ended when the watermark has come as far."""
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
    file = folder / f"{number:04}.parquet"
    rows.write_parquet(file)
    # Spark takes the oldest file first.
    changed = file.stat().st_mtime // 1 + number
    os.utime(file, (changed, changed))


def measured(session: tidemark.Session, folder: Path, growth: Growth) -> Grown:
    session.sql(SINK)
    watermark = f"ts - INTERVAL '{DELAY_MS // 1000}' SECOND"
    session.register("records", _table(session.spark, folder), watermark=watermark)
    session.sql(f"INSERT INTO sink {window_table(KINDS['session'])}")
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


def _table(spark: Any, folder: Path) -> Any:
    schema = spark.read.parquet(str(folder / "0000.parquet")).schema
    source = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    return source.parquet(str(folder))


if __name__ == "__main__":
    main()
