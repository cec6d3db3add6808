"""What the process of every engine does: the query cold, again warm, and once more for its rows.

Only the standard library is imported here, so that the interpreter with Flink can load it too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from bench.engine import Run, answer_runs
from bench.processes import cpu_seconds, used_since

To = TypeVar("To")


def play(targets: Sequence[To], started: float, run: Callable[[To], Any]) -> None:
    """Run the query into one target after the other: those of the cold and of the warm run, and
    perhaps one whose rows are compared instead of the warm one's. `run` returns when all rows are
    there, with details if there are any.

    The cold run includes the start of the process, of the JVM and of the cluster. How many rows
    there are is found in what the last run writes, by the parent process.
    """
    cold, warm, *compared = targets
    details = run(cold)
    first = Run(round(time.time() - started, 3), used_since({}), details)
    before, began = cpu_seconds(), time.perf_counter()
    details = run(warm)
    second = Run(round(time.perf_counter() - began, 3), used_since(before), details)
    for target in compared:
        run(target)
    answer_runs((first, second), rows=0)
