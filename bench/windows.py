"""Windows: rows per second of Tidemark compared with real Flink and Spark's own windows.

Counts and sums per account in tumbling windows of ten seconds, in sliding ones every two seconds,
and in sessions. Every engine generates the rows itself, on all cores, in a process of its own, one
after the other, and discards the windows; it does so twice, cold and warm. The number of windows
and the sum of their counts must be the same everywhere.

Flink counts with both of its syntaxes, with mini-batch off and on, Spark with both of its state
stores; the better one of each is the rival. For comparison, the time Spark needs just to hand the
rows to Python, which only counts them. Then sessions: the time of a small micro-batch with many
open sessions and with few.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console

from bench import windows_growth
from bench.contest import Contestant, Outcomes, Ratio, agree, bars, contest, contest_table, lines
from bench.results import keep, picture
from bench.temporal_join import time_table
from bench.windows_workload import KINDS, Workload, add_sizes

TIDEMARK = Contestant("Tidemark, micro-batches", "bench.windows_tidemark", "stream")
BATCH = Contestant("Tidemark, one batch", "bench.windows_tidemark", "batch")
FLINKS = (
    Contestant("Flink, table function", "bench.flink.windows", "table"),
    Contestant("Flink, table function, mini-batch", "bench.flink.windows", "table-minibatch"),
    Contestant("Flink, GROUP BY", "bench.flink.windows", "group"),
    Contestant("Flink, GROUP BY, mini-batch", "bench.flink.windows", "group-minibatch"),
)
SPARKS = (
    Contestant("Spark windows, state on the heap", "bench.windows_spark", "native-heap"),
    Contestant("Spark windows, RocksDB", "bench.windows_spark", "native-rocksdb"),
)
TO_PYTHON = Contestant("Spark hands rows to Python", "bench.windows_spark", "to-python")
# The minimum rate relative to the better one of each.
LIMIT_FLINK, LIMIT_SPARK = 3.0, 1.0
LIMITS = ((FLINKS, LIMIT_FLINK), (SPARKS, LIMIT_SPARK))


@dataclass(frozen=True)
class Compared:
    """Tidemark compared with one rival, the better of its kind."""

    rival: Contestant
    ratio: Ratio
    limit: float

    @property
    def good(self) -> bool:
        return self.ratio.warm >= self.limit

    def __str__(self) -> str:
        return (
            f"Tidemark has {self.ratio.warm:.2f} times the rate of {self.rival.what} warm "
            f"(wanted: {self.limit:g}) and {self.ratio.cold:.2f} times cold."
        )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_sizes(parser)
    parser.add_argument("--windows", nargs="+", choices=KINDS, default=list(KINDS), help="kinds")
    windows_growth.add_sizes(parser)


def run(arguments: argparse.Namespace, console: Console) -> int:
    good, measured = True, []
    drawn: dict[str, float] = {}
    for windows in arguments.windows:
        workload = Workload(arguments.rows, arguments.keys, windows)
        outcomes = contest((*FLINKS, TIDEMARK, BATCH, *SPARKS, TO_PYTHON), workload, console)
        compared = against_the_better(outcomes)
        show(console, workload, outcomes, compared)
        good &= agreed(outcomes) and all(one.good for one in compared)
        measured.append(_kept(workload, outcomes, compared))
        drawn |= _bars(windows, outcomes, compared)
    grown = windows_growth.run(arguments, console)
    keep("windows", {"measured": measured, "sessions": grown.kept()})
    picture("windows", "Windows: times the better Flink's rate", drawn, LIMIT_FLINK)
    return 0 if good and grown.good else 1


def against_the_better(outcomes: Outcomes) -> list[Compared]:
    """Tidemark compared with the better of Flink's variants and the better of Spark's."""
    result = []
    for rivals, limit in LIMITS:
        better = best(outcomes, rivals)
        ratio = Ratio.of(outcomes[TIDEMARK], outcomes[better])
        result.append(Compared(better, ratio, limit))
    return result


def agreed(outcomes: Outcomes) -> bool:
    """Whether all engines that compute windows agree."""
    return agree(outcome for engine, outcome in outcomes.items() if engine != TO_PYTHON)


def best(outcomes: Outcomes, rivals: Sequence[Contestant]) -> Contestant:
    """The rival that is the fastest when warm."""
    return min(rivals, key=lambda rival: outcomes[rival].warm.seconds)


def show(
    console: Console, workload: Workload, outcomes: Outcomes, compared: Sequence[Compared]
) -> None:
    flink = compared[0].rival
    title = f"{workload.windows.capitalize()} windows: {workload.rows:,} rows"
    table = contest_table(f"{title}, {workload.keys:,} keys", outcomes, flink, workload.rows)
    console.print(table)
    console.print(time_table(outcomes[TIDEMARK]))
    for one in compared:
        console.print(str(one))
    if not agreed(outcomes):
        console.print("The engines do NOT agree on the windows.")


def _bars(windows: str, outcomes: Outcomes, compared: Sequence[Compared]) -> dict[str, float]:
    """The ratios to the better Flink: of Tidemark, and of the better Spark."""
    flink, spark = (one.rival for one in compared)
    shown = {engine: outcomes[engine] for engine in (flink, TIDEMARK, spark)}
    return {f"{windows}: {label}": value for label, value in bars(shown, flink).items()}


def _kept(workload: Workload, outcomes: Outcomes, compared: Sequence[Compared]) -> dict[str, Any]:
    return {
        "workload": asdict(workload),
        "ratios": {one.rival.what: {**asdict(one.ratio), "limit": one.limit} for one in compared},
        "engines": lines(outcomes, compared[0].rival, workload.rows),
    }
