"""Waiting for what is to happen, so patiently that only what is broken runs out of time.

Whoever sleeps, or gives up after the time that a quick machine needs, fails on a slow one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

PATIENCE_SECONDS: Final = 600


def wait_until(
    happened: Callable[[], object],
    seen: Callable[[], object] = lambda: "nothing",
    alive: Callable[[], object] = lambda: True,
    every: float = 0.01,
) -> None:
    """Wait until it has happened; fail at once if whatever would cause it has ended."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not happened():
        # What ended meanwhile may have done it first.
        assert alive() or happened(), f"it ended before this happened; seen: {seen()}"
        assert time.monotonic() < deadline, f"this did not happen; seen: {seen()}"
        time.sleep(every)
