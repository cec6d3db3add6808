"""Idle connections, kept because opening one takes longer than most of what it is used for."""

from __future__ import annotations

import atexit
import os
from collections import defaultdict
from collections.abc import Callable
from typing import Any, Final

_IDLE: Final[dict[tuple[int, str], list[Any]]] = defaultdict(list)


def taken(database: str, answers: Callable[[Any], bool]) -> Any | None:
    """One of this process that still answers; others are closed by whoever tests them."""
    idle = _IDLE[os.getpid(), database]
    while idle:
        connection = idle.pop()
        if answers(connection):
            return connection
    return None


def put_back(database: str, connection: Any) -> None:
    _IDLE[os.getpid(), database].append(connection)


@atexit.register
def _close() -> None:
    """Close those of this process before Python takes their drivers apart."""
    for (process, _), idle in _IDLE.items():
        while process == os.getpid() and idle:
            idle.pop().close()
