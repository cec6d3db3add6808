"""Run every measurement, print a table, keep the numbers in `bench/results/`."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.startup import Measured, measure

RESULTS = Path(__file__).resolve().parent / "results"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of each that count (default 5)")
    runs = parser.parse_args().runs
    console = Console()
    with console.status("measuring whole processes, one at a time"):
        measured = list(measure(runs))
    console.print(_table(measured, runs))
    load = os.getloadavg()[0]
    if load > (os.cpu_count() or 1):
        console.print(
            f"The machine was busy (load {load:.0f}): believe the ratios, not the seconds."
        )
    _keep(measured, load)
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


def _keep(measured: list[Measured], load: float) -> None:
    RESULTS.mkdir(exist_ok=True)
    content = {
        "machine": {
            "cores": os.cpu_count(),
            "load": round(load, 1),
            "system": platform.platform(terse=True),
        },
        "versions": {name: version(name) for name in ("tidemark", "pyspark")}
        | {"python": platform.python_version()},
        "measured": [
            {
                "what": line.what,
                "seconds": line.times.seconds,
                "rival_seconds": line.rival.seconds if line.rival else None,
                "value": round(line.value, 3),
                "limit": line.limit,
            }
            for line in measured
        ],
    }
    (RESULTS / "startup.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
