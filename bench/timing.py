"""Fair timing: whole processes, several runs, with alternating rivals so that both run on the
same machine under the same load.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Times:
    """Seconds of several runs of the same thing."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def __str__(self) -> str:
        return f"{self.median:.2f} ({min(self.seconds):.2f} - {max(self.seconds):.2f})"


def alternate(rivals: Mapping[str, Sequence[str]], runs: int) -> dict[str, Times]:
    """Seconds that each Python command line takes from start to exit, one run of each in turn.

    A first round warms up the disk cache and does not count.
    """
    seconds: dict[str, list[float]] = {name: [] for name in rivals}
    for number in range(runs + 1):
        for name, arguments in rivals.items():
            taken = _run(arguments)
            if number:
                seconds[name].append(taken)
    return {name: Times(tuple(taken)) for name, taken in seconds.items()}


def _run(arguments: Sequence[str]) -> float:
    started = time.perf_counter()
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
    taken = time.perf_counter() - started
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    return taken
