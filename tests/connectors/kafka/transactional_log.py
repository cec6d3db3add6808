"""Brokers in this process, as far as transactions need them, and producers that can be killed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from tidemark.connectors.kafka import transactions
from tidemark.connectors.kafka.clients import Producing
from tidemark.connectors.kafka.transactions import MicroBatch, write_once


class Killed(BaseException):
    """The process is gone: it does nothing any more."""


@dataclass
class FakeLog:
    """What brokers know of one transactional id: who may use it, what is open and what is done."""

    epoch: int = 0
    pending: list[str] = field(default_factory=list)
    pending_note: tuple[int, str] | None = None
    records: list[str] = field(default_factory=list)
    note: tuple[int, str] | None = None
    # Called before and after each request, with its name.
    on_request: Callable[[str, str], None] = lambda name, when: None

    def producer(self, **own: str) -> Producing:
        assert own == {"transactional.id": "name"}
        return Producing(FakeClient(self))

    def check_topic(self, producing: Producing, topic: str) -> None:
        pass

    def noted(self, group: str, topic: str) -> tuple[tuple[int, str] | None, Any]:
        self.on_request("read the note", "before")
        return self.note, group

    def end(self, *, commit: bool) -> None:
        if commit:
            self.records += self.pending
            self.note = self.pending_note or self.note
        self.pending, self.pending_note = [], None


class FakeClient:
    def __init__(self, log: FakeLog) -> None:
        self._log = log
        self._epoch = -1

    def init_transactions(self, timeout: float) -> None:
        def shut_out_others() -> None:
            self._log.end(commit=False)
            self._log.epoch += 1
            self._epoch = self._log.epoch

        self._request("init", shut_out_others, fenced=False)

    def begin_transaction(self) -> None:
        pass

    def send_offsets_to_transaction(self, places: Any, group: Any, timeout: float) -> None:
        [place] = places

        def note() -> None:
            self._log.pending_note = (place.offset, place.metadata)

        self._request("note", note)

    def produce(self, topic: str, value: str) -> None:
        self._request("produce", lambda: self._log.pending.append(value))

    def flush(self) -> None:
        self._request("flush", lambda: None, fenced=False)

    def commit_transaction(self, timeout: float) -> None:
        self._request("commit", lambda: self._log.end(commit=True))

    def abort_transaction(self, timeout: float) -> None:
        self._request("abort", lambda: self._log.end(commit=False))

    def purge(self) -> None:
        pass

    def _request(self, name: str, effect: Callable[[], None], *, fenced: bool = True) -> None:
        self._log.on_request(name, "before")
        if fenced and self._epoch != self._log.epoch:
            raise KafkaException(KafkaError(KafkaError._FENCED, "shut out", fatal=True))
        effect()
        self._log.on_request(name, "after")


class Process:
    """A worker, with the producers that it keeps."""

    def __init__(self, log: FakeLog) -> None:
        self._log = log
        self._open: dict[str, Any] = {}

    def write(
        self,
        batch: int,
        rows: list[str],
        *,
        query: str = "q",
        meanwhile: Callable[[], object] = lambda: None,
    ) -> bool:
        def send(producing: Producing) -> None:
            for row in rows:
                producing.client.produce("topic", row)
            meanwhile()

        others, transactions._OPEN = transactions._OPEN, self._open
        try:
            return write_once(self._log, "name", "topic", MicroBatch(query, batch), send)
        finally:
            transactions._OPEN = others
