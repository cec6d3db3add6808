"""Whether a micro-batch costs what its rows cost, however many sessions are open.

Each number of open sessions runs in a process of its own, with micro-batches of the same size.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.contest import last_line
from bench.parquet_batches import Grown, arguments
from bench.state_growth import COUNTED, median_ms, slowdown
from bench.windows_growth_tidemark import Growth

LIMIT_RATIO = 2.0
OPEN = (100_000, 1_000_000)


@dataclass(frozen=True)
class Compared:
    """How long a micro-batch took with each number of open sessions."""

    grown: Sequence[tuple[Growth, Grown]]

    @property
    def ratio(self) -> float:
        return slowdown(self.grown[0][1], self.grown[-1][1])

    @property
    def good(self) -> bool:
        return self.ratio <= LIMIT_RATIO

    def kept(self) -> dict[str, Any]:
        measured = [
            {**asdict(growth), "median_ms": median_ms(grown), **asdict(grown)}
            for growth, grown in self.grown
        ]
        return {"ratio": round(self.ratio, 3), "limit": LIMIT_RATIO, "measured": measured}

    def __str__(self) -> str:
        (few, _), *_, (many, _) = self.grown
        return (
            f"A micro-batch takes {self.ratio:.2f} times as long with {many.open:,} open sessions "
            f"as with {few.open:,}; at most: {LIMIT_RATIO:.0f} times."
        )


def add_sizes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--open", type=int, nargs="+", default=OPEN, help="open sessions, few and many"
    )


def run(arguments: argparse.Namespace, console: Console) -> Compared:
    grown = []
    for sessions in arguments.open:
        with console.status(f"{sessions:,} open sessions"):
            grown.append((Growth(sessions), measured(Growth(sessions))))
    compared = Compared(grown)
    console.print(table(compared))
    console.print(str(compared))
    return compared


def measured(growth: Growth) -> Grown:
    program = [sys.executable, "-m", "bench.windows_growth_tidemark"]
    return Grown(**json.loads(last_line([*program, *arguments(growth)])))


def table(compared: Compared) -> Table:
    growth, _ = compared.grown[0]
    result = Table(
        title=f"Sessions: micro-batches of {growth.rows:,} rows, {growth.touched:,} keys, "
        f"about {growth.closing:,} closing"
    )
    headings = ("open", "load s", "ms a micro-batch", "least - most", "state rows", "state MB")
    for heading in headings:
        result.add_column(heading, justify="right")
    for growth, grown in compared.grown:
        counted = grown.batch_ms[-COUNTED:]
        result.add_row(
            f"{growth.open:,}",
            f"{grown.load_ms / 1000:.1f}",
            f"{median_ms(grown):,.0f}",
            f"{min(counted):,} - {max(counted):,}",
            f"{grown.state_rows:,}",
            f"{grown.state_mb:,.1f}",
        )
    return result
