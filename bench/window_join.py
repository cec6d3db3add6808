"""The window join: records per second of Tidemark compared with real Flink.

Two streams in tumbling windows of ten seconds, once with many matches per row and once with few.
Both engines generate the rows themselves, on all cores, in a process of their own, one after the
other, and discard the pairs; they do so twice, cold and warm. The number of pairs must be the same.
Tidemark's own sink takes the pairs as columns; a DataFrame of rows is measured for comparison.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

from rich.console import Console

from bench.contest import Contestant, Ratio, add_rounds, agree, contest, contest_table, lines
from bench.interval_join_workload import Workload, add_sizes
from bench.results import keep

FLINK = Contestant("Flink SQL, heap state", "bench.flink.window_join", "stream")
TIDEMARK = Contestant("Tidemark, micro-batches", "bench.window_join_spark", "sink")
DATAFRAME = Contestant("Tidemark, as a DataFrame", "bench.window_join_spark", "dataframe")

# Matches per row within ten seconds: many output rows, and few.
DENSITIES = (10.0, 0.1)
# The minimum rate relative to Flink's.
LIMIT = 3.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_sizes(parser)
    add_rounds(parser)


def run(arguments: argparse.Namespace, console: Console) -> int:
    good, measured = True, []
    for matches in DENSITIES:
        workload = Workload(arguments.rows, arguments.keys, matches)
        outcomes = contest((FLINK, TIDEMARK, DATAFRAME), workload, console, arguments.rounds)
        title = f"Window join: {workload.rows:,} rows a side, {matches:g} matches a row near it"
        console.print(contest_table(title, outcomes, FLINK, workload.records))
        ratio = Ratio.of(outcomes[TIDEMARK], outcomes[FLINK])
        console.print(
            f"Tidemark has {ratio.warm:.2f} times the rate of {FLINK.what} warm "
            f"(wanted: {LIMIT:g}) and {ratio.cold:.2f} times cold; as a DataFrame "
            f"{Ratio.of(outcomes[DATAFRAME], outcomes[FLINK]).warm:.2f} times warm."
        )
        good &= ratio.warm >= LIMIT
        if not agree(outcomes.values()):
            console.print("The engines do NOT agree on the rows of the join.")
            good = False
        measured.append(
            {
                "workload": asdict(workload),
                "ratio": asdict(ratio),
                "rounds": arguments.rounds,
                "engines": lines(outcomes, FLINK, workload.records),
            }
        )
    keep("window_join", {"measured": measured})
    return 0 if good else 1
