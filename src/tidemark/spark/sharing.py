"""The Spark that Tidemark has started, if there is one: the sessions of a process share it.

Each has a Spark session of its own, with settings of its own. The last one to leave stops Spark.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from weakref import WeakSet

from tidemark.errors import SetupError
from tidemark.spark.own_session import beside
from tidemark.spark.remote import is_remote
from tidemark.spark.settings import start

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOCK: Final = threading.Lock()


@dataclass(slots=True)
class _Shared:
    """A running Spark, its settings before anyone has changed one, and its users. A user that is
    garbage-collected without leaving does not count."""

    first: SparkSession
    settings: Mapping[str, str]
    users: WeakSet[object] = field(default_factory=WeakSet)

    @property
    def is_running(self) -> bool:
        return is_remote(self.first) or self.first.sparkContext._jsc is not None

    def session(self, config: Mapping[str, str]) -> SparkSession:
        """Another session, with the settings at the start and `config`."""
        session = beside(self.first, {}, theirs=self.settings)
        for key, value in config.items():
            if self.settings.get(key) != value:
                _set(session, key, value)
        return session


def _set(session: SparkSession, key: str, value: str) -> None:
    try:
        session.conf.set(key, value)
    except Exception as problem:  # of a class that depends on the kind of session
        raise SetupError(
            f"`{key}` cannot be set: Spark is already running with another value",
            notes={"why": "the sessions of a process share one Spark"},
            hint="set it in the first session, or stop the other sessions first",
        ) from problem


_shared: _Shared | None = None


def join(user: object, config: Mapping[str, str]) -> SparkSession:
    """A session for a user of Spark, which is started unless it is running."""
    global _shared
    with _LOCK:
        if _shared is not None and _shared.is_running:
            session = _shared.session(config)
        else:
            session = start(config)
            _shared = _Shared(session, dict(session.conf.getAll))
        _shared.users.add(user)
        return session


def leave(user: object) -> None:
    """Stop Spark if no one else uses it."""
    global _shared
    with _LOCK:
        if _shared is None:
            return
        _shared.users.discard(user)
        if not _shared.users:
            _shared.first.stop()
            _shared = None
