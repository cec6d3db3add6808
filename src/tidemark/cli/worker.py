"""Threads for calls that may block, so that the main thread can draw and respond to Ctrl-C."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from typing import Any, TypeVar, cast

from tidemark.rows import Change

T = TypeVar("T")

# The maximum time the main thread sleeps before it redraws and checks for signals.
TICK_SECONDS = 0.1


class Worker:
    """Runs calls one after another on one thread, so that a session's calls stay on it.

    The thread is a daemon, so that the process can end while Spark is starting.
    """

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="tidemark-session", daemon=True).start()

    def call(self, function: Callable[[], T], tick: Callable[[], None]) -> T:
        """The function's result or exception; meanwhile this thread calls `tick`."""
        future: Future[T] = Future()
        self._calls.put((future, function))
        while not wait([future], TICK_SECONDS).done:
            tick()
        return future.result()

    def _run(self) -> None:
        while True:
            future, function = self._calls.get()
            try:
                future.set_result(function())
            except BaseException as error:
                future.set_exception(error)


class Feed:
    """The changes of a query, read on one thread and consumed on another.

    The reader pauses when it is far ahead, so that a slow screen does not fill up memory.
    """

    MOST_WAITING = 10_000

    def __init__(self, changes: Iterator[Change]) -> None:
        self._waiting: deque[Change] = deque()
        self._news = threading.Event()
        self._ended = threading.Event()
        self._closed = threading.Event()
        self._error: BaseException | None = None
        threading.Thread(
            target=self._read, args=(changes,), name="tidemark-changes", daemon=True
        ).start()

    def take(self) -> list[Change]:
        """The changes since the last call; waits a moment for the first. Raises the query's
        error after the changes that came before it.
        """
        self._news.wait(TICK_SECONDS)
        self._news.clear()
        # Read first: an error seen here came after every change that is waiting now.
        error = self._error
        taken = [self._waiting.popleft() for _ in range(len(self._waiting))]
        if not taken and error is not None:
            raise error
        return taken

    @property
    def exhausted(self) -> bool:
        return self._ended.is_set() and not self._waiting and self._error is None

    def close(self) -> None:
        """Let the reader end although the rest is not consumed."""
        self._closed.set()

    def join(self, seconds: float) -> bool:
        """Wait until the reader has ended. Returns whether it has."""
        return self._ended.wait(seconds)

    def _read(self, changes: Iterator[Change]) -> None:
        try:
            for change in changes:
                self._waiting.append(change)
                self._news.set()
                while len(self._waiting) > self.MOST_WAITING and not self._closed.is_set():
                    time.sleep(0.01)
                if self._closed.is_set():
                    break
        except BaseException as error:
            self._error = error
        finally:
            _close(changes)
            self._ended.set()
            self._news.set()


def _close(changes: Iterator[Change]) -> None:
    """Closing a generator stops its query; other iterators have nothing to close."""
    if hasattr(changes, "close"):
        cast(Any, changes).close()
