"""What is asked of a broker before anything is read: topics, partitions, offsets."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tidemark.connectors.kafka.positions import Positions, TopicPartition, specific_offsets
from tidemark.errors import JobError, SetupError

if TYPE_CHECKING:
    from confluent_kafka import Consumer

_SECONDS: Final = 30
# What brokers answer while leaders or coordinators change.
_PASSING: Final = (
    "LEADER_NOT_AVAILABLE",
    "NOT_LEADER_FOR_PARTITION",
    "FENCED_LEADER_EPOCH",
    "UNKNOWN_LEADER_EPOCH",
    "REPLICA_NOT_AVAILABLE",
    "NOT_COORDINATOR",
    "COORDINATOR_NOT_AVAILABLE",
    "COORDINATOR_LOAD_IN_PROGRESS",
)
# What the client says of a partition that is gone, and for a moment of one that is new to it.
_GONE: Final = ("_UNKNOWN_PARTITION", "UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC")
_PAUSE: Final = 0.1
_EARLIEST: Final = -2
_LATEST: Final = -1


def client_library() -> Any:
    """The client library. It is optional."""
    try:
        import confluent_kafka
    except ImportError:
        raise SetupError(
            "the connector 'kafka' needs the package confluent-kafka",
            hint="pip install 'tidemark[kafka]', on the workers of a cluster too",
        ) from None
    return confluent_kafka


def consumer(settings: Mapping[str, str], more: Mapping[str, Any] | None = None) -> Consumer:
    """A consumer that neither joins a group nor commits by itself."""
    library = client_library()
    # Without a group.id there is no consumer, even if it asks for no group.
    # It would write to the terminal; what matters comes as errors.
    own = {"group.id": "tidemark", "enable.auto.commit": False, "log_level": 0}
    try:
        return library.Consumer({**own, **settings, **(more or {})})
    except library.KafkaException as problem:
        # The message may quote a value.
        name = re.search(r'property[: ]+"?([\w.]+)', str(problem))
        raise JobError(
            "Kafka's client does not accept a setting of the table",
            notes={"setting": f"properties.{name[1]}"} if name else {},
            hint="see 'Settings of the client' in docs/kafka.md",
        ) from None


@dataclass
class Topics:
    """The topics of a table on their broker. It connects when it is first asked."""

    settings: Mapping[str, str]
    names: Sequence[str] = ()
    pattern: str | None = None
    patience_s: float = _SECONDS
    _consumer: Consumer | None = field(default=None, repr=False)

    def partitions(self) -> list[TopicPartition]:
        """All that there are now, sorted. A topic that is named must exist."""
        known = self._asked(lambda c: c.list_topics(timeout=self.patience_s)).topics
        if self.pattern is not None:
            names = [name for name in known if re.fullmatch(self.pattern, name)]
        else:
            names = [*self.names]
            missing = [name for name in names if name not in known]
            if missing:
                raise JobError(
                    f"the topic '{missing[0]}' does not exist",
                    notes={"brokers": self.settings["bootstrap.servers"]},
                    hint="create it, or correct 'topic'",
                )
        return sorted((name, number) for name in names for number in known[name].partitions)

    def bounds(self, keys: Iterable[TopicPartition]) -> tuple[Positions, Positions]:
        """The first offset of each partition, and the one after its last; not of those that do
        not exist."""
        asked = [*keys]
        return self._listed(asked, _EARLIEST), self._listed(asked, _LATEST)

    def _listed(self, keys: Sequence[TopicPartition], which: int) -> Positions:
        """One request for all partitions, in which these stand for timestamps."""
        library = client_library()
        asked = [library.TopicPartition(*key, which) for key in keys]
        found = self._asked(lambda c: self._offsets(c, asked)) if asked else []
        gone = _codes(_GONE)
        there = [p for p in found if p.error is None or p.error.code() not in gone]
        for each in there:
            if each.error is not None:
                raise self._unreachable(each.error)
        return {(p.topic, p.partition): p.offset for p in there}

    def _offsets(self, client: Consumer, asked: Sequence[Any]) -> list[Any]:
        """Without the partitions that are gone. The client must have heard of that from a broker:
        what it has in memory may be from before there was a leader."""
        library, gone = client_library(), _codes(_GONE)
        try:
            found = client.offsets_for_times(asked, timeout=self.patience_s)
        except library.KafkaException as problem:
            if problem.args[0].code() not in gone:
                raise
            found, unknown = [], [*asked]
        else:
            unknown = [p for p in found if p.error is not None and p.error.code() in gone]
        known = client.list_topics(timeout=self.patience_s).topics if unknown else {}
        for each in unknown:
            if each.topic in known and each.partition in known[each.topic].partitions:
                raise library.KafkaException(library.KafkaError(_codes(_PASSING)[0]))
        return found  # type: ignore[no-any-return]

    def at_time(self, keys: Iterable[TopicPartition], ms: int) -> dict[TopicPartition, int | None]:
        """The offset of the first record with this timestamp or a later one; None if all are
        before it."""
        library = client_library()
        asked = [library.TopicPartition(*key, ms) for key in keys]
        found = (
            self._asked(lambda c: c.offsets_for_times(asked, timeout=self.patience_s))
            if asked
            else []
        )
        return {(p.topic, p.partition): p.offset if p.offset >= 0 else None for p in found}

    def committed(self, keys: Iterable[TopicPartition]) -> dict[TopicPartition, int | None]:
        """What the group has committed."""
        library = client_library()
        asked = [library.TopicPartition(*key) for key in keys]
        found = self._asked(lambda c: c.committed(asked, timeout=self.patience_s)) if asked else []
        return {(p.topic, p.partition): p.offset if p.offset >= 0 else None for p in found}

    def commit(self, positions: Positions) -> None:
        """Commit for the group, as a note for others: jobs resume from their checkpoints."""
        library = client_library()
        there = [library.TopicPartition(*key, offset) for key, offset in positions.items()]
        self._consuming.commit(offsets=there, asynchronous=True)

    @property
    def _consuming(self) -> Consumer:
        if self._consumer is None:
            self._consumer = consumer(self.settings)
        return self._consumer

    def _asked(self, question: Callable[[Consumer], Any]) -> Any:
        """The answer; a partition may just have got another leader, which is asked then."""
        library = client_library()
        passing = _codes(_PASSING)
        deadline = time.monotonic() + self.patience_s
        while True:
            error = None
            try:
                found = question(self._consuming)
            except library.KafkaException as problem:
                error = problem.args[0]
            else:
                errors = [p.error for p in found if p.error] if isinstance(found, list) else []
                error = next((each for each in errors if each.code() in passing), None)
                if error is None:
                    return found
            if error.code() not in passing or time.monotonic() >= deadline:
                raise self._unreachable(error)
            with suppress(library.KafkaException):
                self._consuming.list_topics(timeout=self.patience_s)
            time.sleep(_PAUSE)

    def _unreachable(self, error: Any) -> JobError:
        return JobError(
            f"Kafka does not answer: {error.str()}",
            notes={"brokers": self.settings["bootstrap.servers"]},
            hint="check 'properties.bootstrap.servers', and that this machine reaches it",
        )


def _codes(names: Sequence[str]) -> list[int]:
    library = client_library()
    return [getattr(library.KafkaError, name) for name in names]


@dataclass(frozen=True, slots=True)
class Position:
    """Where to start or to end, by its mode."""

    mode: str
    timestamp_ms: int | None = None
    offsets: str | None = None
    # For partitions of which the group has committed nothing.
    reset: str = "none"
    option: str = "scan.startup.mode"

    def found(self, topics: Topics, keys: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
        """The offset in each partition."""
        earliest, latest = topics.bounds(keys)
        match self.mode:
            case "earliest-offset":
                return dict(earliest)
            case "latest-offset":
                return dict(latest)
            case "timestamp":
                assert self.timestamp_ms is not None
                times = topics.at_time(keys, self.timestamp_ms)
                return {k: latest[k] if at is None else at for k, at in times.items()}
            case "specific-offsets":
                given = specific_offsets(self.offsets or "")
                others = [key for key in keys if key[1] not in given]
                # As in Flink, the others start where the group has come to, if there is one.
                found = topics.committed(others) if "group.id" in topics.settings else {}
                begin = {k: earliest[k] if at is None else at for k, at in found.items()}
                return {key: given.get(key[1], begin.get(key, earliest[key])) for key in keys}
        known = topics.committed(keys)
        return {
            k: self._reset(k, earliest, latest) if at is None else at for k, at in known.items()
        }

    def _reset(self, key: TopicPartition, earliest: Positions, latest: Positions) -> int:
        if self.reset in ("earliest", "latest"):
            return (earliest if self.reset == "earliest" else latest)[key]
        topic, partition = key
        raise JobError(
            "the group has committed no offset to start from",
            notes={
                "topic": topic,
                "partition": partition,
                "why": f"'{self.option}' is 'group-offsets'",
            },
            hint=f"set '{self.option}' to another mode, or "
            "'properties.auto.offset.reset' = 'earliest'",
        )
