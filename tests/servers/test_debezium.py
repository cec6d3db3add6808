"""From a table of PostgreSQL by Debezium and Kafka to a temporal join, and on to Kafka and PostgreSQL.

Debezium is killed and sends more than a thousand changes again. Each test takes about a minute, so CI
leaves them out: run them with `DEBEZIUM=1 make test ARGS=tests/servers/test_debezium.py`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import tidemark
from servers.connect import Connect, debezium
from servers.kafka import Broker
from servers.postgres import Postgres
from tests.waiting import wait_until
from tidemark.spark.jobs import Job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.environ.get("DEBEZIUM"), reason="DEBEZIUM=1 runs it"),
]

CURRENCIES = [f"C{number}" for number in range(20)]
# Each second, all currencies have a new rate, and there is an order in each of them.
SECONDS = 120
LAST = 3000

SCRIPT = """
SET 'table.exec.source.cdc-events-duplicate' = 'true';
CREATE TABLE rates (
  currency STRING, rate DECIMAL(10, 2), valid_from TIMESTAMP_LTZ(3),
  WATERMARK FOR valid_from AS valid_from, PRIMARY KEY (currency) NOT ENFORCED
) WITH (
  {kafka}, 'topic' = '{rates}', 'format' = 'debezium-json', 'connector' = 'kafka',
  'debezium-json.schema-include' = '{with_schema}',
  'debezium-json.timestamp-format.standard' = 'ISO-8601', 'scan.startup.mode' = 'earliest-offset'
);
CREATE TABLE orders (
  id INT, currency STRING, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH (
  {kafka}, 'topic' = '{orders}', 'format' = 'json', 'connector' = 'kafka',
  'json.timestamp-format.standard' = 'ISO-8601', 'scan.startup.mode' = 'earliest-offset'
);
CREATE TABLE to_kafka (id INT, rate DECIMAL(10, 2), PRIMARY KEY (id) NOT ENFORCED) WITH (
  {kafka}, 'topic' = '{enriched}', 'connector' = 'upsert-kafka',
  'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE to_postgres (id INT, rate DECIMAL(10, 2), PRIMARY KEY (id) NOT ENFORCED) {postgres};
CREATE VIEW enriched AS SELECT o.id, r.rate FROM orders AS o
LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.currency = r.currency;
BEGIN STATEMENT SET;
INSERT INTO to_kafka SELECT * FROM enriched;
INSERT INTO to_postgres SELECT * FROM enriched;
END;
"""


@pytest.mark.parametrize("with_schema", [False, True])
def test_changes_that_debezium_sends_twice_change_nothing(
    spark: SparkSession, kafka: Broker, postgres: Postgres, tmp_path: Path, with_schema: bool
) -> None:
    rates = postgres.table(
        "currency text PRIMARY KEY, rate numeric(10, 2), valid_from timestamptz(3)"
    )
    enriched = postgres.table("id int PRIMARY KEY, rate numeric(10, 2)")
    orders, out = kafka.topic(), kafka.topic()
    postgres.run(f"ALTER TABLE {rates} REPLICA IDENTITY FULL")
    _snapshot(postgres, rates)
    tables = f"public.{rates}"
    with debezium(tmp_path, kafka, postgres, tables, with_schema=with_schema) as source:
        topic = source.topic(rates)
        wait_until(lambda: _sent(kafka, topic) == len(CURRENCIES) + 1, every=0.1)
        # It notes what it has sent when it is stopped; what comes later, it sends again after a kill.
        source.process.stop()
        source.process.start()
        wait_until(lambda: (tmp_path / "offsets").exists(), every=0.1)
        script = SCRIPT.format(
            kafka=f"'properties.bootstrap.servers' = '{kafka.address}'",
            rates=topic,
            orders=orders,
            enriched=out,
            with_schema=str(with_schema).lower(),
            postgres=postgres.options(enriched),
        )
        with running(spark, tmp_path / "checkpoint", script) as job:
            kafka.send(orders, *(_order(second, c) for second in range(60) for c in CURRENCIES))
            _change(postgres, rates, range(1, 60))
            before = _sent_all(kafka, source, topic, 59)
            source.process.kill()
            wait_until(lambda: postgres.rows(f"SELECT 1 FROM {enriched}"), every=0.3)
            source.process.start()
            _change(postgres, rates, range(60, SECONDS))
            kafka.send(
                orders, *(_order(second, c) for second in range(60, SECONDS) for c in CURRENCIES)
            )
            # Nobody has a rate of a currency that was deleted.
            kafka.send(orders, _order(SECONDS, "gone"), _order(LAST, "C0"))
            _change(postgres, rates, range(LAST, LAST + 1))
            total = _sent_all(kafka, source, topic, LAST)
            wait_until(
                lambda: postgres.rows(f"SELECT count(*) FROM {enriched}") == [(len(EXPECTED),)],
                alive=lambda: job.state == "running",
                seen=lambda: (postgres.rows(f"SELECT count(*) FROM {enriched}"), job.progress()),
                every=0.3,
            )
            wait_until(lambda: len(_values(kafka, out)) == len(EXPECTED), every=0.3)
    repeated = total - (len(CURRENCIES) * (SECONDS + 1) + 1 + 2)
    assert repeated == before - len(CURRENCIES) - 1
    assert dict(postgres.rows(f"SELECT id, rate::text FROM {enriched}")) == EXPECTED
    assert _values(kafka, out) == EXPECTED


def _id(second: int, currency: str) -> int:
    return second * 100 + (99 if currency == "gone" else int(currency[1:]))


# The rate of a second is its number; that of the snapshot is 0.
EXPECTED: dict[int, str | None] = {
    _id(second, currency): f"{second}.00" for second in range(SECONDS) for currency in CURRENCIES
} | {_id(SECONDS, "gone"): None}


@contextmanager
def running(spark: SparkSession, checkpoint: Path, script: str) -> Iterator[Job]:
    session = tidemark.connect(spark, checkpoint=checkpoint)
    job = session.sql(script).job
    assert isinstance(job, Job)
    try:
        yield job
        if job.failure:
            raise job.failure
    finally:
        session.stop()


def _time(second: int) -> str:
    return f"2024-05-01T{10 + second // 3600}:{second // 60 % 60:02}:{second % 60:02}Z"


def _order(second: int, currency: str) -> str:
    order = {"id": _id(second, currency), "currency": currency, "ts": _time(second)}
    return json.dumps(order)


def _snapshot(postgres: Postgres, table: str) -> None:
    rows = [f"('{currency}', 0, '{_time(0)}')" for currency in [*CURRENCIES, "gone"]]
    postgres.run(f"INSERT INTO {table} VALUES {', '.join(rows)}")


def _change(postgres: Postgres, table: str, seconds: range) -> None:
    if seconds.start == 1:
        postgres.run(f"DELETE FROM {table} WHERE currency = 'gone'")
    postgres.run(*(f"UPDATE {table} SET rate = {s}, valid_from = '{_time(s)}'" for s in seconds))


def _sent(kafka: Broker, topic: str) -> int:
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": kafka.address, "group.id": "tests"})
    try:
        if topic not in kafka.admin.list_topics(timeout=10).topics:
            return 0
        return consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=10)[1]
    finally:
        consumer.close()


def _sent_all(kafka: Broker, source: Connect, topic: str, second: int) -> int:
    """How many events the topic has when it has the rates of this second."""

    def has_them() -> bool:
        values = [message.value() for message in kafka.read(topic)[-len(CURRENCIES) :]]
        return all(value and f'"rate":"{second}.00"'.encode() in value for value in values)

    wait_until(has_them, alive=lambda: source.process.runs(), every=0.2)
    return _sent(kafka, topic)


def _values(kafka: Broker, topic: str) -> dict[int, str | None]:
    """The last value of each key."""
    return {
        json.loads(message.key())["id"]: _rate(message.value()) for message in kafka.read(topic)
    }


def _rate(value: bytes) -> str | None:
    rate = json.loads(value)["rate"]
    return None if rate is None else f"{rate:.2f}"
