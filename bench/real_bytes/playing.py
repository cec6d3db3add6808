"""What the process of every engine does: a query cold, again warm, and once more for its rows.

Only the standard library is imported here, so that the interpreter with Flink can load it too.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from bench.engine import Run, answer_runs
from bench.processes import cpu_seconds, used_since

To = TypeVar("To")
One = TypeVar("One")
FAILED = "failed"


@dataclass(frozen=True)
class Start:
    """When a job was started, and what its process had used by then."""

    at: float
    used: Mapping[str, float] = field(default_factory=dict)


def play_all(jobs: Sequence[One], started: float, one: Callable[[One, Start], None]) -> None:
    """One job after the other; of several, those that fail answer with the reason."""
    start = Start(started)
    for job in jobs:
        try:
            one(job, start)
        except Exception as problem:
            if len(jobs) == 1:
                raise
            print(json.dumps({FAILED: f"{type(problem).__name__}: {problem}"}), flush=True)
        start = Start(time.time(), cpu_seconds())


def play(targets: Sequence[To], started: float | Start, run: Callable[[To], Any]) -> None:
    """Run the query into one target after the other: those of the cold and of the warm run, and
    perhaps one whose rows are compared instead of the warm one's. `run` returns when all rows are
    there, with details if there are any.

    The cold run of the first job includes the start of the process, of the JVM and of the cluster.
    How many rows there are is found in what the last run writes, by the parent process.
    """
    start = started if isinstance(started, Start) else Start(started)
    cold, warm, *compared = targets
    details = run(cold)
    first = Run(round(time.time() - start.at, 3), used_since(start.used), details)
    before, began = cpu_seconds(), time.perf_counter()
    details = run(warm)
    second = Run(round(time.perf_counter() - began, 3), used_since(before), details)
    for target in compared:
        run(target)
    answer_runs((first, second), rows=0)
