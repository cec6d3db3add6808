"""The port of Spark Connect's local server: two tests cannot have it at the same time."""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def connect_port() -> Iterator[None]:
    """Wait until no other test, of any process, runs a local server of Spark Connect."""
    with (Path(tempfile.gettempdir()) / "tidemark-tests-connect.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
