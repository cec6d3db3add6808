"""The interval join: records per second of Tidemark compared with real Flink and Spark's own join.

Two streams with bounds of ten seconds, once with many matches per row and once with few. Every
engine generates the rows itself, on all cores, in a process of its own, one after the other, and
discards the pairs; it does so twice, cold and warm. The number of pairs must be the same
everywhere. With all rows Spark did not finish within minutes: it joins a tenth of them, with a
tenth of the keys, and so does Tidemark.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from itertools import product
from typing import Any

from rich.console import Console

from bench.contest import (
    Contestant,
    Outcomes,
    Ratio,
    add_rounds,
    agree,
    contest,
    contest_table,
    lines,
)
from bench.interval_join_workload import Workload, add_sizes
from bench.results import keep, picture

FLINK = Contestant("Flink SQL, heap state", "bench.flink.interval_join", "stream")
TIDEMARK = Contestant("Tidemark, micro-batches", "bench.interval_join_spark", "tidemark")
SPARK = Contestant("Spark stream-stream join", "bench.interval_join_spark", "native")

# Matches per row: many output rows, and few.
DENSITIES = (10.0, 0.1)
# The minimum rate relative to each rival.
LIMITS = {FLINK: 3.0, SPARK: 1.0}
# Each rival gets one in so many rows and keys.
SHARES = {FLINK: 1, SPARK: 10}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_sizes(parser)
    add_rounds(parser)


def run(arguments: argparse.Namespace, console: Console) -> int:
    good, measured = True, []
    drawn: dict[str, float] = {}
    for matches, (rival, limit) in product(DENSITIES, LIMITS.items()):
        share = SHARES[rival]
        workload = Workload(arguments.rows // share, arguments.keys // share, matches)
        outcomes = contest((rival, TIDEMARK), workload, console, arguments.rounds)
        title = f"Interval join: {workload.rows:,} rows a side, {matches:g} matches a row"
        console.print(contest_table(title, outcomes, rival, workload.records))
        ratio = Ratio.of(outcomes[TIDEMARK], outcomes[rival])
        console.print(
            f"Tidemark has {ratio.warm:.2f} times the rate of {rival.what} warm "
            f"(wanted: {limit:g}) and {ratio.cold:.2f} times cold."
        )
        good &= ratio.warm >= limit
        if not agree(outcomes.values()):
            console.print("The engines do NOT agree on the rows of the join.")
            good = False
        measured.append(_kept(workload, outcomes, rival, ratio))
        drawn[f"{matches:g} matches, to {rival.what}"] = ratio.warm
    keep("interval_join", {"measured": measured})
    picture("interval_join", "Interval join: Tidemark's rate to others'", drawn, LIMITS[FLINK])
    return 0 if good else 1


def _kept(
    workload: Workload, outcomes: Outcomes, rival: Contestant, ratio: Ratio
) -> dict[str, Any]:
    return {
        "workload": asdict(workload),
        "ratio": {rival.what: asdict(ratio)},
        "engines": lines(outcomes, rival, workload.records),
    }
