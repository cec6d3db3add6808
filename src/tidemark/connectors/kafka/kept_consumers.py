"""The consumers that a worker keeps: one that goes on where its last range has ended has often
fetched the next records already.
"""

from __future__ import annotations

import atexit
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tidemark.connectors.kafka.client import client_library, consumer
from tidemark.connectors.kafka.positions import TopicPartition

if TYPE_CHECKING:
    from confluent_kafka import Consumer

_MOST_CONSUMERS: Final = 8
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

    def go_to(self, starts: Mapping[TopicPartition, int]) -> None:
        """Deliver these partitions from these offsets on, and no others."""
        if self.next == starts:
            return
        library = client_library()
        places = [library.TopicPartition(*place, start) for place, start in starts.items()]
        self.consumer.assign(places)
        self.next = dict(starts)


_kept: OrderedDict[Any, KeptConsumer] = OrderedDict()


@contextmanager
def kept_consumer(
    settings: Mapping[str, str], purpose: Any, *, fails: bool
) -> Iterator[KeptConsumer]:
    """The consumer that the worker keeps for a purpose. If it `fails`, records that are gone are an
    error.
    """
    key = tuple(sorted(settings.items())), purpose, fails
    found = _kept.pop(key, None)
    if found is None:
        reset = {"auto.offset.reset": "error" if fails else "earliest"}
        found = KeptConsumer(consumer(settings, {**_FETCHING, **reset}))
    try:
        yield found
    except BaseException:
        found.consumer.close()
        raise
    _kept[key] = found
    while len(_kept) > _MOST_CONSUMERS:
        _kept.popitem(last=False)[1].consumer.close()


def _close_all() -> None:
    while _kept:
        _kept.popitem()[1].consumer.close()


atexit.register(_close_all)
