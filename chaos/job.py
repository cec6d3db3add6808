"""A job as somebody runs it who wants it to run: `tidemark run`, started again whenever it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from servers.processes import Process, processes
from tidemark.storage import Location

# So often in a row it may end by itself, if nobody has killed anything meanwhile.
_PATIENCE: Final = 4
_SECONDS_TO_END: Final = 60


class GivenUp(Exception):
    """The job does not go on."""


@dataclass
class Job:
    script: Path
    checkpoint: Location
    log: Path
    settings: Mapping[str, str]
    starts: int = 0
    _ended: int = 0
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def see_that_it_runs(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        if self._process is not None:
            self._end_what_is_left()
            self._ended += 1
        if self._ended > _PATIENCE:
            raise GivenUp(f"the job ended {self._ended} times by itself")
        self._start()

    def excuse(self) -> None:
        """Something was killed, so the job may end."""
        self._ended = 0

    def _start(self) -> None:
        command = [sys.executable, "-m", "tidemark", "run", str(self.script), "--no-progress"]
        command += ["--checkpoint", self.checkpoint.for_spark]
        command += [f"--set={key}={value}" for key, value in self.settings.items()]
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                command,
                stdout=output,
                stderr=output,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self.starts += 1

    def stop(self) -> None:
        """As by Ctrl-C: micro-batches that have begun are finished or taken back."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self.kill()
        self._end_what_is_left()

    def kill(self) -> None:
        """The job and all that it has started, at once."""
        self._end_what_is_left()
        if self._process is not None:
            self._process.wait()

    def _end_what_is_left(self) -> None:
        for process in self.processes():
            process.kill()

    def processes(self) -> list[Process]:
        """All that run in the session of the job, its own process first."""
        if self._process is None:
            return []
        found = [p for p in processes() if p.session == self._process.pid]
        return sorted(found, key=lambda p: p.pid)

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def is_in_a_micro_batch(self) -> bool:
        """Whether a query has begun one that it has not ended, by the notes of its checkpoint."""
        for job in self.checkpoint.names():
            begun, ended = (
                sum(map(str.isdigit, (self.checkpoint / job / "spark" / log).names()))
                for log in ("offsets", "commits")
            )
            if begun > ended:
                return True
        return False

    def last_words(self) -> str:
        return self.log.read_text(errors="replace")[-4000:] if self.log.exists() else ""
