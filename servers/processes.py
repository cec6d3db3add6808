"""The process of a server: started with a log, waited for, stopped; and processes as they run."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from servers.waiting import wait_until

# A server that is asked to end has this long before it is killed.
_SECONDS_TO_END = 30
# How often it is started after a kill.
_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class Process:
    """A process of this machine, as it was when it was looked at."""

    pid: int
    parent: int
    session: int
    command: str

    @property
    def is_executor(self) -> bool:
        return "CoarseGrainedExecutorBackend" in self.command

    @property
    def is_jvm(self) -> bool:
        return "org.apache.spark.deploy.SparkSubmit" in self.command

    @property
    def is_python(self) -> bool:
        return "python" in self.command.split("\0", 1)[0]

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


def processes() -> Iterator[Process]:
    """All that run."""
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = Path("/proc", entry, "stat").read_text()
            command = Path("/proc", entry, "cmdline").read_bytes().decode(errors="replace")
        except OSError:  # it has ended meanwhile
            continue
        # After the name in parentheses: state, parent, group, session.
        _, parent, _, session, *_ = stat.rsplit(")", 1)[1].split()
        yield Process(int(entry), int(parent), int(session), command)


class ServerProcess:
    """A server that can be started again after it has been stopped or killed."""

    def __init__(
        self,
        command: Sequence[str | Path],
        log: Path,
        is_up: Callable[[], bool],
        environment: Mapping[str, str] | None = None,
        *,
        own_group: bool = False,  # Ctrl-C does not end it, so that all are stopped in order
        whole_group: bool = False,  # a group of its own, which a kill ends as a whole
    ) -> None:
        self._command = command
        self._log = log
        self._is_up = is_up
        self._environment = environment
        self._group = 0 if own_group or whole_group else None
        self._kills_group = whole_group
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it serves."""
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(
                self._command,
                stdout=output,
                stderr=output,
                env=self._environment,
                process_group=self._group,
            )
        wait_until(self._is_up, self._last_words, self.runs, every=0.05)

    def stop(self) -> None:
        """Ask it to end."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End it at once, as a crash would."""
        if self._process is None:
            return
        if self._kills_group:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()

    def serves(self) -> bool:
        """Whether it answers, not only runs."""
        return self.runs() and self._is_up()

    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def _last_words(self) -> str:
        return self._log.read_text(errors="replace")[-2000:]


def start_again(server: ServerProcess) -> None:
    """After a kill: a database whose processes are still ending does not start at once."""
    for attempt in range(_ATTEMPTS):
        try:
            server.start()
        except AssertionError:
            if attempt == _ATTEMPTS - 1:
                raise
            time.sleep(0.5)
        else:
            return
