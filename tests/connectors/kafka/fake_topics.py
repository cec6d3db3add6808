"""Topics without a broker, and what plans micro-batches of them."""

from __future__ import annotations

from tidemark.connectors.kafka.client import Position
from tidemark.connectors.kafka.stream import Offsets, TopicReading
from tidemark.storage import Location

A, B = ("orders", 0), ("orders", 1)


class FakeTopics:
    """A topic whose partitions grow when a test says so."""

    def __init__(self, **ends):
        self.ends = {("orders", int(name[1:])): end for name, end in ends.items()}
        self.first = dict.fromkeys(self.ends, 0)
        self.committed_for_group = []
        self.settings = {}

    def partitions(self):
        return sorted(self.ends)

    def bounds(self, keys):
        there = [key for key in keys if key in self.ends]
        return {k: self.first.get(k, 0) for k in there}, {k: self.ends[k] for k in there}

    def at_time(self, keys, ms):
        return dict.fromkeys(keys, None if ms > 100 else ms)

    def committed(self, keys):
        return {key: 3 if key == A else None for key in keys}

    def commit(self, positions):
        self.committed_for_group.append(dict(positions))


def offsets(
    topics, folder, *, start="earliest-offset", most=1000, end=None, fails=True, alignment=None
):
    class There(TopicReading):
        def connected(self):
            return topics

    return Offsets(
        There(
            settings={},
            topics=("orders",),
            pattern=None,
            start=Position(start),
            end=end,
            folder=Location.of(folder),
            most=most,
            fails=fails,
            discovery_ms=1,
            group=True,
            alignment=alignment,
        )
    )
