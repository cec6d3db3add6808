"""Processes of their own, with all that they start, that a test may kill."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.waiting import PATIENCE_SECONDS

from .live_orders import Orders


class Process:
    """A process and those that belong to it. What it prints is added to a file, if one is given."""

    def __init__(self, command: Sequence[str], log: Path | None = None, **environment: str) -> None:
        with (log or Path(os.devnull)).open("ab") as output:
            self._process = subprocess.Popen(
                command,
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env={**os.environ, **environment},
                start_new_session=True,
            )

    def alive(self) -> bool:
        return self._process.poll() is None

    def end(self) -> int:
        """Wait until it ends. Returns its exit code."""
        return self._process.wait(PATIENCE_SECONDS)

    def kill_java(self) -> None:
        """End only the Java that it has started."""
        [java] = filter(self._has_started, Path("/proc").glob("[0-9]*/stat"))
        os.kill(int(java.parent.name), signal.SIGKILL)

    def _has_started(self, stat: Path) -> bool:
        with contextlib.suppress(OSError):  # of a process that has just ended
            name, _, rest = stat.read_text().partition(" (")[2].rpartition(") ")
            return name == "java" and int(rest.split()[2]) == self._process.pid
        return False

    def kill(self) -> None:
        """End them all at once: nothing more is written, closed or reported."""
        if self.alive():
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def run_command(orders: Orders, settings: Mapping[str, str]) -> Process:
    """`tidemark run` over the orders' script; a Spark that it starts belongs to it."""
    command = [sys.executable, "-m", "tidemark", "run", str(orders.script)]
    command += ["--checkpoint", str(orders.checkpoint)]
    command += [f"--set={key}={value}" for key, value in settings.items()]
    return Process(command, orders.log)
