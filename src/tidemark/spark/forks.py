"""The Pythons that Spark starts on its driver, forked from a process that has loaded PySpark and
what workers need. Loading it takes ten times as long.

They are the daemons of workers, and one for each source and each stateful operator of a stream. The
process starts together with Spark, so that it has loaded everything when Spark asks.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NoReturn

# What is forked.
MODULES: Final = (
    "pyspark.daemon",
    "pyspark.sql.streaming.python_streaming_source_runner",
    "pyspark.sql.streaming.transform_with_state_driver_worker",
    "tidemark.spark.worker_daemon",
)
# The bytes in which the length of what is asked is sent.
LENGTH: Final = 8

# How Spark starts Python.
_ENVIRONMENT: Final = {"PYTHONUNBUFFERED": "YES", "OMP_NUM_THREADS": "1"}
# Variables with these names have an effect only when Python or a library is loaded.
_WHEN_LOADED: Final = (
    *("PYTHON", "LD_", "GLIBC_", "MALLOC_", "_RJEM_", "JE_", "MIMALLOC_"),
    *("ARROW_", "OPENBLAS_", "OMP_", "MKL_", "NUMPY_"),
)
_OF_SPARK: Final = "PYTHON_"


def start(python: str, path: str) -> None:
    """Start the process with a `python`; it can be asked at this path, until this process ends."""
    if sys.platform != "linux":  # only there is forking safe
        return
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        process = subprocess.Popen(
            [python, "-m", __name__, str(listening.fileno())],
            env={"PYTHONHASHSEED": "0", **os.environ, **_ENVIRONMENT},
            pass_fds=[listening.fileno()],
            stdin=subprocess.PIPE,  # which closes when this process ends, however it does
            stdout=subprocess.DEVNULL,
        )
    atexit.register(process.communicate)


def main() -> None:
    from tidemark.spark import worker_daemon

    # Who is interrupted stops Spark, and so all that was forked.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    worker_daemon.load()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    _Server(socket.socket(fileno=int(sys.argv[1]))).serve()


@dataclass(frozen=True, slots=True)
class _Fork:
    """A fork that runs: who asked for it, and a descriptor that shows when it ends."""

    asking: socket.socket
    process: int


class _Server:
    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self._selector = selectors.DefaultSelector()
        self._forks: set[_Fork] = set()

    def serve(self) -> None:
        self._selector.register(sys.stdin, selectors.EVENT_READ)
        self._selector.register(self._listening, selectors.EVENT_READ)
        while True:
            for ready, _ in self._selector.select():
                if ready.fileobj is sys.stdin:
                    return
                if ready.data is None:
                    self._answer()
                elif ready.data in self._forks:
                    self._end(ready.data)

    def _answer(self) -> None:
        connection, _ = self._listening.accept()
        connection.settimeout(10)
        try:
            fork = self._forked(connection)
        except (OSError, ValueError):  # not what is asked here
            fork = None
        if fork is None:
            connection.close()
            return
        self._forks.add(fork)
        for what in (fork.asking, fork.process):
            self._selector.register(what, selectors.EVENT_READ, fork)

    def _end(self, fork: _Fork) -> None:
        """Either has ended: the fork, or who asked for it."""
        self._forks.remove(fork)
        for what in (fork.asking, fork.process):
            self._selector.unregister(what)
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(fork.process, signal.SIGTERM)
        os.close(fork.process)
        with suppress(OSError):
            fork.asking.shutdown(socket.SHUT_RDWR)  # other forks have it, too
        fork.asking.close()

    def _forked(self, connection: socket.socket) -> _Fork | None:
        length, standard, *_ = socket.recv_fds(connection, LENGTH, 3)
        try:
            with connection.makefile("rb") as file:
                said = file.read(int.from_bytes(length)).decode("utf-8", "surrogateescape")
            command, folder, *variables = said.split("\0")
            module, *arguments = command.split("\n")
            environment = dict(each.split("=", 1) for each in variables)
            if module not in MODULES or not _starts_alike(environment):
                return None
            if (process := os.fork()) == 0:
                self._become(connection, standard, [module, *arguments], folder, environment)
            return _Fork(connection, os.pidfd_open(process))
        finally:
            for descriptor in standard:
                os.close(descriptor)

    def _become(
        self,
        connection: socket.socket,
        standard: list[int],
        command: list[str],
        folder: str,
        environment: Mapping[str, str],
    ) -> NoReturn:
        """Run a module as the Python would for which this fork is, and end."""
        status = 1
        try:
            self._leave()
            for place, descriptor in enumerate(standard):
                os.dup2(descriptor, place)
                os.close(descriptor)
            connection.settimeout(None)
            connection.send(b".")
            status = _run(command, folder, environment)
        except Exception:
            traceback.print_exc()
        finally:
            with suppress(OSError):
                connection.send(bytes([status]))
            os._exit(status)

    def _leave(self) -> None:
        """Close what a fork has of this process."""
        self._selector.close()
        self._listening.close()
        for fork in self._forks:
            fork.asking.close()
            os.close(fork.process)


def file_of(module: str) -> str:
    found = importlib.util.find_spec(module)
    assert found is not None and found.origin is not None
    return found.origin


def _starts_alike(environment: Mapping[str, str]) -> bool:
    """Whether a Python that starts with an environment would be like this one."""
    ours = {**os.environ, "PYTHONPATH": _modules(os.environ)}
    theirs = {**environment, "PYTHONPATH": _modules(environment)}
    return all(
        ours.get(name) == value
        for name, value in theirs.items()
        if name.startswith(_WHEN_LOADED) and not name.startswith(_OF_SPARK)
    )


def _modules(environment: Mapping[str, str]) -> str:
    """Where modules are looked for; Spark adds its own jar, in which are none."""
    places = environment.get("PYTHONPATH", "").split(os.pathsep)
    return os.pathsep.join(place for place in places if place and not place.endswith(".jar"))


def _run(command: list[str], folder: str, environment: Mapping[str, str]) -> int:
    """The exit status."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    os.chdir(folder)
    module, *arguments = command
    file = file_of(module)
    sys.argv = [file, *arguments]
    try:
        runpy.run_path(file, run_name="__main__")
    except SystemExit as ended:
        return ended.code & 0xFF if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


if __name__ == "__main__":
    main()
