"""Tables in Kafka as sinks: workers encode the rows that they have, and send them.

At least once, each task sends its own records. Exactly once, a micro-batch is one transaction of
one producer, so that all of it is visible or nothing: tasks encode, and one task sends what all
have encoded.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tidemark.connectors.base import OneWriterSink, Target, WorkerSink, WriteRequest
from tidemark.connectors.kafka.clients import Brokers, Producing, kept_producer, need_library
from tidemark.connectors.kafka.records import KafkaRecords
from tidemark.connectors.kafka.sending import Sender
from tidemark.connectors.kafka.sink_options import is_exactly_once, transaction_prefix
from tidemark.connectors.kafka.target import brokers_of, encoding_of, topic_of
from tidemark.connectors.kafka.transactions import MicroBatch, write_once
from tidemark.spark.tasks import task_number

if TYPE_CHECKING:
    import pyarrow as pa

    from tidemark.spark.stateful.packed_rows import Take

_TASK: Final = b"task"


def worker_sink(target: Target) -> WorkerSink | OneWriterSink:
    need_library()
    if is_exactly_once(target.options):
        return OneWriterSink(_Encoder.of(target), _transaction_of(target))
    return _direct(target)


def local_sink(target: Target) -> WorkerSink:
    """For the rows of one process, which have one transaction anyway."""
    need_library()
    if not is_exactly_once(target.options):
        return _direct(target)
    encode, deliver = _Encoder.of(target), _transaction_of(target)

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, None]]:
        written = [*encode(batches)]
        deliver(None, (content for _, content in written))
        yield sum(rows for rows, _ in written), None

    return WorkerSink(write, _done)


def _direct(target: Target) -> WorkerSink:
    tasks = target.options["sink.parallelism"]
    direct = _Direct(_Encoder.of(target), brokers_of(target), topic_of(target))
    return WorkerSink(direct, _done, tasks)


def _transaction_of(target: Target) -> _Transaction:
    """A sink of a job has one name, also after a restart: to use it again ends what is open."""
    options = target.options
    name = f"{transaction_prefix(options)}-{target.job or uuid.uuid4().hex[:16]}"
    return _Transaction(brokers_of(target), name, options["topic"][0], topic_of(target))


def _done(notes: Callable[[], Sequence[str]], batch_id: int | None) -> None:
    notes()


def write(request: WriteRequest) -> None:
    """The rows of Spark, at least once."""
    sink = _direct(request)
    rows = request.frame if sink.tasks is None else request.frame.coalesce(sink.tasks)
    rows.mapInArrow(_Counting(sink.write), "rows BIGINT").collect()


# --- what workers do ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Encoder:
    """Rows of a task to bytes with records."""

    encoding: KafkaRecords
    by_task: bool  # whether each task has a partition of its own

    @classmethod
    def of(cls, target: Target) -> _Encoder:
        fixed = target.options.get("sink.partitioner") == "fixed"
        return cls(encoding_of(target), fixed)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
        for rows, records in self.records(batches):
            yield rows, _as_bytes(records)

    def records(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, pa.Table]]:
        from tidemark.runtime.combining import gathered

        filled = (batch for batch in batches if batch.num_rows)
        for piece in _whole(filled) if self.encoding.compares_rows else gathered(filled, _ROWS):
            records = self.encoding(piece)
            if self.by_task:
                records = records.replace_schema_metadata({_TASK: str(task_number())})
            yield piece.num_rows, records


# A piece this large is encoded at once: its columns are to stay small.
_ROWS: Final = 50_000


def _whole(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    import pyarrow as pa

    whole = [*batches]
    if whole:
        yield pa.Table.from_batches(whole)


def _task_of(records: pa.Table) -> int | None:
    number = (records.schema.metadata or {}).get(_TASK)
    return None if number is None else int(number)


def _as_bytes(records: pa.Table) -> bytes:
    import pyarrow as pa

    buffer = pa.BufferOutputStream()
    with pa.ipc.new_stream(buffer, records.schema) as stream:
        stream.write_table(records)
    return buffer.getvalue().to_pybytes()  # type: ignore[no-any-return]


def _from_bytes(content: bytes) -> pa.Table:
    import pyarrow as pa

    return pa.ipc.open_stream(content).read_all()


@dataclass(frozen=True, slots=True)
class _Direct:
    """Encodes and sends the rows of a task, which are in the topic when it is done."""

    encode: _Encoder
    brokers: Brokers
    topic: str | None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, None]]:
        total = 0
        with kept_producer(self.brokers, self.topic) as producing:
            sender = Sender(producing, self.topic)
            for rows, records in self.encode.records(batches):
                sender.send(records, _task_of(records))
                total += rows
        yield total, None


@dataclass(frozen=True, slots=True)
class _Transaction:
    """Sends the records of a batch in a transaction of this name, noted at a topic."""

    brokers: Brokers
    name: str
    noted_at: str
    topic: str | None

    def __call__(self, batch: tuple[str, int] | None, contents: Iterator[bytes]) -> None:
        def send(producing: Producing) -> None:
            sender = Sender(producing, self.topic)
            for content in contents:
                records = _from_bytes(content)
                sender.send(records, _task_of(records))

        number = None if batch is None else MicroBatch(*batch)
        if not write_once(self.brokers, self.name, self.noted_at, number, send):
            # What is upstream keeps its state in the same pass.
            for _ in contents:
                pass


@dataclass(frozen=True, slots=True)
class _Counting:
    take: Take

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for rows, _ in self.take(batches):
            yield pa.RecordBatch.from_pydict({"rows": [rows]})
