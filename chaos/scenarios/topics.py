"""From topics of Kafka to others: exactly once, and upserts by key."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from chaos.data import PARTITIONS, Step, partition_of, time_of
from chaos.scenarios.played import Played
from chaos.sinks import Sink, keyed_topic, topic
from chaos.world import World
from servers.kafka import Broker, Record

SOURCES = """
SET 'pipeline.max-parallelism' = '4';
CREATE TABLE orders (
  id INT, k STRING, amount INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH ({kafka}, 'connector' = 'kafka', 'topic' = '{orders}', 'format' = 'json',
        'scan.startup.mode' = 'earliest-offset');
CREATE TABLE rates (
  k STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts
) WITH ({kafka}, 'connector' = 'kafka', 'topic' = '{rates}', 'format' = 'json',
        'scan.startup.mode' = 'earliest-offset');
"""

_ONCE = """
CREATE TABLE sessions (k STRING, opened TIMESTAMP(3), n BIGINT, total INT)
WITH ({kafka}, {once}, 'topic' = '{sessions}');
CREATE TABLE pairs (k STRING, id INT, rate INT) WITH ({kafka}, {once}, 'topic' = '{pairs}');
CREATE TABLE joined (k STRING, id INT, rate INT) WITH ({kafka}, {once}, 'topic' = '{joined}');

EXECUTE STATEMENT SET BEGIN
INSERT INTO sessions
SELECT k, window_start, COUNT(*), SUM(amount)
FROM TABLE(SESSION(TABLE orders PARTITION BY k, DESCRIPTOR(ts), INTERVAL '15' SECOND))
GROUP BY k, window_start, window_end;
INSERT INTO pairs
SELECT o.k, o.id, r.rate FROM orders AS o LEFT JOIN rates AS r
ON o.k = r.k AND r.ts BETWEEN o.ts - INTERVAL '20' SECOND AND o.ts;
INSERT INTO joined
SELECT l.k, l.id, r.rate
FROM (SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '20' SECOND))) AS l
JOIN (SELECT * FROM TABLE(TUMBLE(TABLE rates, DESCRIPTOR(ts), INTERVAL '20' SECOND))) AS r
ON l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end;
END;
"""

_UPSERTS = """
CREATE TABLE totals (k STRING, n BIGINT, total INT, PRIMARY KEY (k) NOT ENFORCED)
WITH ({kafka}, {upsert}, 'topic' = '{totals}');
CREATE TABLE latest (id INT, k STRING, rate INT, PRIMARY KEY (id) NOT ENFORCED)
WITH ({kafka}, {upsert}, 'topic' = '{latest}');
CREATE TABLE largest (
  k STRING, place BIGINT, id INT, amount INT, PRIMARY KEY (k, place) NOT ENFORCED
) WITH ({kafka}, {upsert}, 'topic' = '{largest}');
CREATE VIEW last_rates AS SELECT k, rate FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM rates
) WHERE n = 1;

EXECUTE STATEMENT SET BEGIN
INSERT INTO totals SELECT k, COUNT(*), SUM(amount) FROM orders GROUP BY k;
INSERT INTO latest SELECT o.id, o.k, r.rate FROM orders AS o JOIN last_rates AS r ON o.k = r.k;
INSERT INTO largest SELECT k, place, id, amount FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY amount DESC, id) AS place FROM orders
) WHERE place <= 2;
END;
"""


def topics(world: World, folder: Path, ends: ExitStack) -> Played:
    once = (
        "'connector' = 'kafka', 'format' = 'json', 'sink.delivery-guarantee' = 'exactly-once', "
        f"'sink.transactional-id-prefix' = '{folder.name}'"
    )
    return _played(world, _ONCE, ("sessions", "pairs", "joined"), topic, once=once)


def upserts(world: World, folder: Path, ends: ExitStack) -> Played:
    upsert = "'connector' = 'upsert-kafka', 'key.format' = 'json', 'value.format' = 'json'"
    return _played(world, _UPSERTS, ("totals", "latest", "largest"), keyed_topic, upsert=upsert)


def _played(world: World, script: str, sinks: tuple[str, ...], kind: Any, **more: str) -> Played:
    broker = world.kafka
    orders, rates = broker.topic(PARTITIONS), broker.topic(PARTITIONS)
    written = {name: broker.topic(PARTITIONS) for name in sinks}
    feeder = Feeder(broker, orders, rates)
    return Played(
        (SOURCES + script).format(
            kafka=kafka_options(broker), orders=orders, rates=rates, **written, **more
        ),
        feeder.feed,
        {name: _sink(kind, broker, written[name]) for name in sinks},
        {"broker": broker.process},
    )


def _sink(kind: Any, broker: Broker, name: str) -> Sink:
    made: Sink = kind(broker, name)
    return made


def kafka_options(broker: Broker) -> str:
    return f"'properties.bootstrap.servers' = '{broker.address}'"


class Feeder:
    def __init__(self, broker: Broker, orders: str, rates: str | None) -> None:
        self._broker, self._orders, self._rates = broker, orders, rates

    def feed(self, number: int, step: Step) -> None:
        if self._rates is not None:
            rates = [
                _record(rate.k, k=rate.k, rate=rate.rate, ts=time_of(rate.second))
                for rate in step.rates
            ]
            self._broker.send(self._rates, *rates)
        orders = [
            _record(one.k, id=one.id, k=one.k, amount=one.amount, ts=time_of(one.second))
            for one in step.orders
        ]
        self._broker.send(self._orders, *orders)


def _record(key: str, **row: Any) -> Record:
    return Record(json.dumps(row), partition=partition_of(key))
