"""Ctrl-C and SIGTERM as flags that are checked, not exceptions in whatever is running.

An exception from a signal handler could interrupt a call to Spark's JVM halfway. So a signal is
only recorded here; the main thread checks for it between short waits, and everything that may block
runs on another thread (see `worker.py`).
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Self


class Interrupted(Exception):
    """The user or the system wants us to stop."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number

    @property
    def exit_code(self) -> int:
        return 128 + self.number


class Interrupts:
    """While entered, the first SIGINT or SIGTERM is recorded; a second one ends the process."""

    WATCHED = (signal.SIGINT, signal.SIGTERM)

    def __init__(self, give_up: Callable[[int], None] = os._exit) -> None:
        self._number: int | None = None
        self._give_up = give_up
        self._before: dict[int, object] = {}

    def check(self) -> None:
        """Raise Interrupted if a signal has come."""
        if self._number is not None:
            raise Interrupted(self._number)

    def reset(self) -> None:
        """Continue as if there had been no signal: it has stopped what it was meant to stop."""
        self._number = None

    def __enter__(self) -> Self:
        for number in self.WATCHED:
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        self._before.clear()

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._number is not None:
            self._give_up(128 + number)
        self._number = number
