"""Records of partitions, fetched in the worker that decodes them.

A large part of a partition has a consumer of its own. Small parts share one: to open one for each
would take longer than to read them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from tidemark.connectors.base import Part
from tidemark.connectors.kafka.client import client_library
from tidemark.connectors.kafka.kept_consumers import KeptConsumer, kept_consumer
from tidemark.connectors.kafka.positions import TopicPartition
from tidemark.errors import DataError, JobError

if TYPE_CHECKING:
    from confluent_kafka import Message

# As many as one call converts, so that columns are long enough and memory stays small.
_AT_ONCE: Final = 50_000
# A call returns at once when it has what was asked for, and after this time with what there is.
_WAIT_SECONDS: Final = 0.2
# So long nothing may come although there is more.
_PATIENCE_SECONDS: Final = 60
_TOGETHER: Final = "small parts"


def place_of(part: Part) -> TopicPartition:
    return part.topic, part.partition


def in_groups(parts: Sequence[Part]) -> list[list[Part]]:
    """The parts that a worker reads, in order: small ones in groups whose records are fetched
    together, large ones alone.
    """
    groups: list[list[Part]] = []
    room, places = 0, set[TopicPartition]()
    for part in parts:
        size = max(0, (part.end or 0) - part.start)
        if not groups or size > room or place_of(part) in places:
            groups.append([])
            room, places = _AT_ONCE, set()
        groups[-1].append(part)
        room -= size
        places.add(place_of(part))
    return groups


def records(
    settings: Mapping[str, str], group: Sequence[Part], *, fails: bool
) -> Iterator[tuple[Part, list[Message]]]:
    """The records of a group of parts as they come: those of each part are in order. If it `fails`,
    records that are gone are an error. Clear each list once it is decoded: the next one is long,
    too.
    """
    parts = {place_of(part): part for part in group}
    ends = {place: part.end or 0 for place, part in parts.items()}
    several = len(group) > 1
    purpose, split = (_TOGETHER, _by_partition) if several else (place_of(group[0]), _of_one)
    with kept_consumer(settings, purpose, fails=fails) as kept:
        kept.go_to({place: part.start for place, part in parts.items()})
        for messages in _arriving(kept, ends):
            found = split(kept, messages, ends)
            # Now `found` alone holds the records, and the caller clears it.
            messages.clear()
            while found:
                place, of_part = found.popitem()
                yield parts[place], of_part


def _of_one(
    kept: KeptConsumer, messages: Sequence[Message], ends: Mapping[TopicPartition, int]
) -> dict[TopicPartition, list[Message]]:
    """The same as below, quickly, for messages of one partition."""
    [(place, end)] = ends.items()
    found = []
    for message in messages:
        if message.error() is not None:
            _note_end(kept, place, message)
        elif message.offset() < end:
            found.append(message)
    last = messages[-1]
    if last.error() is None:
        kept.next[place] = last.offset() + 1
    return {place: found} if found else {}


def _by_partition(
    kept: KeptConsumer, messages: Sequence[Message], ends: Mapping[TopicPartition, int]
) -> dict[TopicPartition, list[Message]]:
    """The records before the ends; the consumer is after all messages."""
    found: dict[TopicPartition, list[Message]] = {}
    for message in messages:
        place = message.topic() or "", message.partition() or 0
        if place not in ends:
            continue  # of partitions that were assigned before
        if message.error() is not None:
            _note_end(kept, place, message)
            continue
        offset = message.offset() or 0
        kept.next[place] = offset + 1
        if offset < ends[place]:
            found.setdefault(place, []).append(message)
    return found


def _arriving(kept: KeptConsumer, ends: Mapping[TopicPartition, int]) -> Iterator[list[Message]]:
    """What a consumer delivers until it has reached these ends; who takes it notes how far it is.

    Offsets have gaps: where a topic is compacted, or a transaction ended. The end of a partition is
    reported, too. So there may be more than asked for, and the next range begins anew.
    """
    silent = 0.0
    while left := sum(max(0, end - kept.next[place]) for place, end in ends.items()):
        messages = kept.consumer.consume(min(left, _AT_ONCE), _WAIT_SECONDS)
        silent = 0.0 if messages else silent + _WAIT_SECONDS
        if messages:
            yield messages
        elif silent > _PATIENCE_SECONDS:
            place = next(place for place, end in ends.items() if kept.next[place] < end)
            raise JobError(
                f"Kafka sends no more records of {in_words(place)}",
                notes={
                    "offset": kept.next[place],
                    "expected": f"records up to offset {ends[place] - 1}",
                },
            )


def in_words(place: TopicPartition) -> str:
    return f"topic {place[0]}, partition {place[1]}"


def _note_end(kept: KeptConsumer, place: TopicPartition, message: Message) -> None:
    """Note where the partition ends, if that is what the message says; else it is a failure."""
    library = client_library()
    error = message.error()
    assert error is not None
    if error.code() == library.KafkaError._PARTITION_EOF:
        kept.next[place] = max(kept.next[place], message.offset() or 0)
    elif error.code() in (
        library.KafkaError._AUTO_OFFSET_RESET,
        library.KafkaError.OFFSET_OUT_OF_RANGE,
    ):
        raise DataError(
            f"{in_words(place)}  records were deleted before they were read",
            notes={"offset": kept.next[place]},
            hint="'tidemark.kafka.on-data-loss' = 'continue' goes on with the first that is there",
        )
    elif not error.retriable():
        raise JobError(f"{in_words(place)}  Kafka: {error.str()}")


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
