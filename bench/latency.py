"""How long a row takes from its event to the reader of the join, at a steady rate.

Spark's rate source generates orders and versions; event time is when the source emits a row, so the
watermark lets an order through as soon as there is a later row in each table. For comparison, the
same rows straight from the source into bare Spark's foreachBatch: the floor.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from bench.contest import last_line
from bench.latency_engines import Arrived, Rate
from bench.results import keep, picture

TIDEMARK, SPARK = "Tidemark, temporal join", "bare Spark, no operator"
WAYS = {TIDEMARK: "tidemark", SPARK: "spark"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    usual = Rate()
    parser.add_argument("--rows", type=int, default=usual.rows, help="rows per second")
    parser.add_argument("--seconds", type=int, default=usual.seconds, help="seconds that count")
    parser.add_argument("--warmup", type=int, default=usual.warmup, help="seconds before them")


def run(arguments: argparse.Namespace, console: Console) -> int:
    rate = Rate(arguments.rows, arguments.seconds, arguments.warmup)
    arrived = {}
    for what, way in WAYS.items():
        with console.status(f"{what}: {rate.warmup} s of warm-up, {rate.seconds} s that count"):
            arrived[what] = measured(way, rate)
    console.print(_table(rate, arrived))
    console.print(
        "Each figure is the moment a row was in the consumer's hands less its event time. It "
        "contains the source's own delay: the rate source gives rows away once a second, so they "
        "are up to a second old before anything sees them, half of that on average. Then come the "
        "wait for the micro-batch before, and the micro-batch itself. What the join adds is the "
        "difference of the two lines."
    )
    keep("latency", {"rate": asdict(rate), "measured": {k: asdict(v) for k, v in arrived.items()}})
    bars = {
        f"{what}, {name}": getattr(seen, f"{name}_ms") / getattr(arrived[SPARK], f"{name}_ms")
        for what, seen in arrived.items()
        for name in ("median", "p99")
    }
    picture("latency", "Latency: times that of bare Spark", bars)
    return 0


def measured(way: str, rate: Rate) -> Arrived:
    program = [sys.executable, "-m", "bench.latency_engines", way]
    return Arrived(**json.loads(last_line([*program, *rate.arguments()])))


def _table(rate: Rate, arrived: Mapping[str, Arrived]) -> Table:
    table = Table(
        title=f"Latency at {rate.orders:,} orders and {rate.versions:,} versions per second, "
        f"{rate.seconds} s"
    )
    table.add_column("what")
    for heading in ("median ms", "99th percentile ms", "largest ms", "rows", "micro-batches"):
        table.add_column(heading, justify="right")
    for what, seen in arrived.items():
        milliseconds = (f"{value:,.0f}" for value in (seen.median_ms, seen.p99_ms, seen.largest_ms))
        table.add_row(what, *milliseconds, f"{seen.rows:,}", str(seen.micro_batches))
    return table
