"""The event-time temporal join: records per second of Tidemark beside real Flink, in one run.

Every engine makes the rows itself, on all cores, in a process of its own, one after the other,
and throws the joined rows away. Their number, and where it can be had the sum of the versions
found, must be the same everywhere.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.results import keep
from bench.temporal_join_workload import Workload, sizes

ROOT = Path(__file__).resolve().parent.parent
LIMIT_RATIO = 3.0


@dataclass(frozen=True)
class Contestant:
    what: str
    module: str
    way: str

    @property
    def python(self) -> str:
        return flink_python() if self.module.startswith("bench.flink.") else sys.executable


CONTESTANTS = (
    Contestant("Flink SQL, heap state", "bench.flink.temporal_join", "stream"),
    Contestant("Tidemark, micro-batches", "bench.temporal_join_tidemark", "stream"),
    Contestant("Tidemark, batch", "bench.temporal_join_tidemark", "batch"),
    Contestant("Spark ASOF JOIN, batch", "bench.temporal_join_references", "spark"),
    Contestant("Polars join_asof, one thread", "bench.temporal_join_references", "polars"),
)
FLINK, TIDEMARK = CONTESTANTS[:2]


@dataclass(frozen=True)
class Outcome:
    """What one engine said of its run."""

    seconds: float
    rows: int
    checksum: int | None
    details: Any

    def rate(self, workload: Workload) -> float:
        return workload.records / self.seconds


def run(arguments: argparse.Namespace, console: Console) -> int:
    workload = sizes(arguments)
    outcomes = {}
    for contestant in CONTESTANTS:
        with console.status(f"running {contestant.what}"):
            outcomes[contestant] = measured(contestant, workload)
    console.print(_table(outcomes, workload))
    ratio = outcomes[FLINK].seconds / outcomes[TIDEMARK].seconds
    console.print(f"Tidemark has {ratio:.2f} times Flink's rate; wanted: {LIMIT_RATIO:.0f} times.")
    _keep(outcomes, workload, ratio)
    if not agree(list(outcomes.values())):
        console.print("The engines do NOT agree on the rows of the join.")
        return 1
    return 0 if ratio >= LIMIT_RATIO else 1


def measured(contestant: Contestant, workload: Workload) -> Outcome:
    command = [contestant.python, "-m", contestant.module, contestant.way, *workload.arguments()]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return Outcome(**json.loads(done.stdout.splitlines()[-1]))


def flink_python() -> str:
    """The interpreter that has PyFlink."""
    python = os.environ.get("TIDEMARK_FLINK_PYTHON", str(ROOT / ".venv-flink/bin/python"))
    if not Path(python).exists():
        raise SystemExit(
            f"there is no {python}; `make .venv-flink/.ready` installs Flink, or name an "
            "interpreter that has it: TIDEMARK_FLINK_PYTHON=/path/to/python"
        )
    return python


def agree(outcomes: list[Outcome]) -> bool:
    checksums = {outcome.checksum for outcome in outcomes if outcome.checksum is not None}
    return len({outcome.rows for outcome in outcomes}) == 1 and len(checksums) == 1


def _table(outcomes: dict[Contestant, Outcome], workload: Workload) -> Table:
    title = (
        f"Event-time temporal join: {workload.left:,} orders, {workload.versions:,} versions, "
        f"{workload.keys:,} keys, {os.cpu_count()} cores"
    )
    table = Table(title=title)
    table.add_column("engine")
    for heading in ("seconds", "records/s", "times Flink", "rows out", "sum of versions"):
        table.add_column(heading, justify="right", no_wrap=True)
    for contestant, outcome in outcomes.items():
        table.add_row(
            contestant.what,
            f"{outcome.seconds:.1f}",
            f"{outcome.rate(workload):,.0f}",
            f"{outcomes[FLINK].seconds / outcome.seconds:.2f}",
            f"{outcome.rows:,}",
            "" if outcome.checksum is None else str(outcome.checksum),
        )
    return table


def _keep(outcomes: dict[Contestant, Outcome], workload: Workload, ratio: float) -> None:
    lines = [
        {
            "what": contestant.what,
            "records_per_second": round(outcome.rate(workload)),
            **asdict(outcome),
        }
        for contestant, outcome in outcomes.items()
    ]
    sizes_ = asdict(workload)
    keep(
        "temporal_join",
        {"workload": sizes_, "ratio": round(ratio, 3), "limit": LIMIT_RATIO, "measured": lines},
    )
