"""The interval join: records per second of Tidemark beside real Flink and Spark's own join.

Two streams with bounds of ten seconds, once with many matches a row and once with few. Every
engine makes the rows itself, on all cores, in a process of its own, one after the other, and
throws the pairs away; it does so twice, cold and warm. The number of pairs must be the same
everywhere. Spark had not ended after minutes with all rows: it joins a tenth of them, of a tenth of
the keys, and Tidemark the same.
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

# Matches that a row has: output-heavy, and output-light.
DENSITIES = (10.0, 0.1)
# At least so many times the rate of each.
LIMITS = {FLINK: 3.0, SPARK: 1.0}
# One in so many rows, and keys, is for each.
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
