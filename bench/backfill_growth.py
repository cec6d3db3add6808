"""Operators as batches: whether time grows as rows do, and memory does not, also with a skewed key.

Each runs over some rows, over more rows, and over the first number of rows of which half are of
one account; each time in a process of its own, once.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.backfill_growth_tidemark import OPERATORS, Growing
from bench.contest import Contestant, measured
from bench.engine import Outcome
from bench.processes import whole

_MODULE = "bench.backfill_growth_tidemark"
# Multiples: time per row at the larger size, time with a skewed key. Megabytes of all workers.
MOST_GROWTH, MOST_SKEW, MOST_MB = 1.3, 3.0, 3000.0


@dataclass(frozen=True)
class Grown:
    """An operator's runs over some rows, over more, and over some that are skewed."""

    operator: str
    rows: int
    more: int
    usual: Outcome
    large: Outcome
    skewed: Outcome

    @property
    def growth(self) -> float:
        """The time per row at the larger size as a multiple of that at the usual one."""
        return self.large.seconds / self.more / (self.usual.seconds / self.rows)

    @property
    def skew(self) -> float:
        return self.skewed.seconds / self.usual.seconds

    @property
    def cpu_growth(self) -> float:
        """The same of CPU seconds, which say more where others use the machine too."""
        return _cpu(self.large) / self.more / (_cpu(self.usual) / self.rows)

    @property
    def cpu_skew(self) -> float:
        return _cpu(self.skewed) / _cpu(self.usual)

    @property
    def peak_mb(self) -> float:
        runs = self.usual, self.large, self.skewed
        return max(float(run.warm.details["peak_mb"]) for run in runs)

    @property
    def is_as_wanted(self) -> bool:
        return self.growth <= MOST_GROWTH and self.skew <= MOST_SKEW and self.peak_mb <= MOST_MB


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of each operator")
    parser.add_argument("--more", type=int, default=30_000_000, help="rows at the larger size")
    parser.add_argument(
        "--operators", nargs="*", choices=OPERATORS, default=[*OPERATORS], help="which to measure"
    )


def grown(arguments: argparse.Namespace, console: Console) -> list[Grown]:
    """What is measured of each operator."""
    return [_grown(name, arguments.rows, arguments.more, console) for name in arguments.operators]


def _grown(operator: str, rows: int, more: int, console: Console) -> Grown:
    contestant = Contestant(operator, _MODULE, operator)
    runs = []
    for growing in (Growing(rows), Growing(more), Growing(rows, skewed=True)):
        with console.status(f"running {operator}: {growing}"):
            runs.append(measured(contestant, growing))
    return Grown(operator, rows, more, *runs)


def growth_table(operators: Iterable[Grown]) -> Table:
    table = Table(title=f"Batches that grow, {os.cpu_count()} cores")
    table.add_column("operator", no_wrap=True)
    table.add_column("rows")
    for heading in ("seconds", "rows/s", "ratio", "CPU s", "ratio", "workers, MB", "rows out"):
        table.add_column(heading, justify="right", no_wrap=True)
    for operator in operators:
        rows, more = operator.rows, operator.more
        growth, skew = (operator.growth, operator.cpu_growth), (operator.skew, operator.cpu_skew)
        table.add_row(operator.operator, f"{rows:,}", *_cells(operator.usual, rows, (1, 1)))
        table.add_row("", f"{more:,}", *_cells(operator.large, more, growth))
        skewed = _cells(operator.skewed, rows, skew)
        table.add_row("", f"{rows:,}, half of one key", *skewed, end_section=True)
    return table


def _cells(outcome: Outcome, rows: int, ratios: tuple[float, float]) -> list[str]:
    run, (of_seconds, of_cpu) = outcome.warm, ratios
    return [
        f"{run.seconds:.1f}",
        f"{rows / run.seconds:,.0f}",
        f"{of_seconds:.2f}",
        f"{_cpu(outcome):.0f}",
        f"{of_cpu:.2f}",
        f"{run.details['peak_mb']:,.0f}",
        f"{outcome.rows:,}",
    ]


def _cpu(outcome: Outcome) -> float:
    """CPU seconds; not a number where there are none."""
    return whole(outcome.warm.cpu) if outcome.warm.cpu else math.nan


def kept(operators: Iterable[Grown]) -> list[dict[str, Any]]:
    """The operators as they are written down."""
    ratios = ("growth", "skew", "cpu_growth", "cpu_skew", "peak_mb", "is_as_wanted")
    return [asdict(o) | {name: getattr(o, name) for name in ratios} for o in operators]
