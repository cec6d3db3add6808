"""Records in columns to a producer."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final

from tidemark.connectors.kafka.clients import Producing, refused
from tidemark.connectors.kafka.records import HEADERS, KEY, TIMESTAMP, TOPIC, VALUE

if TYPE_CHECKING:
    import pyarrow as pa

# How many records the library takes at a time, and how many bytes it may have that are not sent.
_ROWS: Final = 10_000
_BYTES: Final = 32 << 20
_ANY: Final = -1
# To librdkafka, the time 0 stands for that of sending. So the start of 1970 is a millisecond later.
_TIME_OF_SENDING: Final = 0
_FIRST_TIME: Final = 1


@dataclass(slots=True)
class Sender:
    """Sends records, and waits whenever the library has many."""

    to: Producing
    topic: str | None  # None: records say it
    waiting: int = 0

    def send(self, records: pa.Table, task: int | None = None) -> None:
        """With the number of the task that the records are from, all go to the partition of
        that.
        """
        for topic, own in self._by_topic(records):
            partition = _ANY if task is None else task % self._partitions(topic)
            for piece in _pieces(own):
                _give(self.to.client, topic, piece, partition)
                self.waiting += piece.nbytes
                if self.waiting >= _BYTES:
                    self.to.flush()
                    self.waiting = 0
        self.to.client.poll(0)
        self.to.check()

    def _by_topic(self, records: pa.Table) -> Iterator[tuple[str, pa.Table]]:
        from pyarrow import compute

        if self.topic is not None:
            yield self.topic, records
            return
        topics = records.column(TOPIC)
        for topic in topics.unique().to_pylist():
            yield topic, records.filter(compute.equal(topics, topic))

    def _partitions(self, topic: str) -> int:
        return max(1, len(self.to.client.list_topics(topic, 60).topics[topic].partitions))


def _pieces(records: pa.Table) -> Iterator[pa.Table]:
    parts = max(1, records.nbytes // _BYTES)
    count = max(1, min(_ROWS, records.num_rows // parts))
    for start in range(0, records.num_rows, count):
        yield records.slice(start, count)


def _give(client: Any, topic: str, records: pa.Table, partition: int) -> None:
    """One by one, which takes the library less time than a list of dictionaries; and without a loop
    in Python unless records have headers or a time of their own."""
    from confluent_kafka import KafkaException

    keys, values = (records.column(name).to_pylist() for name in (KEY, VALUE))
    same = repeat(topic), values, keys, repeat(partition)
    try:
        if TIMESTAMP in records.column_names or HEADERS in records.column_names:
            times, headers = _column(records, TIMESTAMP), _column(records, HEADERS)
            for *common, time, own in zip(*same, times, headers, strict=False):
                client.produce(*common, timestamp=_time_of(time), headers=_sent(own))
        else:
            deque(map(client.produce, *same), maxlen=0)
    except KafkaException as problem:
        raise refused(problem.args[0], topic) from None


def _column(records: pa.Table, name: str) -> list[Any]:
    if name in records.column_names:
        return records.column(name).to_pylist()  # type: ignore[no-any-return]
    return [None] * records.num_rows


def _time_of(time: int | None) -> int:
    return _TIME_OF_SENDING if time is None else time or _FIRST_TIME


def _sent(headers: Sequence[tuple[str, bytes | None]] | None) -> list[tuple[str, bytes | None]]:
    """As in Flink, a header without a name or a value is not sent."""
    return [header for header in headers or () if None not in header]
