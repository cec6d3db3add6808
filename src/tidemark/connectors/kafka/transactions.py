"""Exactly once: a micro-batch is one transaction, which also notes that it is written.

The note is an offset that a group of the transaction's name commits in the transaction itself. So a
micro-batch and its note are visible together or not at all, whenever the job, a worker or a broker
ends, and one that comes again finds out whether it was written:

- before the commit, the transaction is open: to use its name again aborts it;
- while it is uncertain whether it was committed, to use its name waits until that is decided;
- after the commit, the note says so, and nothing is written.

The same name also shuts out a producer that is still at work for an earlier attempt. If such an
attempt begins anew while others have gone on, the note of a later micro-batch ends it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Protocol

from tidemark.connectors.kafka.clients import Producing
from tidemark.errors import JobError

_ATTEMPTS: Final = 3
_SECONDS: Final = 60.0


class Log(Protocol):
    """The brokers, as far as transactions need them."""

    def producer(self, **own: str) -> Producing: ...

    def check_topic(self, producing: Producing, topic: str) -> None: ...

    def noted(self, group: str, topic: str) -> tuple[tuple[int, str] | None, Any]: ...


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """One of a query; the query has a new id if its checkpoint is a new one."""

    query: str
    number: int

    @property
    def note(self) -> tuple[int, str]:
        return self.number + 1, self.query


@dataclass(slots=True)
class _Open:
    """A producer of this process that was not fenced off when it was last used."""

    log: Log
    producing: Producing
    group: Any
    written: MicroBatch | None = None


# By name. A worker that writes the next micro-batch too need not connect again.
_OPEN: dict[str, _Open] = {}


def write_once(
    log: Log, name: str, topic: str, batch: MicroBatch | None, write: Callable[[Producing], None]
) -> bool:
    """Write a micro-batch in a transaction, unless that was done before: whether it was written
    now. Without a number it cannot come again.
    """
    open_ = _OPEN.get(name)
    if batch is not None and open_ is not None and open_.written == batch and open_.log == log:
        return False
    found = _begun(log, name, topic, batch)
    if found is None:
        return False
    try:
        write(found.producing)
        found.producing.flush()
        _commit(found.producing)
    except BaseException:
        del _OPEN[name]
        with suppress(Exception):
            found.producing.client.purge()
            found.producing.client.abort_transaction(_SECONDS)
        raise
    found.written = batch
    return True


def _begun(log: Log, name: str, topic: str, batch: MicroBatch | None) -> _Open | None:
    """The producer in a transaction with the note in it; None if the batch is written already."""
    found = _OPEN.get(name)
    if found is not None and found.log == log:
        try:
            # The note comes first because it fails if another producer has used the name.
            return _noting(found, topic, batch)
        except Exception:
            del _OPEN[name]
    producing = log.producer(**{"transactional.id": name})
    log.check_topic(producing, topic)
    _retried(lambda: producing.client.init_transactions(_SECONDS), "begin")
    noted, group = log.noted(name, topic)
    if batch is not None and _is_written(batch, noted):
        return None
    _OPEN[name] = _noting(_Open(log, producing, group), topic, batch)
    return _OPEN[name]


def _is_written(batch: MicroBatch, noted: tuple[int, str] | None) -> bool:
    if noted is None or noted[1] != batch.query or noted[0] < batch.note[0]:
        return False
    if noted[0] > batch.note[0]:
        raise JobError(
            f"micro-batch {batch.number} comes after Kafka has micro-batch {noted[0] - 1}",
            notes={"why": "another run of the job is ahead, or the checkpoint is an older copy"},
            hint="end the other run; or to write the rows since then once more, use another "
            "'sink.transactional-id-prefix'",
        )
    return True


def _noting(found: _Open, topic: str, batch: MicroBatch | None) -> _Open:
    from confluent_kafka import TopicPartition

    client = found.producing.client
    client.begin_transaction()
    if batch is not None:
        offset, query = batch.note
        place = TopicPartition(topic, 0, offset, metadata=query)
        _retried(lambda: client.send_offsets_to_transaction([place], found.group, _SECONDS), "note")
    return found


def _commit(producing: Producing) -> None:
    _retried(lambda: producing.client.commit_transaction(_SECONDS), "commit")


def _retried(call: Callable[[], None], what: str) -> None:
    """Call again what may be called again; the library says so."""
    from confluent_kafka import KafkaException

    attempts = 0
    while True:
        try:
            call()
        except KafkaException as problem:
            attempts += 1
            error = problem.args[0]
            if not error.retriable() or attempts == _ATTEMPTS:
                raise JobError(
                    f"cannot {what} a transaction in Kafka",
                    notes={"why": error.str()},
                    hint="start the job again: it writes nothing twice, and loses nothing",
                ) from None
        else:
            return
