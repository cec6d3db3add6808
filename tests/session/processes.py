"""Processes of their own, with all that they start, that a test may kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

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
