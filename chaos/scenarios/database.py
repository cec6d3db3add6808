"""Rates from PostgreSQL by Debezium and Kafka, joined with orders of Kafka, into PostgreSQL."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path

from chaos.data import PARTITIONS, Step, time_of
from chaos.patience import answer_of
from chaos.scenarios.played import Played
from chaos.scenarios.topics import Feeder, kafka_options
from chaos.sinks import keyed_topic, table
from chaos.world import World
from servers.connect import debezium

_SCRIPT = """
SET 'pipeline.max-parallelism' = '4';
SET 'table.exec.source.cdc-events-duplicate' = 'true';
CREATE TABLE orders (
  id INT, k STRING, amount INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH ({kafka}, 'connector' = 'kafka', 'topic' = '{orders}', 'format' = 'json',
        'scan.startup.mode' = 'earliest-offset');
CREATE TABLE rates (
  k STRING, rate INT, valid_from TIMESTAMP_LTZ(3), since AS CAST(valid_from AS TIMESTAMP(3)),
  WATERMARK FOR since AS since, PRIMARY KEY (k) NOT ENFORCED
) WITH ({kafka}, 'connector' = 'kafka', 'topic' = '{rates}', 'format' = 'debezium-json',
        'debezium-json.timestamp-format.standard' = 'ISO-8601',
        'scan.startup.mode' = 'earliest-offset');
CREATE TABLE enriched (id INT, k STRING, rate INT, PRIMARY KEY (id) NOT ENFORCED) {enriched};
CREATE TABLE totals (k STRING, n BIGINT, total INT, PRIMARY KEY (k) NOT ENFORCED) {totals};
CREATE TABLE to_kafka (id INT, k STRING, rate INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  {kafka}, 'connector' = 'upsert-kafka', 'topic' = '{to_kafka}', 'key.format' = 'json',
  'value.format' = 'json'
);
CREATE VIEW joined AS SELECT o.id, o.k, r.rate FROM orders AS o
LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.k = r.k;

EXECUTE STATEMENT SET BEGIN
INSERT INTO enriched SELECT * FROM joined;
INSERT INTO to_kafka SELECT * FROM joined;
INSERT INTO totals SELECT k, COUNT(*), SUM(amount) FROM orders GROUP BY k;
END;
"""


def debezium_to_database(world: World, folder: Path, ends: ExitStack) -> Played:
    kafka, postgres = world.kafka, world.postgres
    rates = postgres.table("k text PRIMARY KEY, rate int, valid_from timestamptz(3)")
    postgres.run(f"ALTER TABLE {rates} REPLICA IDENTITY FULL")
    enriched = postgres.table("id int PRIMARY KEY, k text, rate int")
    totals = postgres.table("k text PRIMARY KEY, n bigint, total int")
    (folder / "connect").mkdir()
    # Debezium forgets what it has sent in the last half minute, and sends it again after a kill.
    source = ends.enter_context(
        debezium(
            folder / "connect",
            kafka,
            postgres,
            f"public.{rates}",
            flush_ms=30_000,
            own_group=True,
            snapshots=False,
        )
    )
    orders, to_kafka = kafka.topic(PARTITIONS), kafka.topic(PARTITIONS)
    feeder = Feeder(kafka, orders, None)

    def feed(number: int, step: Step) -> None:
        for rate in step.rates:
            values = f"('{rate.k}', {rate.rate}, '{time_of(rate.second)}Z')"
            statement = (
                f"INSERT INTO {rates} VALUES {values} ON CONFLICT (k) DO UPDATE "
                "SET rate = EXCLUDED.rate, valid_from = EXCLUDED.valid_from"
            )
            answer_of(postgres, partial(postgres.run, statement))
        feeder.feed(number, step)

    kafka.make_topic(source.topic(rates))
    return Played(
        _SCRIPT.format(
            kafka=kafka_options(kafka),
            orders=orders,
            rates=source.topic(rates),
            enriched=postgres.options(enriched),
            totals=postgres.options(totals),
            to_kafka=to_kafka,
        ),
        feed,
        {
            "enriched": table(postgres, enriched, "id", "k", "rate"),
            "totals": table(postgres, totals, "k", "n", "total"),
            "to_kafka": keyed_topic(kafka, to_kafka),
        },
        {"broker": kafka.process, "connect": source.process, "postgres": postgres.process},
    )
