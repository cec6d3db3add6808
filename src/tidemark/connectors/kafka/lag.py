"""How many records a stream has not read yet, as the brokers say it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tidemark.connectors.kafka.client import Topics
from tidemark.connectors.kafka.positions import from_json
from tidemark.spark.positions import Lagging, Offset

if TYPE_CHECKING:
    from tidemark.connectors.kafka.stream import TopicReading

# Whoever asks waits no longer than Prometheus does.
_SECONDS: Final = 5


def lagging(table: str, reading: TopicReading) -> Lagging:
    topics = replace(reading.connected(), patience_s=_SECONDS)

    def owns(offset: Offset) -> bool:
        return bool(offset) and all(_has(topics, name, offset[name]) for name in offset)

    def records_after(offset: Offset) -> dict[str, int]:
        read = from_json(offset)
        _, latest = topics.bounds(read)
        return {
            f"{topic}-{partition}": max(0, latest[topic, partition] - at)
            for (topic, partition), at in read.items()
            if (topic, partition) in latest
        }

    return Lagging(table, owns, records_after)


def _has(topics: Topics, name: str, partitions: object) -> bool:
    """Offsets of other sources have other forms."""
    if not isinstance(partitions, dict):
        return False
    if topics.pattern is not None:
        return re.fullmatch(topics.pattern, name) is not None
    return name in topics.names
