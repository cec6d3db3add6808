"""Real files: the same SQL over the same files, by real Flink, Tidemark on Spark, Tidemark in the
process itself, and Polars alone, which shows what the data allows.

Each engine runs a query in a process of its own, twice: cold, which includes everything from the
start of the process on, and warm. In the first round its rows are compared with those of the
others, line by line of what it writes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from bench.contest import ROOT, Contestant, add_rounds, measured, typical
from bench.engine import Outcome
from bench.jars import fetched, of_spark
from bench.processes import whole
from bench.real_bytes.files import digest, written
from bench.real_bytes.queries import QUERIES
from bench.real_bytes.report import (
    FLINKS,
    LOCAL,
    POLARS,
    STEPS,
    TIDEMARK,
    Measured,
    bars,
    kept,
    processors,
    said,
    steps,
    times,
)
from bench.real_bytes.workload import FORMATS, MODES, Case, Job, targets
from bench.results import keep, picture

ENGINES = ("flink", "tidemark", "local", "polars")
# Enough to see why.
_LAST_LINES = 12


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
        found.append(_measured(case, data, arguments, console))
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


def contestants(case: Case, engines: Sequence[str]) -> list[Contestant]:
    """Those that can run the case, in the order of `engines`."""
    flink = FLINKS["stream" if not case.asked.flink_batch else case.mode]
    known = {"flink": flink, "tidemark": TIDEMARK, "local": LOCAL, "polars": POLARS}
    if case.mode == "stream":
        del known["local"]  # it keeps no checkpoint
    return [known[engine] for engine in engines if engine in known]


def _measured(case: Case, data: Path, arguments: argparse.Namespace, console: Console) -> Measured:
    outcomes: dict[Contestant, list[Outcome]] = {}
    failures: dict[Contestant, str] = {}

    def turn(contestant: Contestant, *, checked: bool) -> Outcome | None:
        with console.status(f"running {contestant.what}"):
            try:
                return _turn(contestant, case, data, checked=checked)
            except SystemExit as failure:
                failures[contestant] = "\n".join(str(failure).splitlines()[-_LAST_LINES:])
        console.print(f"{contestant.what} FAILED: {failures[contestant]}", markup=False)
        return None

    for number in range(arguments.rounds):
        for contestant in contestants(case, arguments.engines):
            if contestant in failures:
                continue
            outcome = turn(contestant, checked=number == 0)
            if outcome is not None:
                outcomes.setdefault(contestant, []).append(outcome)
                console.print(_line(contestant, outcome), highlight=False)
    good = {one: _typical(turns) for one, turns in outcomes.items() if one not in failures}
    stepwise = turn(STEPS, checked=False) if arguments.steps else None
    return Measured(case, good, failures, {} if stepwise is None else stepwise.warm.details)


def _turn(contestant: Contestant, case: Case, data: Path, *, checked: bool) -> Outcome:
    with TemporaryDirectory(prefix="real-bytes-") as folder:
        job = Job(case, data, Path(folder), checked, _jars(contestant, case))
        outcome = measured(contestant, job)
        if not checked:
            return outcome
        *_, compared = targets(job)
        assert compared.folder is not None
        return Outcome(outcome.runs, *digest(compared.folder))


def _jars(contestant: Contestant, case: Case) -> tuple[Path, ...]:
    if case.format != "parquet" or contestant not in FLINKS.values():
        return ()
    return *fetched(ROOT / "bench/flink/parquet.xml"), *of_spark("hadoop-client-*.jar")


def _typical(turns: Sequence[Outcome]) -> Outcome:
    """Medians; only the rows of the first turn were compared."""
    first, *_ = turns
    return typical([replace(turn, rows=first.rows, checksum=first.checksum) for turn in turns])


def _line(contestant: Contestant, outcome: Outcome) -> str:
    runs = (
        f"{name} {run.seconds:.2f} s ({whole(run.cpu):.1f} s of CPU)"
        for name, run in (("cold", outcome.cold), ("warm", outcome.warm))
    )
    rows = f", {outcome.rows:,} rows" if outcome.checksum is not None else ""
    return f"{contestant.what}: {', '.join(runs)}{rows}"
