"""Run a measurement, print a table, keep the numbers in `bench/results/`."""

from __future__ import annotations

import argparse
import os
import sys

from rich.console import Console
from rich.table import Table

from bench import temporal_join
from bench.results import keep
from bench.startup import Measured, measure
from bench.temporal_join_workload import add_sizes


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    commands = parser.add_subparsers(required=True)
    startup = commands.add_parser("startup", help="whole processes, beside bare PySpark")
    startup.add_argument("--runs", type=int, default=5, help="runs that count (default 5)")
    startup.set_defaults(run=_startup)
    join = commands.add_parser("temporal-join", help="records per second, beside real Flink")
    add_sizes(join)
    join.set_defaults(run=temporal_join.run)
    arguments = parser.parse_args()
    return int(arguments.run(arguments, Console()))


def _startup(arguments: argparse.Namespace, console: Console) -> int:
    runs = arguments.runs
    with console.status("measuring whole processes, one at a time"):
        measured = list(measure(runs))
    console.print(_table(measured, runs))
    load = os.getloadavg()[0]
    if load > (os.cpu_count() or 1):
        console.print(
            f"The machine was busy (load {load:.0f}): believe the ratios, not the seconds."
        )
    _keep(measured)
    return 0 if all(line.good for line in measured) else 1


def _table(measured: list[Measured], runs: int) -> Table:
    table = Table(title=f"Start-up: median (least - most) of {runs} runs, seconds")
    for heading in ("what", "Tidemark", "rival", "ratio", "limit", ""):
        text = heading in ("what", "")
        table.add_column(heading, justify="left" if text else "right", no_wrap=not text)
    for line in measured:
        rival = str(line.rival) if line.rival else ""
        ratio = f"{line.value:.2f}" if line.rival else ""
        verdict = "good" if line.good else "TOO SLOW"
        table.add_row(line.what, str(line.times), rival, ratio, str(line.limit), verdict)
    return table


def _keep(measured: list[Measured]) -> None:
    lines = [
        {
            "what": line.what,
            "seconds": line.times.seconds,
            "rival_seconds": line.rival.seconds if line.rival else None,
            "value": round(line.value, 3),
            "limit": line.limit,
        }
        for line in measured
    ]
    keep("startup", {"measured": lines})


if __name__ == "__main__":
    sys.exit(main())
