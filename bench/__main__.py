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
    _keep(measured)
    return 0 if all(line.good for line in measured) else 1


def _table(measured: list[Measured], runs: int) -> Table:
    table = Table(title=f"Start-up: median (least - most) of {runs} runs, seconds")
    for heading in ("what", "Tidemark", "rival", "ratio", "limit", ""):
        table.add_column(heading, justify="left" if heading in ("what", "") else "right")
    for line in measured:
        rival = str(line.rival) if line.rival else ""
        ratio = f"{line.value:.2f}" if line.rival else ""
        verdict = "good" if line.good else "TOO SLOW"
        table.add_row(line.what, str(line.times), rival, ratio, str(line.limit), verdict)
    return table


def _keep(measured: list[Measured]) -> None:
    RESULTS.mkdir(exist_ok=True)
    content = {
        "machine": {"cores": os.cpu_count(), "system": platform.platform(terse=True)},
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
