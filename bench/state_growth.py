"""Whether a micro-batch costs what its rows cost, however large the state is.

A temporal join first loads a version of every key; then come micro-batches of the same size, each
with rows of a few random keys. Each size of state runs in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.contest import last_line
from bench.parquet_batches import Grown, arguments
from bench.results import keep, picture
from bench.state_growth_tidemark import Growth

LIMIT_RATIO = 2.0
KEYS = (100_000, 1_000_000, 5_000_000)
# Only the last micro-batches count: those before them warm up.
COUNTED = 15


def add_arguments(parser: argparse.ArgumentParser) -> None:
    usual = Growth(0)
    parser.add_argument("--keys", type=int, nargs="+", default=KEYS, help="keys in state")
    parser.add_argument("--batches", type=int, default=usual.batches, help="micro-batches")
    parser.add_argument("--rows", type=int, default=usual.rows, help="rows of a micro-batch")
    parser.add_argument("--groups", type=int, default=usual.groups, help="key groups")
    parser.add_argument("--touched", type=int, default=usual.touched, help="keys of a micro-batch")


def run(arguments: argparse.Namespace, console: Console) -> int:
    grown = []
    for keys in arguments.keys:
        growth = Growth(
            keys, arguments.batches, arguments.rows, arguments.touched, arguments.groups
        )
        with console.status(f"{keys:,} keys in state"):
            grown.append((keys, measured(growth)))
    ratio = slowdown(grown[0][1], grown[-1][1])
    console.print(_table(growth, grown))
    console.print(
        f"A micro-batch takes {ratio:.2f} times as long at {grown[-1][0]:,} keys as at "
        f"{grown[0][0]:,}; at most: {LIMIT_RATIO:.0f} times."
    )
    _keep(growth, grown, ratio)
    return 0 if ratio <= LIMIT_RATIO else 1


def measured(growth: Growth) -> Grown:
    program = [sys.executable, "-m", "bench.state_growth_tidemark"]
    return Grown(**json.loads(last_line([*program, *arguments(growth)])))


def median_ms(grown: Grown) -> float:
    return statistics.median(grown.batch_ms[-COUNTED:])


def slowdown(small: Grown, large: Grown) -> float:
    """How many times as long a micro-batch takes with the large state."""
    return median_ms(large) / median_ms(small)


def _table(growth: Growth, grown: Sequence[tuple[int, Grown]]) -> Table:
    table = Table(
        title=f"Temporal join: micro-batches of {growth.orders:,} orders and "
        f"{growth.versions:,} versions, {growth.touched:,} keys"
    )
    headings = ("keys", "load s", "ms a micro-batch", "least - most", "state rows", "state MB")
    for heading in (*headings, "workers MB", "JVM MB"):
        table.add_column(heading, justify="right")
    for keys, outcome in grown:
        counted = outcome.batch_ms[-COUNTED:]
        table.add_row(
            f"{keys:,}",
            f"{outcome.load_ms / 1000:.1f}",
            f"{median_ms(outcome):,.0f}",
            f"{min(counted):,} - {max(counted):,}",
            f"{outcome.state_rows:,}",
            f"{outcome.state_mb:,.1f}",
            *(f"{outcome.resident_mb.get(part, 0):,.0f}" for part in ("Python workers", "JVM")),
        )
    return table


def _keep(growth: Growth, grown: Sequence[tuple[int, Grown]], ratio: float) -> None:
    shape = {name: value for name, value in asdict(growth).items() if name != "keys"}
    measured: list[dict[str, Any]] = [
        {"keys": keys, "median_ms": median_ms(outcome), **asdict(outcome)}
        for keys, outcome in grown
    ]
    keep(
        "state_growth",
        {"workload": shape, "ratio": round(ratio, 3), "limit": LIMIT_RATIO, "measured": measured},
    )
    times = {f"{keys:,} keys": slowdown(grown[0][1], outcome) for keys, outcome in grown}
    title = f"Micro-batches: times the duration at {grown[0][0]:,} keys"
    picture("state_growth", title, times, LIMIT_RATIO)
