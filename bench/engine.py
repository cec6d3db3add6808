"""What an engine's process does: its job once or twice, and its answer on the last line.

Only the standard library is imported here, so that the interpreter with Flink can load it too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from bench.processes import cpu_seconds, used_since

Found = TypeVar("Found")


@dataclass(frozen=True)
class Run:
    """One run of a job. `cpu` has the seconds on all cores by part of the engine, if known."""

    seconds: float
    cpu: Mapping[str, float] = field(default_factory=dict)
    details: Any = None


@dataclass(frozen=True)
class Outcome:
    """What an engine reported: its first run in a fresh process, and later ones."""

    runs: tuple[Run, ...]
    rows: int
    checksum: int | None = None

    @classmethod
    def read(cls, line: str) -> Outcome:
        said = json.loads(line)
        return cls(tuple(Run(**run) for run in said["runs"]), said["rows"], said["checksum"])

    @property
    def cold(self) -> Run:
        return self.runs[0]

    @property
    def warm(self) -> Run:
        return self.runs[-1]

    @property
    def seconds(self) -> float:
        return self.warm.seconds


def twice(job: Callable[[], tuple[float, Any]]) -> tuple[Run, Run]:
    """Run a job cold and warm. It returns its seconds and any details."""
    return _run(job), _run(job)


def _run(job: Callable[[], tuple[float, Any]]) -> Run:
    before = cpu_seconds()
    seconds, details = job()
    return Run(round(seconds, 3), used_since(before), details)


def agreed(found: Sequence[Found]) -> Found:
    """What every run of an engine found."""
    if any(other != found[0] for other in found):
        raise SystemExit(f"the runs of one engine do not agree: {found}")
    return found[0]


def answer_runs(runs: tuple[Run, ...], rows: int, checksum: int | None = None) -> None:
    """Print the answer for the parent process."""
    print(json.dumps(asdict(Outcome(runs, rows, checksum))), flush=True)


def answer(seconds: float, rows: int, checksum: int | None = None, details: Any = None) -> None:
    """The same for a job that ran once."""
    answer_runs((Run(seconds, details=details),), rows, checksum)
