"""Ranges of offsets of a real broker, where offsets have gaps and transactions are open."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import pytest

from servers.kafka import Broker, Record
from servers.waiting import wait_until
from tidemark.connectors.base import Part
from tidemark.connectors.kafka.client import Topics
from tidemark.connectors.kafka.fetch import (
    in_groups,
    records,
    without_collecting,
)


@contextmanager
def transactions(kafka: Broker, topic: str) -> Iterator[Any]:
    producer = kafka.producer({"transactional.id": topic})
    producer.init_transactions()
    yield producer
    producer.flush()


def written(producer: Any, topic: str, *values: str, ends: Any = None) -> None:
    producer.begin_transaction()
    for value in values:
        producer.produce(topic, value, partition=0)
    producer.flush()
    if ends is not None:
        ends()


def settings(kafka: Broker) -> dict[str, str]:
    return {"bootstrap.servers": kafka.address, "isolation.level": "read_committed"}


def values_of(kafka: Broker, group: Sequence[Part]) -> list[list[bytes]]:
    """The records of each part of a group."""
    found: dict[Part, list[bytes]] = {part: [] for part in group}
    for part, messages in records(settings(kafka), group, fails=True):
        found[part] += [message.value() for message in messages]
    return [*found.values()]


def read(kafka: Broker, topic: str, start: int, end: int) -> list[bytes]:
    part = Part("", start, end, topic=topic, partition=0)
    [values] = values_of(kafka, [part])
    return values


@pytest.fixture(scope="module")
def gaps(kafka: Broker) -> tuple[str, int]:
    """A topic in which every other transaction was aborted, and where it ends."""
    topic = kafka.topic()
    with transactions(kafka, topic) as producer:
        for number in range(12):
            aborted = number % 2
            values = [f"{number}.{place}" for place in range(1 + number % 3)]
            ends = producer.abort_transaction if aborted else producer.commit_transaction
            written(producer, topic, *values, ends=ends)
    _, latest = Topics(settings(kafka), [topic]).bounds([(topic, 0)])
    return topic, latest[topic, 0]


COMMITTED = [
    f"{number}.{place}".encode() for number in range(0, 12, 2) for place in range(1 + number % 3)
]


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_ranges_that_end_in_gaps_have_each_record_once(
    kafka: Broker, gaps: tuple[str, int], size: int
):
    topic, end = gaps
    cuts = [*range(0, end, size), end]

    found = [read(kafka, topic, *cut) for cut in pairwise(cuts)]

    assert [value for values in found for value in values] == COMMITTED


def test_small_parts_are_the_same_when_they_are_fetched_together(
    kafka: Broker, gaps: tuple[str, int]
):
    topic, end = gaps
    others = kafka.topic(20)
    kafka.send(others, *(Record(f"{n // 20}", partition=n % 20) for n in range(60)))
    for start in (0, 3, 0):  # as another worker may have read what is before
        of_others = [Part("", 1, 3, topic=others, partition=n) for n in range(0, 20, 1 + start)]
        parts = [*of_others, Part("", start, end, topic=topic, partition=0)]

        *found, of_gaps = values_of(kafka, parts)

        assert of_gaps == read(kafka, topic, start, end)
        assert found == [[b"1", b"2"]] * len(of_others)


def test_what_has_come_in_the_meantime_is_in_the_next_part(kafka: Broker):
    topic = kafka.topic(3)

    def parts(*bounds: int) -> list[Part]:
        return [Part("", *bounds, topic=topic, partition=n) for n in range(3)]

    kafka.send(topic, *(Record(f"{n // 3}", partition=n % 3) for n in range(30)))
    assert values_of(kafka, parts(0, 2)) == [[b"0", b"1"]] * 3
    assert values_of(kafka, parts(2, 9)) == [[b"%d" % n for n in range(2, 9)]] * 3
    assert values_of(kafka, parts(9, 10)) == [[b"9"]] * 3


def test_partitions_that_are_no_longer_assigned_are_left_out(kafka: Broker):
    topic = kafka.topic(3)
    kafka.send(topic, *(Record(f"{n // 3}", partition=n % 3) for n in range(9)))

    def part(number: int) -> Part:
        return Part("", 0, 3, topic=topic, partition=number)

    for group in ([0, 1, 2], [2, 0], [1, 2], [0, 1, 2]):
        assert values_of(kafka, [*map(part, group)]) == [[b"0", b"1", b"2"]] * len(group)


def test_parts_are_fetched_together_as_long_as_they_are_few_records():
    def of(*sizes: int) -> list[list[int]]:
        parts = [Part("", 7, 7 + size, topic="t", partition=n) for n, size in enumerate(sizes)]
        return [[part.partition for part in group] for group in in_groups(parts)]

    assert of(10, 0, 20, 50_000, 30) == [[0, 1, 2], [3], [4]]
    assert of(10, 60_000, 20, 30) == [[0], [1], [2, 3]]
    assert of(0) == [[0]]
    assert of() == []
    twice = [Part("", start, start + 5, topic="t", partition=0) for start in (0, 5)]
    assert in_groups(twice) == [[part] for part in twice]


def test_a_range_is_the_same_when_it_is_read_again_after_others(
    kafka: Broker, gaps: tuple[str, int]
):
    topic, end = gaps
    first, last = read(kafka, topic, 0, 3), read(kafka, topic, end - 3, end)

    assert read(kafka, topic, 0, 3) == first
    assert read(kafka, topic, 0, end) == COMMITTED
    assert read(kafka, topic, end - 3, end) == last


def test_a_backlog_ends_before_a_transaction_that_is_still_open(kafka: Broker):
    topic = kafka.topic()
    with transactions(kafka, topic) as producer:
        written(producer, topic, "a", ends=producer.commit_transaction)
        written(producer, topic, "b")
        topics = Topics(settings(kafka), [topic])

        def end() -> int:
            return topics.bounds([(topic, 0)])[1][topic, 0]

        open_at = end()
        assert read(kafka, topic, 0, open_at) == [b"a"]

        producer.commit_transaction()
        # The coordinator's marker comes a little later.
        wait_until(lambda: end() > open_at)
        assert read(kafka, topic, open_at, end()) == [b"b"]


def test_garbage_is_collected_again_whatever_happens_to_records():
    with without_collecting():
        assert not gc.isenabled()
    assert gc.isenabled()

    with pytest.raises(ValueError), without_collecting():
        raise ValueError("damaged")
    assert gc.isenabled()
