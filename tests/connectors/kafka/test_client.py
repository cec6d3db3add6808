"""What brokers answer to questions about topics while their leaders change."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from tidemark.connectors.kafka.client import Topics
from tidemark.errors import JobError

KEYS = [("orders", 0)]


class Brokers:
    """A consumer whose answers begin with these errors, as a whole or of the partition."""

    def __init__(self, *errors: int, of_partition: bool = False, there: bool = True) -> None:
        self.errors = [KafkaError(error) for error in errors]
        self.of_partition = of_partition
        self.refreshed = 0
        self.topics = {"orders": SimpleNamespace(partitions={0: None})} if there else {}

    def offsets_for_times(self, asked: list[TopicPartition], timeout: float) -> list[Any]:
        if self.errors and not self.of_partition:
            raise KafkaException(self.errors.pop(0))
        error = self.errors.pop(0) if self.errors else None
        return [_Answer(each.topic, each.partition, 7, error) for each in asked]

    def list_topics(self, timeout: float) -> Any:
        self.refreshed += 1
        return self


class _Answer:
    def __init__(self, topic: str, partition: int, offset: int, error: KafkaError | None) -> None:
        self.topic, self.partition, self.offset, self.error = topic, partition, offset, error


def topics(brokers: Brokers, patience_s: float = 60) -> Topics:
    return Topics({"bootstrap.servers": "b:9092"}, ["orders"], None, patience_s, brokers)


@pytest.mark.parametrize("of_partition", [False, True])
def test_a_question_is_asked_again_when_a_partition_has_another_leader(of_partition):
    changing = (KafkaError.FENCED_LEADER_EPOCH, KafkaError.NOT_LEADER_FOR_PARTITION)
    brokers = Brokers(*changing, of_partition=of_partition)

    assert topics(brokers).bounds(KEYS) == ({("orders", 0): 7}, {("orders", 0): 7})
    assert brokers.refreshed == 2


UNKNOWN = (KafkaError._UNKNOWN_PARTITION, KafkaError.UNKNOWN_TOPIC_OR_PART)


@pytest.mark.parametrize("of_partition", [False, True])
def test_a_partition_that_the_client_has_not_heard_of_is_asked_for_again(of_partition):
    brokers = Brokers(*UNKNOWN, of_partition=of_partition)

    assert topics(brokers).bounds(KEYS) == ({("orders", 0): 7}, {("orders", 0): 7})


@pytest.mark.parametrize("of_partition", [False, True])
def test_a_partition_that_the_brokers_do_not_have_is_left_out(of_partition):
    brokers = Brokers(*UNKNOWN, of_partition=of_partition, there=False)

    assert topics(brokers).bounds(KEYS) == ({}, {})


def test_a_leader_that_never_comes_is_an_error_in_the_end():
    brokers = Brokers(*[KafkaError.LEADER_NOT_AVAILABLE] * 100)

    with pytest.raises(JobError, match="Kafka does not answer"):
        topics(brokers, patience_s=0.2).bounds(KEYS)


def test_what_will_not_pass_is_an_error_at_once():
    brokers = Brokers(KafkaError.TOPIC_AUTHORIZATION_FAILED)

    with pytest.raises(JobError, match="Kafka does not answer"):
        topics(brokers).bounds(KEYS)
    assert brokers.refreshed == 0
