"""A Kafka broker: one process that is its own controller."""

from __future__ import annotations

import base64
import os
import subprocess
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from servers.jars.fetching import jars_of
from servers.ports import HOST, free_ports
from servers.processes import ServerProcess

if TYPE_CHECKING:
    from confluent_kafka import Message

_SETTINGS = """\
process.roles=broker,controller
node.id=1
listeners=CLIENT://{host}:{port},CONTROLLER://{host}:{controller_port}
advertised.listeners=CLIENT://{host}:{port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=CLIENT
listener.security.protocol.map=CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.quorum.bootstrap.servers={host}:{controller_port}
log.dirs={data}
auto.create.topics.enable=false
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
# Topics are compacted soon.
log.cleaner.backoff.ms=200
# A broker that was killed comes back in half the time.
broker.session.timeout.ms=2000
broker.heartbeat.interval.ms=300
"""
JAVA = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m")
_SECONDS = 60


@dataclass(frozen=True)
class Record:
    """What a test sends; by default its partition follows from its key."""

    value: bytes | str | None
    key: bytes | str | None = None
    partition: int = -1
    timestamp_ms: int = 0
    headers: tuple[tuple[str, bytes], ...] = ()


class Broker:
    """What tests do with a broker. Each test uses topics with names of its own: `topic`."""

    def __init__(self, port: int, process: ServerProcess) -> None:
        self.address = f"{HOST}:{port}"
        self.process = process

    def topic(self, partitions: int = 1, settings: Mapping[str, str] | None = None) -> str:
        """A new, empty topic."""
        name = f"t{uuid.uuid4().hex[:12]}"
        self.make_topic(name, partitions, settings)
        return name

    def make_topic(
        self, name: str, partitions: int = 1, settings: Mapping[str, str] | None = None
    ) -> None:
        from confluent_kafka.admin import NewTopic

        topic = NewTopic(name, partitions, 1, config=dict(settings or {}))
        _done(self.admin.create_topics([topic]))

    def add_partitions(self, topic: str, total: int) -> None:
        from confluent_kafka.admin import NewPartitions

        _done(self.admin.create_partitions([NewPartitions(topic, total)]))

    def send(self, topic: str, *records: Record | str | bytes | None) -> None:
        """Send records and wait until the broker has them."""
        # The partitioner is that of Java's client.
        producer = self.producer({"partitioner": "murmur2_random", "linger.ms": 0})
        for given in records:
            one = given if isinstance(given, Record) else Record(given)
            producer.produce(
                topic,
                one.value,
                one.key,
                one.partition,
                timestamp=one.timestamp_ms,
                headers=list(one.headers),
            )
        assert producer.flush(_SECONDS) == 0

    def read(self, topic: str, isolation: str = "read_committed") -> list[Message]:
        """All records of a topic, partition by partition."""
        return sorted(
            self.each(topic, isolation), key=lambda message: (message.partition(), message.offset())
        )

    def each(self, topic: str, isolation: str = "read_committed") -> Iterator[Message]:
        """The same one by one, in no order of partitions."""
        with self.consumer(topic, isolation) as (consumer, partitions):
            yield from _until_the_end(consumer, partitions)

    @contextmanager
    def consumer(
        self, topic: str, isolation: str, settings: Mapping[str, Any] | None = None
    ) -> Iterator[tuple[Any, int]]:
        """A consumer at the beginning of a topic, and how many partitions that has."""
        from confluent_kafka import Consumer, TopicPartition

        own = {"group.id": "tests", "enable.auto.commit": False, "enable.partition.eof": True}
        consumer = Consumer(
            {**self._client, **own, "isolation.level": isolation, **(settings or {})}
        )
        try:
            partitions = self.admin.list_topics(topic, _SECONDS).topics[topic].partitions
            consumer.assign([TopicPartition(topic, number, 0) for number in sorted(partitions)])
            yield consumer, len(partitions)
        finally:
            consumer.close()

    def producer(self, settings: Mapping[str, Any] | None = None) -> Any:
        from confluent_kafka import Producer

        return Producer({**self._client, **(settings or {})})

    @cached_property
    def admin(self) -> Any:
        from confluent_kafka.admin import AdminClient

        return AdminClient(self._client)

    @property
    def _client(self) -> dict[str, Any]:
        # Clients that outlive the broker would tell so to the terminal.
        return {"bootstrap.servers": self.address, "log_level": 0}


def _done(futures: Mapping[Any, Any]) -> None:
    for future in futures.values():
        future.result(_SECONDS)


def _until_the_end(consumer: Any, partitions: int) -> Iterable[Message]:
    from confluent_kafka import KafkaError

    ended = 0
    while ended < partitions:
        message = consumer.poll(_SECONDS)
        assert message is not None, "the broker sends nothing"
        if message.error() is None:
            yield message
        else:
            assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
            ended += 1


@contextmanager
def broker(folder: Path, *, own_group: bool = False) -> Iterator[Broker]:
    """A broker that keeps what it has in a folder while it is stopped."""
    port, controller_port = free_ports(2)
    settings = folder / "server.properties"
    settings.write_text(
        _SETTINGS.format(
            host=HOST, port=port, controller_port=controller_port, data=folder / "data"
        )
    )
    program = [java(), *JAVA, "-cp", ":".join(map(str, jars_of("kafka")))]
    _format(program, settings)
    process = ServerProcess(
        [*program, "kafka.Kafka", settings],
        folder / "log",
        lambda: _answers(f"{HOST}:{port}"),
        own_group=own_group,
    )
    try:
        process.start()
        yield Broker(port, process)
    finally:
        process.stop()


def _format(program: list[str], settings: Path) -> None:
    """Make the folder that the broker keeps its data in."""
    cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    tool = [*program, "kafka.tools.StorageTool", "format", "--standalone"]
    # One ID in 64 begins with `-`: in an argument of its own it would be read as an option.
    done = subprocess.run(
        [*tool, f"--cluster-id={cluster}", "-c", settings], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _answers(address: str) -> bool:
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    quiet = {"bootstrap.servers": address, "log_level": 0, "reconnect.backoff.max.ms": 100}
    try:
        return bool(AdminClient(quiet).list_topics(timeout=5).brokers)
    except KafkaException:
        return False


def java() -> str:
    home = os.environ.get("JAVA_HOME")
    return f"{home}/bin/java" if home else "java"
