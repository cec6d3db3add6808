"""Run a benchmark, print a table, save the numbers and a chart in `bench/results/`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console

from bench import (
    backfill,
    interval_join,
    latency,
    startup,
    state_growth,
    temporal_join,
    temporal_join_workload,
    window_join,
    windows,
)
from bench.kafka import command as kafka
from bench.real_bytes import command as real_bytes
from bench.real_bytes.suite import NEXMARK, OPERATORS


@dataclass(frozen=True)
class Bench:
    """A benchmark: its name on the command line, and the function that runs it."""

    name: str
    summary: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Console], int]


BENCHES = (
    Bench(
        "startup",
        "whole processes from start to end, beside bare PySpark",
        startup.add_arguments,
        startup.run,
    ),
    Bench(
        "temporal-join",
        "rate of the temporal join, beside real Flink",
        temporal_join_workload.add_sizes,
        temporal_join.run,
    ),
    Bench(
        "state-growth",
        "time of a micro-batch with few and many keys in state",
        state_growth.add_arguments,
        state_growth.run,
    ),
    Bench(
        "latency",
        "time from event to reader, beside bare Spark",
        latency.add_arguments,
        latency.run,
    ),
    Bench(
        "backfill",
        "batches: beside ASOF JOIN and Polars, and over more rows",
        backfill.add_arguments,
        backfill.run,
    ),
    Bench(
        "interval-join",
        "rate of the interval join, beside real Flink and Spark",
        interval_join.add_arguments,
        interval_join.run,
    ),
    Bench(
        "window-join",
        "rate of the window join, beside real Flink",
        window_join.add_arguments,
        window_join.run,
    ),
    Bench(
        "windows",
        "rate of windows, beside real Flink and Spark",
        windows.add_arguments,
        windows.run,
    ),
    Bench(
        "real-bytes",
        "queries over files, beside real Flink and Polars",
        real_bytes.add_arguments,
        real_bytes.run,
    ),
    Bench(
        "nexmark",
        "the queries of Nexmark over files, beside real Flink",
        NEXMARK.add_arguments,
        NEXMARK.run,
    ),
    Bench(
        "operators",
        "single operators over files, beside real Flink",
        OPERATORS.add_arguments,
        OPERATORS.run,
    ),
    Bench(
        "kafka",
        "topics of Kafka, a backlog and live, beside real Flink",
        kafka.add_arguments,
        kafka.run,
    ),
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="MEASUREMENT | all")
    for bench in BENCHES:
        command = commands.add_parser(bench.name, help=bench.summary, description=bench.summary)
        bench.add_arguments(command)
        command.set_defaults(run=bench.run)
    everything = commands.add_parser("all", help="each of them in turn, at its usual size")
    everything.set_defaults(run=lambda _, console: run_all(parser, console))
    arguments = parser.parse_args()
    # A file has no width, and tables must not be truncated there.
    console = Console() if sys.stdout.isatty() else Console(width=120)
    return int(arguments.run(arguments, console))


def run_all(parser: argparse.ArgumentParser, console: Console) -> int:
    """Run every benchmark, even after one that missed its limit; 1 if any did."""
    missed = []
    for bench in BENCHES:
        console.rule(bench.name)
        arguments = parser.parse_args([bench.name])
        if arguments.run(arguments, console):
            missed.append(bench.name)
    if missed:
        console.print(f"Not as wanted: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
