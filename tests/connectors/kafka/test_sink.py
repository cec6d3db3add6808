"""Sinks write to a broker, without Spark."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pyarrow as pa
import pytest
from confluent_kafka import KafkaError

from tidemark.connectors.kafka import clients
from tidemark.errors import JobError, SetupError

from . import killed_writer
from .tables import kafka_table, rows_of, write


def table_of(kafka, columns, options):
    return kafka_table(columns, options, servers=kafka.address)


def values(kafka, topic, isolation="read_committed"):
    return [message.value() for message in kafka.read(topic, isolation)]


def test_rows_are_there_when_the_sink_is_done_those_of_a_key_in_order(kafka):
    topic = kafka.topic(partitions=4)
    table = table_of(
        kafka,
        "id BIGINT, n BIGINT",
        f"'topic' = '{topic}', 'key.format' = 'raw', 'key.fields' = 'id', 'value.format' = 'csv', "
        "'value.fields-include' = 'EXCEPT_KEY'",
    )
    many = 60_000
    rows = rows_of({"id": [n % 100 for n in range(many)], "n": [*range(many)]})

    assert write(table, rows) == many

    by_key: dict[bytes, list[int]] = {}
    for message in kafka.read(topic):
        by_key.setdefault(message.key(), []).append(int(message.value()))
    assert {int.from_bytes(key): found for key, found in by_key.items()} == {
        key: [*range(key, many, 100)] for key in range(100)
    }


def test_times_and_headers_are_those_of_the_rows(kafka):
    topic = kafka.topic()
    table = table_of(
        kafka,
        "id INT, ts TIMESTAMP(3) METADATA FROM 'timestamp', headers MAP<STRING, BYTES> METADATA",
        f"'topic' = '{topic}', 'format' = 'json'",
    )
    rows = pa.table(
        {
            "id": [1, 2],
            "ts": pa.array([1_000_000, 0], pa.timestamp("us")),
            "headers": pa.array(
                [[("h", b"x"), ("n", None), ("h", b"y")], None], pa.map_(pa.string(), pa.binary())
            ),
        }
    )

    write(table, rows)

    first, second = kafka.read(topic)
    assert first.timestamp()[1] == 1000
    assert first.headers() == [("h", b"x"), ("h", b"y")]
    # The client cannot send the time 0, and it must not be that of sending.
    assert second.timestamp()[1] == 1


def test_a_task_has_a_partition_of_its_own_if_the_partitioner_is_fixed(kafka):
    topic = kafka.topic(partitions=3)
    options = f"'topic' = '{topic}', 'format' = 'csv', 'sink.partitioner' = 'fixed'"

    write(table_of(kafka, "id INT", options), rows_of({"id": [*range(100)]}))

    assert {message.partition() for message in kafka.read(topic)} == {0}


def test_rows_go_to_the_topics_that_they_name(kafka):
    one, two = kafka.topic(), kafka.topic()
    table = table_of(
        kafka, "id INT, topic STRING METADATA", f"'topic' = '{one};{two}', 'format' = 'csv'"
    )

    write(table, rows_of({"id": [1, 2, 3], "topic": [one, two, one]}))

    assert (values(kafka, one), values(kafka, two)) == ([b"1", b"3"], [b"2"])


def test_a_topic_that_does_not_exist_is_an_error(kafka, monkeypatch):
    monkeypatch.setattr(clients, "NEW_TOPIC_SECONDS", 0)
    table = table_of(kafka, "id INT", "'topic' = 'nowhere', 'format' = 'csv'")

    with pytest.raises(SetupError, match="cannot write to Kafka topic 'nowhere'"):
        write(table, rows_of({"id": [1]}))


def test_a_topic_that_brokers_do_not_know_yet_is_waited_for():
    unknown = KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART)
    answers = [None, unknown, unknown, None]

    class Client:
        def list_topics(self, topic, _):
            return SimpleNamespace(topics={topic: SimpleNamespace(error=answers.pop(0))})

    clients.Brokers({}).check_topic(clients.Producing(Client()), "new")

    assert not answers


def test_a_setting_that_does_not_exist_is_an_error(kafka):
    table = table_of(kafka, "id INT", "'topic' = 't', 'format' = 'csv', 'properties.x.y' = '1'")

    with pytest.raises(SetupError, match="cannot use the settings for Kafka's client") as caught:
        write(table, rows_of({"id": [1]}))
    assert "x.y" in str(caught.value.notes["why"])


EXACTLY_ONCE = (
    "'format' = 'csv', 'sink.delivery-guarantee' = 'exactly-once', "
    "'sink.transactional-id-prefix' = 'p'"
)


@pytest.mark.parametrize("guarantee", ["'format' = 'csv'", EXACTLY_ONCE])
def test_a_record_that_the_brokers_do_not_take_is_an_error(kafka, guarantee):
    topic = kafka.topic(settings={"max.message.bytes": "1000"})
    table = table_of(kafka, "x STRING", f"'topic' = '{topic}', {guarantee}")

    with pytest.raises(JobError, match=f"cannot write to Kafka topic '{topic}'"):
        write(table, rows_of({"x": ["a", "b" * 5000]}))

    write(table, rows_of({"x": ["c"]}))  # with a producer that knows nothing of it
    assert b"c" in values(kafka, topic)


def test_a_write_that_fails_leaves_nothing_that_readers_of_transactions_see(kafka):
    topic = kafka.topic(settings={"max.message.bytes": "1000"})
    table = table_of(kafka, "x STRING", f"'topic' = '{topic}', {EXACTLY_ONCE}")

    write(table, rows_of({"x": ["a"]}))
    with pytest.raises(JobError):
        write(table, rows_of({"x": ["b", "c" * 5000]}))

    assert values(kafka, topic) == [b"a"]


def test_a_writer_that_is_killed_and_starts_again_writes_each_row_once(kafka, tmp_path):
    topic = kafka.topic()
    checkpoint = tmp_path / "next"

    def run(phase: str, at: int) -> int:
        command = [sys.executable, killed_writer.__file__, kafka.address, topic]
        return subprocess.run([*command, str(checkpoint), phase, str(at)], check=False).returncode

    for at, phase in enumerate(killed_writer.PHASES, 1):
        # A kill while a transaction is committed may come too late, when all is done.
        assert run(phase, at) < 0 or phase == "committing"
    assert run("none", 0) == 0

    expected = [row for batch in range(killed_writer.BATCHES) for row in killed_writer.rows(batch)]
    assert [value.decode() for value in values(kafka, topic)] == expected
