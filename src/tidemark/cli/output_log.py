"""Keeps what Spark's JVM and Python workers print off the user's screen.

They inherit the file descriptors 1 and 2. Those are redirected to a log file before Spark starts,
while our own output still goes to where it went before.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from tidemark.cli.scripts import log_folder, remove_old
from tidemark.cli.terminal import Terminal
from tidemark.errors import JobError, SetupError

# The JVM prints this at every start, and has no switch to turn it off.
_ALWAYS_THERE = b"WARNING: Using incubator modules: jdk.incubator.vector\n"


@contextmanager
def spark_output_to_log(terminal: Terminal, folder: Path | None = None) -> Iterator[Path]:
    """While entered, child processes print to a file. The terminal, `print` and Python's streams
    are not redirected. The file is kept only for an error that it may explain.
    """
    log = _new_log(folder)
    with _descriptors_pointed_at(log, terminal), _python_logs_in(log):
        try:
            yield log
        except (JobError, SetupError) as error:
            if _has_content(log):
                error.notes["Spark's log"] = log
            raise
        finally:
            if not _has_content(log):
                log.unlink(missing_ok=True)


def _has_content(log: Path) -> bool:
    return log.exists() and log.read_bytes() not in (b"", _ALWAYS_THERE)


def _new_log(folder: Path | None) -> Path:
    try:
        folder = folder or log_folder()
    except OSError:  # the home directory is not writable
        folder = Path(tempfile.mkdtemp(prefix="tidemark-"))
    remove_old(folder, "spark-*.log")
    return folder / f"spark-{os.getpid()}.log"


@contextmanager
def _descriptors_pointed_at(log: Path, terminal: Terminal) -> Iterator[None]:
    sys.stdout.flush()
    sys.stderr.flush()
    streams = sys.stdout, sys.stderr
    saved = os.dup(1), os.dup(2)
    sys.stdout, sys.stderr = (
        _reopened(stream, descriptor) for stream, descriptor in zip(streams, saved, strict=True)
    )
    terminal.out, terminal.err = sys.stdout, sys.stderr
    _point_output_at(log)
    try:
        yield
    finally:
        os.dup2(saved[0], 1)
        os.dup2(saved[1], 2)
        opened = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = terminal.out, terminal.err = streams
        for stream in opened:
            _close(stream)


def _reopened(stream: TextIO, descriptor: int) -> TextIO:
    """The stream on another descriptor that child processes, as with `os.dup`, do not inherit."""
    return open(descriptor, "w", encoding=stream.encoding, errors=stream.errors, buffering=1)


def _point_output_at(log: Path) -> None:
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)


def _close(stream: TextIO) -> None:
    """It is not an error if the reader has closed the pipe."""
    with suppress(BrokenPipeError):
        stream.close()


@contextmanager
def _python_logs_in(log: Path) -> Iterator[None]:
    """Redirect warnings and log records of libraries to the file as well."""
    handler = logging.FileHandler(log, encoding="utf-8", delay=True)
    root = logging.getLogger()
    root.addHandler(handler)
    with warnings.catch_warnings():
        logging.captureWarnings(True)
        try:
            yield
        finally:
            logging.captureWarnings(False)
            root.removeHandler(handler)
            handler.close()
