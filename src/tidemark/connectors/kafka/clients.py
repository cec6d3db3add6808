"""The client library: producers that a worker keeps, and what their errors mean."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from tidemark.errors import JobError, SetupError

# The same keys go to the same partitions as with Java's client. A backlog may take longer to send
# than the minute that the library gives a transaction; brokers allow 15 minutes.
_DEFAULTS: Final = {
    "partitioner": "murmur2_random",
    "linger.ms": "20",
    "enable.idempotence": "true",
    "transaction.timeout.ms": "600000",
}
# Queues are bounded by the sink: beyond its own bound the library refuses some records but takes
# those after them. What goes wrong is raised.
_FIXED: Final[Mapping[str, object]] = {
    "queue.buffering.max.messages": "0",
    "queue.buffering.max.kbytes": str(2**31 - 1),
    "delivery.report.only.error": True,
    "log_level": "0",
}
# Settings of consumers, which the same table may have.
_OF_CONSUMERS: Final = (
    "allow.auto.create.topics",
    "auto.commit.interval.ms",
    "auto.offset.reset",
    "enable.auto.commit",
    "exclude.internal.topics",
    "fetch.",
    "group.",
    "heartbeat.interval.ms",
    "isolation.level",
    "max.partition.fetch.bytes",
    "max.poll.",
    "partition.assignment.strategy",
    "session.timeout.ms",
)
_SECONDS: Final = 60
NEW_TOPIC_SECONDS: Final = 10
# Otherwise a client writes to the terminal that another one has taken its place, which is an
# exception, too.
_SILENT: Final = logging.Logger("tidemark.kafka")  # of its own: it passes nothing on


@dataclass(frozen=True, slots=True)
class Producing:
    """A producer, and the records that it could not deliver."""

    client: Any
    failed: list[Exception] = field(default_factory=list)

    def flush(self) -> None:
        """Wait until the brokers have everything. Raises JobError if they did not take a record."""
        self.client.flush()
        self.check()

    def check(self) -> None:
        if self.failed:
            raise self.failed[0]


@dataclass(frozen=True, slots=True)
class Brokers:
    """What a sink needs of them."""

    settings: Mapping[str, str]

    def producer(self, **own: str) -> Producing:
        from confluent_kafka import Producer

        failed: list[Exception] = []

        def on_delivery(error: Any, message: Any) -> None:
            failed.append(refused(error, message.topic()))

        given = {k: v for k, v in self.settings.items() if not k.startswith(_OF_CONSUMERS)}
        settings = {**_DEFAULTS, **given, **_FIXED, **own, "on_delivery": on_delivery}
        return Producing(_made(lambda: Producer(settings, logger=_SILENT)), failed)

    def check_topic(self, producing: Producing, topic: str) -> None:
        """Raises SetupError if there is no such topic, or no broker."""
        from confluent_kafka import KafkaException

        try:
            # The library may replace the connection that the first answer is from. Who begins
            # transactions then waits for half a second.
            producing.client.list_topics(topic, _SECONDS)
            found = _settled(producing.client, topic)
        except KafkaException as problem:
            servers = self.settings.get("bootstrap.servers", "")
            raise SetupError(
                f"cannot reach the Kafka brokers {servers}",
                notes={"why": problem.args[0].str()},
                hint="check 'properties.bootstrap.servers', and that the brokers run",
            ) from None
        if found.error is not None:
            raise SetupError(
                f"cannot write to Kafka topic '{topic}'",
                notes={"why": found.error.str()},
                hint="create the topic, or check its name and your rights",
            )

    def noted(self, group: str, topic: str) -> tuple[tuple[int, str] | None, Any]:
        """The offset that a group has committed at a topic, with what is noted there; and what a
        producer needs to know about the group.
        """
        from confluent_kafka import Consumer

        found = _patiently(lambda: self._committed(group, topic))
        # It connects to no broker, unless it is asked for something else.
        consumer = _made(lambda: Consumer({**self._common, "group.id": group}))
        about = consumer.consumer_group_metadata()
        consumer.close()
        return (None if found.offset < 0 else (found.offset, found.metadata or "")), about

    def _committed(self, group: str, topic: str) -> Any:
        from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition

        asked = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0)])
        # Not while a transaction with an offset in it is being committed.
        [answer] = (
            self._admin()
            .list_consumer_group_offsets([asked], require_stable=True, request_timeout=_SECONDS)
            .values()
        )
        [found] = answer.result().topic_partitions
        if found.error is not None:
            raise KafkaException(found.error)
        return found

    def _admin(self) -> Any:
        """A client that the next task of the worker can use too."""
        from confluent_kafka.admin import AdminClient

        key = tuple(sorted(self._common.items()))
        if key not in _ADMINS:
            _ADMINS[key] = _made(lambda: AdminClient(self._common, logger=_SILENT))
        return _ADMINS[key]

    @property
    def _common(self) -> dict[str, str]:
        """The settings that all kinds of clients know."""
        own = (*_OF_CONSUMERS, *_OF_PRODUCERS)
        given = {k: v for k, v in self.settings.items() if not k.startswith(own)}
        return {**given, "log_level": "0"}


def _settled(client: Any, topic: str) -> Any:
    """What brokers say about a topic. One that was just created is unknown for a moment, on a busy
    broker for longer; Java's client waits for it, too.
    """
    from confluent_kafka import KafkaError

    passing = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.LEADER_NOT_AVAILABLE)
    end = time.monotonic() + NEW_TOPIC_SECONDS
    while True:
        found = client.list_topics(topic, _SECONDS).topics[topic]
        if found.error is None or found.error.code() not in passing or time.monotonic() > end:
            return found
        time.sleep(0.1)


def _patiently(call: Callable[[], Any]) -> Any:
    """The result of a call, also if the broker that answers it is just being decided."""
    from confluent_kafka import KafkaError, KafkaException

    deciding = (
        KafkaError.NOT_COORDINATOR,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.UNSTABLE_OFFSET_COMMIT,
    )
    end = time.monotonic() + _SECONDS
    while True:
        try:
            return call()
        except KafkaException as problem:
            if problem.args[0].code() not in deciding or time.monotonic() > end:
                raise _no_note(problem.args[0]) from None
        time.sleep(0.1)


def _no_note(error: Any) -> JobError:
    return JobError(
        "cannot read from Kafka which micro-batch was written last",
        notes={"why": error.str()},
        hint="check the right to read the offsets of groups whose names begin with "
        "'sink.transactional-id-prefix'",
    )


# By their settings.
_ADMINS: dict[tuple[tuple[str, str], ...], Any] = {}
# Those of this process that are not in use.
_KEPT: dict[tuple[tuple[str, str], ...], Producing] = {}


@contextmanager
def kept_producer(brokers: Brokers, topic: str | None) -> Iterator[Producing]:
    """A producer, which the next task of the worker can use too. At the end, brokers have all."""
    key = tuple(sorted(brokers.settings.items()))
    producing = _KEPT.pop(key, None)
    if producing is None:
        producing = brokers.producer()
    if topic is not None:
        brokers.check_topic(producing, topic)
    try:
        yield producing
        producing.flush()
    except BaseException:
        producing.client.purge()  # no one waits for it
        raise
    _KEPT[key] = producing


# Settings that consumers do not know.
_OF_PRODUCERS: Final = (
    "acks",
    "batch.",
    "compression.",
    "delivery.timeout.ms",
    "enable.idempotence",
    "linger.ms",
    "message.timeout.ms",
    "partitioner",
    "queue.buffering.",
    "request.timeout.ms",
    "retries",
    "transaction",
)


def _made(make: Callable[[], Any]) -> Any:
    from confluent_kafka import KafkaException

    try:
        return make()
    except KafkaException as problem:
        raise SetupError(
            "cannot use the settings for Kafka's client",
            notes={"why": problem.args[0].str()},
            hint="correct the 'properties.*' of the table; they have the names of librdkafka",
        ) from None


def refused(error: Any, topic: str) -> JobError:
    """What the brokers say about a record."""
    return JobError(
        f"cannot write to Kafka topic '{topic}'",
        notes={"why": error.str()},
        hint="check that the topic exists, your rights, and how large a record may be there",
    )


def need_library() -> None:
    """Raises SetupError if the client library is not installed."""
    try:
        import confluent_kafka  # noqa: F401
    except ImportError:
        raise SetupError(
            "the Kafka connector needs the package confluent-kafka",
            hint="pip install 'tidemark[kafka]', on the machines of the workers too",
        ) from None
