"""Real files: the same SQL over the same files, by real Flink, Tidemark on Spark, Tidemark in the
process itself, and Polars alone, which shows what the data allows.

Each engine runs a query in a process of its own, twice: cold, which includes everything from the
start of the process on, and warm. In the first round its rows are compared with those of the
others, line by line of what it writes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console

from bench.contest import ROOT, add_rounds
from bench.real_bytes.files import written
from bench.real_bytes.measuring import ENGINES, measure
from bench.real_bytes.queries import QUERIES
from bench.real_bytes.report import (
    Measured,
    bars,
    kept,
    processors,
    said,
    steps,
    times,
)
from bench.real_bytes.workload import FORMATS, MODES, Case
from bench.results import keep, picture


def add_arguments(parser: argparse.ArgumentParser) -> None:
    def choice(name: str, choices: Sequence[str], usual: int) -> None:
        """Of several; by default the first ones."""
        parser.add_argument(f"--{name}", nargs="+", choices=choices, default=[*choices[:usual]])

    parser.add_argument("--orders", type=int, default=5_000_000, help="and a tenth as many rates")
    choice("queries", [*QUERIES], len(QUERIES))
    choice("formats", FORMATS, 1)
    parser.add_argument("--files", nargs="+", type=int, default=[1], help="for each table")
    choice("modes", MODES, 1)
    choice("engines", ENGINES, len(ENGINES))
    add_rounds(parser)
    parser.add_argument(
        "--steps", action="store_true", help="also what Tidemark's workers do, step by step"
    )
    parser.add_argument(
        "--cache", type=Path, default=ROOT / ".cache/real-bytes", help="where the files are kept"
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    found: list[Measured] = []
    for case in cases(arguments):
        console.rule(str(case))
        with console.status("writing files"):
            data = written(arguments.cache, arguments.orders, case)
        found.append(
            measure(case, data, arguments.engines, arguments.rounds, console, arguments.steps)
        )
        # After each case: all of them take long.
        keep("real_bytes", {"orders": arguments.orders, "measured": kept(found)})
    console.print(times(found))
    console.print(processors(found))
    if arguments.steps:
        console.print(steps(found))
    for sentence in said(found):
        console.print(sentence)
    picture("real_bytes", "Real files, warm: times Flink's rate", bars(found), 1.0)
    return 0 if all(one.good for one in found) else 1


def cases(arguments: argparse.Namespace) -> Iterator[Case]:
    for query in arguments.queries:
        for format_ in arguments.formats:
            if QUERIES[query].written and format_ == "parquet":
                continue  # its files have no lines to be compared
            for files in arguments.files:
                for mode in arguments.modes:
                    yield Case(query, format_, files, mode)
