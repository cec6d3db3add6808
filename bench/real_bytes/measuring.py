"""The turns of all engines at one case, a process each; in the first round, rows are compared."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from bench.contest import ROOT, Contestant, answered, measured, typical
from bench.engine import Outcome
from bench.jars import compiled
from bench.processes import whole
from bench.real_bytes.files import digest
from bench.real_bytes.playing import FAILED
from bench.real_bytes.report import FLINKS, LOCAL, POLARS, STEPS, TIDEMARK, Measured
from bench.real_bytes.workload import Case, Job, parsed, targets
from servers.jars.fetching import fetched, of_spark

ENGINES = ("flink", "tidemark", "local", "polars")
# Enough to see why.
_LAST_LINES = 12


def contestants(case: Case, engines: Sequence[str]) -> list[Contestant]:
    """Those that can run the case, in the order of `engines`."""
    flink = FLINKS["stream" if not case.asked.flink_batch else case.mode]
    known = {"flink": flink, "tidemark": TIDEMARK, "local": LOCAL, "polars": POLARS}
    if case.mode == "stream" or not case.asked.local:
        del known["local"]  # it keeps no checkpoint
    if not case.asked.flink:
        del known["flink"]
    return [known[engine] for engine in engines if engine in known]


def measure(
    case: Case,
    data: Path,
    engines: Sequence[str],
    rounds: int,
    console: Console,
    with_steps: bool = False,
) -> Measured:
    """Each engine in turn; one that fails once has no further turns."""
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

    for number in range(rounds):
        for contestant in contestants(case, engines):
            if contestant in failures:
                continue
            outcome = turn(contestant, checked=number == 0 and case.comparable)
            if outcome is not None:
                outcomes.setdefault(contestant, []).append(outcome)
                console.print(line(contestant, outcome), highlight=False)
    stepwise = turn(STEPS, checked=False) if with_steps else None
    return Measured(
        case, _good(outcomes, failures), failures, {} if stepwise is None else stepwise.warm.details
    )


def measure_together(
    cases: Sequence[Case],
    data: Path,
    engines: Sequence[str],
    rounds: int,
    console: Console,
    *,
    checked: bool = True,
) -> list[Measured]:
    """Each engine in turn runs all cases one after the other in one process, which starts only
    once. Then only warm runs mean anything.
    """
    found: dict[Case, dict[Contestant, list[Outcome]]] = {case: {} for case in cases}
    failures: dict[Case, dict[Contestant, str]] = {case: {} for case in cases}
    for number in range(rounds):
        for contestant, every in _by_contestant(cases, engines).items():
            own = [case for case in every if contestant not in failures[case]]
            if not own:
                continue
            with console.status(f"running {contestant.what}"):
                answers = _turns(contestant, own, data, checked=checked and number == 0)
            for case, answer in zip(own, answers, strict=True):
                if isinstance(answer, str):
                    failures[case][contestant] = "\n".join(answer.splitlines()[:_LAST_LINES])
                    console.print(f"{case}: {contestant.what} FAILED: {answer}", markup=False)
                else:
                    found[case].setdefault(contestant, []).append(answer)
                    console.print(f"{case}: {line(contestant, answer)}", highlight=False)
    return [Measured(case, _good(found[case], failures[case]), failures[case]) for case in cases]


def _good(
    outcomes: Mapping[Contestant, Sequence[Outcome]], failures: Collection[Contestant]
) -> dict[Contestant, Outcome]:
    """The typical outcomes of those that never failed."""
    return {one: _typical(turns) for one, turns in outcomes.items() if one not in failures}


def _by_contestant(cases: Sequence[Case], engines: Sequence[str]) -> dict[Contestant, list[Case]]:
    result: dict[Contestant, list[Case]] = {}
    for case in cases:
        for contestant in contestants(case, engines):
            result.setdefault(contestant, []).append(case)
    return result


def _turns(
    contestant: Contestant, cases: Sequence[Case], data: Path, *, checked: bool
) -> list[Outcome | str]:
    """The outcome of each case, or why there is none."""
    with TemporaryDirectory(prefix="real-bytes-") as folder:
        jars = dict.fromkeys(jar for case in cases for jar in _jars(contestant, case))
        first, *others = (
            Job(case, data, Path(folder), checked and case.comparable, tuple(jars))
            for case in cases
        )
        arguments = first.arguments_of_all(others)
        _, jobs, _ = parsed([contestant.way, *arguments])
        answers = answered(contestant, arguments, len(jobs))
        return [_read(job, answer) for job, answer in zip(jobs, answers, strict=True)]


def _read(job: Job, answer: str) -> Outcome | str:
    said = json.loads(answer)
    return str(said[FAILED]) if FAILED in said else _compared(job, Outcome.read(answer))


def _turn(contestant: Contestant, case: Case, data: Path, *, checked: bool) -> Outcome:
    with TemporaryDirectory(prefix="real-bytes-") as folder:
        job = Job(case, data, Path(folder), checked, _jars(contestant, case))
        return _compared(job, measured(contestant, job))


def _compared(job: Job, outcome: Outcome) -> Outcome:
    """With what is in the files that can be compared."""
    if not job.checked:
        return outcome
    *_, compared = targets(job)
    assert compared.folder is not None
    return Outcome(outcome.runs, *digest(compared.folder, job.case.asked.certain))


def _jars(contestant: Contestant, case: Case) -> tuple[Path, ...]:
    """What Flink lacks: a format, and the function of a query."""
    if contestant not in FLINKS.values():
        return ()
    jars: list[Path] = []
    if case.format == "parquet":
        jars += [*fetched(ROOT / "bench/flink/parquet.xml"), *of_spark("hadoop-client-*.jar")]
    if any("CREATE FUNCTION" in statement for statement in case.asked.before):
        jars.append(compiled(ROOT / "bench/flink/nexmark"))
    return tuple(jars)


def _typical(turns: Sequence[Outcome]) -> Outcome:
    """Medians; only the rows of the first turn were compared."""
    first, *_ = turns
    return typical([replace(turn, rows=first.rows, checksum=first.checksum) for turn in turns])


def line(contestant: Contestant, outcome: Outcome) -> str:
    runs = (
        f"{name} {run.seconds:.2f} s ({whole(run.cpu):.1f} s of CPU)"
        for name, run in (("cold", outcome.cold), ("warm", outcome.warm))
    )
    rows = f", {outcome.rows:,} rows" if outcome.checksum is not None else ""
    return f"{contestant.what}: {', '.join(runs)}{rows}"
