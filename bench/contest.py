"""Several engines doing the same job, one after the other, each in a process of its own."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console
from rich.table import Table

from bench.engine import Outcome, Run, agreed
from bench.processes import whole

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Contestant:
    """An engine: the module that runs it, and how it does the job."""

    what: str
    module: str
    way: str

    @property
    def is_flink(self) -> bool:
        return self.module.startswith("bench.flink.")

    @property
    def python(self) -> str:
        return flink_python() if self.is_flink else sys.executable


class Workload(Protocol):
    """The job, as the command line of an engine's process."""

    def arguments(self) -> list[str]: ...


Outcomes = Mapping[Contestant, Outcome]


def add_rounds(parser: argparse.ArgumentParser) -> None:
    """For machines whose speed varies from minute to minute."""
    parser.add_argument(
        "--rounds", type=int, default=1, help="how often each engine has its turn; medians count"
    )


def contest(
    contestants: Sequence[Contestant], workload: Workload, console: Console, rounds: int = 1
) -> dict[Contestant, Outcome]:
    """The outcomes of all contestants, which take turns in each round."""
    outcomes: dict[Contestant, list[Outcome]] = {contestant: [] for contestant in contestants}
    for _ in range(rounds):
        for contestant in contestants:
            with console.status(f"running {contestant.what}"):
                outcomes[contestant].append(measured(contestant, workload))
    return {contestant: typical(done) for contestant, done in outcomes.items()}


def typical(outcomes: Sequence[Outcome]) -> Outcome:
    """The cold and the warm run of median length; with an even number, the faster of the middle
    two.
    """
    rows, checksum = agreed([(outcome.rows, outcome.checksum) for outcome in outcomes])
    runs = zip(*(outcome.runs for outcome in outcomes), strict=True)
    middle = (len(outcomes) - 1) // 2
    medians = (sorted(same, key=lambda run: run.seconds)[middle] for same in runs)
    return Outcome(tuple(medians), rows, checksum)


def measured(contestant: Contestant, workload: Workload) -> Outcome:
    [answer] = answered(contestant, workload.arguments(), 1)
    return Outcome.read(answer)


def answered(contestant: Contestant, arguments: Sequence[str], count: int) -> list[str]:
    """The lines by which the process of an engine answers, one for each of its jobs, among what
    else it prints.
    """
    program = [contestant.python, "-m", contestant.module, contestant.way]
    answers = [line for line in printed([*program, *arguments]) if line.startswith("{")]
    return answers[-count:]


def last_line(command: Sequence[str]) -> str:
    """The last line a process prints, which is its answer."""
    return printed(command)[-1]


def printed(command: Sequence[str]) -> list[str]:
    """The lines that a process prints."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout.splitlines()


def flink_python() -> str:
    """The interpreter that has PyFlink."""
    python = os.environ.get("TIDEMARK_FLINK_PYTHON", str(ROOT / ".venv-flink/bin/python"))
    if not Path(python).exists():
        raise SystemExit(
            f"there is no {python}; `make .venv-flink/.ready` installs Flink, or name an "
            "interpreter that has it: TIDEMARK_FLINK_PYTHON=/path/to/python"
        )
    return python


def agree(outcomes: Iterable[Outcome]) -> bool:
    """Whether all found the same number of rows, and the same sum if they computed one."""
    seen = list(outcomes)
    sums = {outcome.checksum for outcome in seen if outcome.checksum is not None}
    return len({outcome.rows for outcome in seen}) == 1 and len(sums) <= 1


@dataclass(frozen=True)
class Ratio:
    """An engine's rate relative to another's, cold and warm."""

    cold: float
    warm: float

    @classmethod
    def of(cls, engine: Outcome, other: Outcome) -> Ratio:
        return cls(
            other.cold.seconds / engine.cold.seconds, other.warm.seconds / engine.warm.seconds
        )


def contest_table(title: str, outcomes: Outcomes, rival: Contestant, records: int) -> Table:
    """Seconds and records per second of each engine, and its rate relative to the rival's."""
    table = Table(title=f"{title}, {os.cpu_count()} cores")
    table.add_column("engine", no_wrap=True)
    table.add_column("run")
    for heading in ("seconds", "records/s", "ratio", "CPU s", "rows out"):
        table.add_column(heading, justify="right", no_wrap=True)
    for contestant, outcome in outcomes.items():
        ratio = Ratio.of(outcome, outcomes[rival])
        cold = _cells(outcome.cold, ratio.cold, records)
        warm = _cells(outcome.warm, ratio.warm, records)
        table.add_row(contestant.what, "cold", *cold, f"{outcome.rows:,}")
        table.add_row("", "warm", *warm, end_section=True)
    return table


def _cells(run: Run, ratio: float, records: int) -> list[str]:
    cpu = f"{whole(run.cpu):.2f}" if run.cpu else ""
    return [f"{run.seconds:.2f}", f"{records / run.seconds:,.0f}", f"{ratio:.2f}", cpu]


def bars(outcomes: Outcomes, rival: Contestant) -> dict[str, float]:
    """The ratios for a chart: each engine's rate relative to the rival's, cold and warm."""
    result = {}
    for contestant, outcome in outcomes.items():
        ratio = Ratio.of(outcome, outcomes[rival])
        result[f"{contestant.what}, warm"] = ratio.warm
        result[f"{contestant.what}, cold"] = ratio.cold
    return result


def lines(outcomes: Outcomes, rival: Contestant, records: int) -> list[dict[str, Any]]:
    """The outcomes as they are saved."""
    return [
        {
            "what": contestant.what,
            "records_per_second": {
                "cold": round(records / outcome.cold.seconds),
                "warm": round(records / outcome.warm.seconds),
            },
            "ratio": asdict(Ratio.of(outcome, outcomes[rival])),
            **asdict(outcome),
        }
        for contestant, outcome in outcomes.items()
    ]
