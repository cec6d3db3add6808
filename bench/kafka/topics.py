"""Topics with the records that every engine reads, and what is in the topics that they write."""

from __future__ import annotations

from io import BytesIO
from itertools import islice
from typing import Any

import polars as pl

from bench.kafka.workload import PARTITIONS
from bench.real_bytes.files import orders_of, rates_of, sum_of_hashes, with_times_as_strings
from servers.kafka import Broker

_AT_ONCE = 100_000
_SECONDS = 600
_QUEUE = {"queue.buffering.max.messages": 0, "queue.buffering.max.kbytes": 2**31 - 1}


def filled(broker: Broker, orders: int) -> tuple[str, str]:
    """Topics with orders and a tenth as many rates."""
    return _filled(broker, orders_of(orders), "id"), _filled(broker, rates_of(orders), "account")


def _filled(broker: Broker, rows: pl.DataFrame, by: str) -> str:
    topic = broker.topic(PARTITIONS)
    client = broker.producer(_QUEUE)
    for piece in rows.iter_slices(_AT_ONCE):
        send(client, topic, piece, by)
        client.flush(_SECONDS)
    return topic


def send(client: Any, topic: str, rows: pl.DataFrame, by: str) -> None:
    """Send rows as JSON with a key, each to the partition that a number in it decides on."""
    frame = pl.DataFrame(
        {
            "key": as_json(rows.select(by)),
            "value": as_json(rows),
            "partition": rows[by] % PARTITIONS,
        }
    )
    for (partition,), own in frame.group_by("partition", maintain_order=True):
        messages = own.select("key", "value").to_dicts()
        taken = client.produce_batch(topic, messages, partition)
        assert taken == len(messages)
    client.poll(0)


def as_json(rows: pl.DataFrame) -> list[bytes]:
    written = BytesIO()
    with_times_as_strings(rows.lazy()).collect().write_ndjson(written)
    return written.getvalue().splitlines()


def digest(broker: Broker, topic: str) -> tuple[int, int]:
    """The number of records in a topic, and a sum that does not depend on their order."""
    rows, total = 0, 0
    each = (message.value() for message in broker.each(topic))
    while values := [*islice(each, _AT_ONCE)]:
        rows += len(values)
        total += sum_of_hashes(pl.Series("line", values, pl.Binary).cast(pl.String))
    return rows, total
