"""The event-time temporal join: records per second of Tidemark compared with real Flink, in one
run.

Every engine generates the rows itself, on all cores, in a process of its own, one after the other,
and discards the joined rows. It does so twice: cold, in the fresh process, and warm, once more in
the same one, like a stream that runs for days. Their number, and the sum of the versions found
where available, must be the same everywhere.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.contest import Contestant, Ratio, agree, bars, contest, contest_table, lines
from bench.engine import Outcome, Run
from bench.results import keep, picture
from bench.temporal_join_workload import sizes

LIMIT_RATIO = 3.0

CONTESTANTS = (
    Contestant("Flink SQL, heap state", "bench.flink.temporal_join", "stream"),
    Contestant("Tidemark, micro-batches", "bench.temporal_join_tidemark", "stream"),
    Contestant("Tidemark, batch", "bench.temporal_join_tidemark", "batch"),
    Contestant("Spark ASOF JOIN, batch", "bench.temporal_join_references", "spark"),
    Contestant("Polars join_asof, one thread", "bench.temporal_join_references", "polars"),
)
FLINK, TIDEMARK, *_, POLARS = CONTESTANTS


def run(arguments: argparse.Namespace, console: Console) -> int:
    workload = sizes(arguments)
    outcomes = contest(CONTESTANTS, workload, console)
    ratio = Ratio.of(outcomes[TIDEMARK], outcomes[FLINK])
    title = f"Event-time temporal join: {workload}"
    console.print(contest_table(title, outcomes, FLINK, workload.records))
    console.print(time_table(outcomes[TIDEMARK]))
    console.print(
        f"Tidemark has {ratio.warm:.2f} times Flink's rate warm (wanted: {LIMIT_RATIO:.0f}) "
        f"and {ratio.cold:.2f} times cold."
    )
    content = {
        "workload": asdict(workload),
        "ratio": asdict(ratio),
        "limit": LIMIT_RATIO,
        "measured": lines(outcomes, FLINK, workload.records),
    }
    keep("temporal_join", content)
    # Next to Polars, the bars of all others would be too short to see.
    drawn = {engine: outcome for engine, outcome in outcomes.items() if engine != POLARS}
    picture("temporal_join", "Temporal join: times Flink's rate", bars(drawn, FLINK), LIMIT_RATIO)
    if not agree(outcomes.values()):
        console.print("The engines do NOT agree on the rows of the join.")
        return 1
    return 0 if ratio.warm >= LIMIT_RATIO else 1


def time_table(outcome: Outcome) -> Table:
    """Where a stream's time went."""
    table = Table(title="Where Tidemark's time goes, seconds")
    table.add_column("what")
    for heading in ("cold", "warm"):
        table.add_column(heading, justify="right", no_wrap=True)
    cold, warm = dict(spent(outcome.cold)), dict(spent(outcome.warm))
    for what in {**cold, **warm}:
        table.add_row(what, *(f"{times.get(what, 0.0):.2f}" for times in (cold, warm)))
    return table


def spent(run: Run) -> Iterator[tuple[str, float]]:
    """Seconds of a stream by kind of work: three views of the same time."""
    yield "all micro-batches, by the clock", run.seconds
    yield from _each("  Spark's driver: ", run.details["micro_batches_s"])
    yield from _each("  operator, on all cores: ", run.details["operator_s"])
    yield from _each("  CPU: ", run.cpu)


def _each(prefix: str, seconds: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for what, value in seconds.items():
        yield prefix + what, value
