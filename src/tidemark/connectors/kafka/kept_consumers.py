"""The consumers that a worker keeps: one that goes on where its last range has ended has often
fetched the next records already. It asks the broker for them twenty times a second, so it is closed
when its stream has not come back for a while.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tidemark.connectors.kafka.client import client_library, consumer
from tidemark.connectors.kafka.positions import TopicPartition

if TYPE_CHECKING:
    from confluent_kafka import Consumer

_MOST_CONSUMERS: Final = 8
_IDLE_SECONDS: Final = 10.0
_FETCHING: Final = {
    "enable.partition.eof": True,
    "fetch.wait.max.ms": 50,
    # What a consumer fetches ahead.
    "queued.max.messages.kbytes": 32_768,
    # How soon it goes on when that has been taken. By default it pauses for a second each time,
    # which is most of the time that a backlog takes (6 s for a million records, 2 s without).
    "fetch.queue.backoff.ms": 20,
    "fetch.message.max.bytes": 4 << 20,
}


@dataclass
class KeptConsumer:
    """A consumer, and the offset that it delivers next of each of its partitions."""

    consumer: Consumer
    next: dict[TopicPartition, int] = field(default_factory=dict)
    idle_since: float = 0.0

    def go_to(self, starts: Mapping[TopicPartition, int]) -> None:
        """Deliver these partitions from these offsets on, and no others."""
        if self.next == starts:
            return
        library = client_library()
        places = [library.TopicPartition(*place, start) for place, start in starts.items()]
        self.consumer.assign(places)
        self.next = dict(starts)


class UnusedConsumers:
    """Consumers that are not in use, the longest unused first. They are closed when they have not
    been used for `idle_seconds`."""

    def __init__(self, idle_seconds: float = _IDLE_SECONDS) -> None:
        self._idle_seconds = idle_seconds
        self._lock = threading.Lock()
        self._kept: OrderedDict[Any, KeptConsumer] = OrderedDict()
        self._watched = False

    def take(self, key: Any) -> KeptConsumer | None:
        with self._lock:
            return self._kept.pop(key, None)

    def keep(self, key: Any, kept: KeptConsumer) -> None:
        kept.idle_since = time.monotonic()
        with self._lock:
            self._kept[key] = kept
            closing = self._first(len(self._kept) - _MOST_CONSUMERS)
            if not self._watched:
                self._watched = True
                threading.Thread(target=self._watch, daemon=True).start()
        _close(closing)

    def close(self) -> None:
        with self._lock:
            closing = self._first(len(self._kept))
        _close(closing)

    def _watch(self) -> None:
        """Close those that are idle, until there are none."""
        some_left = True
        while some_left:
            time.sleep(self._idle_seconds / 4)
            with self._lock:
                earliest = time.monotonic() - self._idle_seconds
                idle = sum(kept.idle_since < earliest for kept in self._kept.values())
                closing = self._first(idle)
                some_left = self._watched = bool(self._kept)
            _close(closing)

    def _first(self, count: int) -> list[KeptConsumer]:
        return [self._kept.popitem(last=False)[1] for _ in range(count)]


def _close(consumers: Iterable[KeptConsumer]) -> None:
    for each in consumers:
        each.consumer.close()


_unused: Final = UnusedConsumers()
atexit.register(_unused.close)


@contextmanager
def kept_consumer(
    settings: Mapping[str, str], purpose: Any, *, fails: bool
) -> Iterator[KeptConsumer]:
    """The consumer that the worker keeps for a purpose. If it `fails`, records that are gone are an
    error.
    """
    key = tuple(sorted(settings.items())), purpose, fails
    found = _unused.take(key)
    if found is None:
        reset = {"auto.offset.reset": "error" if fails else "earliest"}
        found = KeptConsumer(consumer(settings, {**_FETCHING, **reset}))
    try:
        yield found
    except BaseException:
        found.consumer.close()
        raise
    _unused.keep(key, found)
