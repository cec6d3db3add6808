"""Forks of a process that has loaded PySpark, for what Spark starts on its driver when a query
starts: a Python for each stateful operator, only to ask for its state variables.
"""

from __future__ import annotations

import os
import runpy
import signal
import socket
import sys
import traceback
from contextlib import suppress
from typing import Final

# Where to ask for a fork: a socket, in a folder that only this user can open.
SOCKET: Final = "TIDEMARK_FORKS"
MODULE: Final = "pyspark.sql.streaming.transform_with_state_driver_worker"
# The bytes in which the length of what is asked is sent.
LENGTH: Final = 8


def serve_beside() -> None:
    """Start answering in a process of its own that ends with this one; the first one does it for
    all."""
    path = os.environ.get(SOCKET)
    if path is None:
        return
    listening = socket.socket(socket.AF_UNIX)
    try:
        listening.bind(path)
    except OSError:
        listening.close()
        return
    listening.listen()
    parent = os.getpid()
    if os.fork() == 0:
        try:
            _serve(listening, parent)
        finally:
            os._exit(0)
    listening.close()


def _serve(listening: socket.socket, parent: int) -> None:
    # Spark reads what the daemon prints; it would wait for us.
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):
        os.dup2(nothing, standard)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who is interrupted ends the daemon, and so this
    listening.settimeout(1)
    while os.getppid() == parent:
        with suppress(OSError, ValueError):  # a timeout, or not what is asked here
            connection, _ = listening.accept()
            with connection:
                connection.settimeout(10)
                _fork(connection, listening)


def _fork(connection: socket.socket, listening: socket.socket) -> None:
    length, [stderr], *_ = socket.recv_fds(connection, LENGTH, 1)
    with connection.makefile("rb") as file:
        asked = file.read(int.from_bytes(length))
    module, folder, *environment = asked.decode("utf-8", "surrogateescape").split("\0")
    theirs = dict(each.split("=", 1) for each in environment)
    # Another path could have other modules.
    same = theirs.get("PYTHONPATH") == os.environ.get("PYTHONPATH")
    if module == MODULE and same and os.fork() == 0:
        listening.close()
        os.dup2(stderr, 2)
        status = 1
        try:
            connection.settimeout(None)
            connection.send(b".")
            status = _run(module, folder, theirs)
        except Exception:
            traceback.print_exc()
        finally:
            with suppress(OSError):
                connection.send(bytes([status]))
            os._exit(status)
    os.close(stderr)


def _run(module: str, folder: str, environment: dict[str, str]) -> int:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    file = sys.modules[module].__file__
    assert file is not None
    sys.argv = [file]
    runpy.run_path(file, run_name="__main__")
    return 0
