"""Streams of Parquet files, one per micro-batch, and how long each one took."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

import tidemark
from bench.processes import resident_mb
from bench.progress import Progress, batch_ms, follow, totals

Sizes = TypeVar("Sizes")


@dataclass(frozen=True)
class Grown:
    """How long the load took, and then each micro-batch; state and memory afterwards."""

    load_ms: int
    batch_ms: list[int]
    state_rows: int
    state_mb: float
    resident_mb: dict[str, float]


def arguments(sizes: Any) -> list[str]:
    """The command line that `measure` parses."""
    return [f"--{name}={value}" for name, value in asdict(sizes).items()]


def measure(
    sizes: type[Sizes],
    write_files: Callable[[Path, Sizes], None],
    measured: Callable[[tidemark.Session, Path, Sizes], Grown],
) -> None:
    """What a measurement's process does: write files, run a query over them, answer."""
    parser = argparse.ArgumentParser()
    for field in fields(sizes):  # type: ignore[arg-type]
        parser.add_argument(f"--{field.name}", type=int)
    given: Mapping[str, int] = vars(parser.parse_args())
    with tempfile.TemporaryDirectory() as folder, tidemark.connect() as session:
        write_files(Path(folder), sizes(**given))
        grown = measured(session, Path(folder), sizes(**given))
        print(json.dumps(asdict(grown)), flush=True)


def write_batch(folder: Path, number: int, rows: pl.DataFrame) -> None:
    """The rows of one micro-batch."""
    file = folder / f"{number:04}.parquet"
    rows.write_parquet(file, mkdir=True)
    # Spark takes the oldest file first.
    changed = file.stat().st_mtime // 1 + number
    os.utime(file, (changed, changed))


def stream_of(spark: Any, folder: Path) -> Any:
    schema = spark.read.parquet(str(folder / "0000.parquet")).schema
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))


def followed(session: tidemark.Session, insert: str, operator: str, batches: int) -> Grown:
    """A job up to the micro-batch with this number; batch 0 is the load."""
    session.sql(insert)
    [query] = session.spark.streams.active
    taken = itertools.count()

    def last(batch: Progress) -> bool:
        return bool(batch["numInputRows"]) and next(taken) == batches

    progress = follow(query, last)
    # Without the micro-batches that only advance the watermark.
    load, *others = [batch for batch in progress if batch["numInputRows"]]
    metrics = totals(progress, operator).read()
    return Grown(
        load_ms=batch_ms(load),
        batch_ms=[batch_ms(batch) for batch in others],
        state_rows=metrics.state_rows,
        state_mb=round(metrics.state_bytes / 1e6, 1),
        resident_mb=resident_mb(),
    )
