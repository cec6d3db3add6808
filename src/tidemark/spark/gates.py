"""A gate between a stream's micro-batches and their consumer that can be closed.

Spark stops a query in the middle of a micro-batch. A savepoint must not: what has been written
would be written again. So the gate lets the micro-batch that is being delivered pass, and holds
back the next one until the query has ended.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_LOOK_EVERY_SECONDS = 0.02


class GateIsShut(Exception):
    """A micro-batch came after the last one of a job that is being stopped."""


class Gate:
    """Counts passing micro-batches, and lets none in once it is closed."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._held = False
        self._shut = False
        self._opened_to_fail = False

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Around the delivery of a micro-batch. Raises GateIsShut if no more are delivered."""
        with self._changed:
            if self._shut:
                self._held = True
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._opened_to_fail)
                raise GateIsShut
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    def shut(self, at_rest: Callable[[], bool], alive: Callable[[], bool]) -> None:
        """Close the gate, and wait until the last micro-batch has ended: the next one waits
        here, or `at_rest` says that there is none.
        """
        with self._changed:
            self._shut = True
        while alive():
            with self._changed:
                if self._held or (not self._inside and at_rest()):
                    return
            time.sleep(_LOOK_EVERY_SECONDS)

    def fail(self) -> None:
        """Wake up waiting micro-batches: their rows will not be delivered."""
        with self._changed:
            self._opened_to_fail = True
            self._changed.notify_all()
