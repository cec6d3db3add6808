"""Which consumers a worker keeps, and for how long."""

from __future__ import annotations

from dataclasses import dataclass

from tests.waiting import wait_until
from tidemark.connectors.kafka.kept_consumers import KeptConsumer, UnusedConsumers


@dataclass
class Consumer:
    closed: bool = False

    def close(self) -> None:
        self.closed = True


def test_a_stream_that_comes_back_finds_its_consumer():
    kept, own = UnusedConsumers(), KeptConsumer(Consumer())
    kept.keep("stream", own)
    kept.keep("other", KeptConsumer(Consumer()))

    assert kept.take("stream") is own
    assert kept.take("stream") is None
    assert not own.consumer.closed


def test_a_consumer_that_nothing_asks_for_is_closed_after_a_while():
    kept = UnusedConsumers(idle_seconds=0.05)
    # Of those that come one after the other, also the last one.
    for name in ("first", "second"):
        own = KeptConsumer(Consumer())
        kept.keep(name, own)
        wait_until(lambda own=own: own.consumer.closed)
        assert kept.take(name) is None


def test_one_that_is_in_use_is_not_closed():
    kept = UnusedConsumers(idle_seconds=0.02)
    used, unused = KeptConsumer(Consumer()), KeptConsumer(Consumer())
    kept.keep("used", used)
    kept.keep("unused", unused)
    assert kept.take("used") is used

    wait_until(lambda: unused.consumer.closed)
    assert not used.consumer.closed


def test_of_many_consumers_the_longest_unused_is_closed():
    kept, consumers = UnusedConsumers(), [KeptConsumer(Consumer()) for _ in range(10)]
    for number, each in enumerate(consumers):
        kept.keep(number, each)

    assert [each.consumer.closed for each in consumers] == [True] * 2 + [False] * 8
    kept.close()
    assert all(each.consumer.closed for each in consumers)
