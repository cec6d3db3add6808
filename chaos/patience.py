"""A database that was killed says for a while that it is starting up."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

from servers.postgres import Postgres

_SECONDS: Final = 60

T = TypeVar("T")


def answer_of(postgres: Postgres, ask: Callable[[], T]) -> T:
    """Ask until there is an answer. What is asked may be asked twice."""
    from adbc_driver_manager import OperationalError

    deadline = time.monotonic() + _SECONDS
    while True:
        try:
            return ask()
        except OperationalError:
            if time.monotonic() > deadline:
                raise
            postgres.forget_connections()
            time.sleep(0.5)
