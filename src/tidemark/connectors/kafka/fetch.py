"""Records of a partition, fetched in the worker that decodes them.

A worker keeps its consumers: one that goes on where its last range has ended has often fetched the
next records already.
"""

from __future__ import annotations

import atexit
import gc
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tidemark.connectors.base import Part
from tidemark.connectors.kafka.client import client_library, consumer
from tidemark.errors import DataError, JobError

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message

# As many as one call converts, so that columns are long enough and memory stays small.
_AT_ONCE: Final = 50_000
# A call returns at once when it has what was asked for, and after this time with what there is.
_WAIT_SECONDS: Final = 0.2
# So long nothing may come although there is more.
_PATIENCE_SECONDS: Final = 60
_MOST_CONSUMERS: Final = 8
# So many records are there when they are first asked for, if they are fetched ahead.
_FEW: Final = 10_000
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
class _Open:
    """A consumer of one partition, and the offset that it delivers next."""

    consumer: Consumer
    next: int


_open: OrderedDict[Any, _Open] = OrderedDict()


def records(settings: Mapping[str, str], part: Part, *, fails: bool) -> Iterator[list[Message]]:
    """The records of a part, in order. If it `fails`, records that are gone are an error. Clear
    each list once it is decoded: the next one is long, too."""
    assert part.end is not None
    if part.start >= part.end:
        return
    key = _key_of(settings, part, fails)
    found = _opened(key, settings, part, fails)
    try:
        yield from _until(found, part)
    except BaseException:
        found.consumer.close()
        raise
    _open[key] = found
    while len(_open) > _MOST_CONSUMERS:
        _open.popitem(last=False)[1].consumer.close()


@contextmanager
def without_collecting() -> Iterator[None]:
    """Between the fetching of records and their end, Python does not look for garbage. It would
    look some hundred times among the records that are being made, which takes twice as long as the
    rest, and again among those that are being decoded.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def open_ahead(settings: Mapping[str, str], parts: Sequence[Part], *, fails: bool) -> None:
    """Begin to fetch small parts, which will be asked for one after the other: until the first
    record comes takes longer than to read them."""
    few = [p for p in parts if p.end is not None and p.start < p.end <= p.start + _FEW]
    for part in few[:_MOST_CONSUMERS]:
        key = _key_of(settings, part, fails)
        _open[key] = _opened(key, settings, part, fails)


def _key_of(settings: Mapping[str, str], part: Part, fails: bool) -> Any:
    return tuple(sorted(settings.items())), part.topic, part.partition, fails


def _opened(key: Any, settings: Mapping[str, str], part: Part, fails: bool) -> _Open:
    library = client_library()
    found = _open.pop(key, None)
    if found is not None and found.next == part.start:
        return found
    if found is None:
        reset = {"auto.offset.reset": "error" if fails else "earliest"}
        found = _Open(consumer(settings, {**_FETCHING, **reset}), part.start)
    found.consumer.assign([library.TopicPartition(part.topic, part.partition, part.start)])
    found.next = part.start
    return found


def _until(found: _Open, part: Part) -> Iterator[list[Message]]:
    """Offsets have gaps: where a topic is compacted, or a transaction ended. The end of the
    partition is reported, too."""
    assert part.end is not None
    silent = 0.0
    while found.next < part.end:
        wanted = min(_AT_ONCE, part.end - found.next)
        messages = found.consumer.consume(wanted, _WAIT_SECONDS)
        kept = []
        for message in messages:
            if message.error() is not None:
                found.next = max(found.next, _end_reported(message, part))
            elif message.offset() < part.end:
                kept.append(message)
        if messages:
            last = messages[-1]
            if last.error() is None:
                found.next = last.offset() + 1
            silent = 0.0
        else:
            silent += _WAIT_SECONDS
        if silent > _PATIENCE_SECONDS:
            raise JobError(
                f"Kafka sends no more records of topic {part.topic}, partition {part.partition}",
                notes={"offset": found.next, "expected": f"records up to offset {part.end - 1}"},
            )
        del messages
        if kept:
            yield kept
    if found.next > part.end:
        # It has delivered a record of the next range, after a gap.
        found.next = -1


def _end_reported(message: Message, part: Part) -> int:
    """The offset at which the partition ends, if that is what the message says."""
    library = client_library()
    error = message.error()
    if error.code() == library.KafkaError._PARTITION_EOF:
        return int(message.offset())
    where = f"topic {part.topic}, partition {part.partition}"
    if error.code() in (
        library.KafkaError._AUTO_OFFSET_RESET,
        library.KafkaError.OFFSET_OUT_OF_RANGE,
    ):
        raise DataError(
            f"{where}  records were deleted before they were read",
            notes={"offset": part.start},
            hint="'tidemark.kafka.on-data-loss' = 'continue' goes on with the first that is there",
        )
    if error.retriable():
        return -1
    raise JobError(f"{where}  Kafka: {error.str()}")


def _close_all() -> None:
    while _open:
        _open.popitem()[1].consumer.close()


atexit.register(_close_all)
