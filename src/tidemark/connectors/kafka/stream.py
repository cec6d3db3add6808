"""Kafka topics as a stream of Spark: which offsets a micro-batch reads, and its watermark.

Spark keeps the offsets in its checkpoint. Its rows only name what is to be read; whoever needs the
records fetches them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

from tidemark.connectors import planned_stream
from tidemark.connectors.kafka import noted_ends
from tidemark.connectors.kafka.alignment import Aligner, Alignment, name_of
from tidemark.connectors.kafka.client import Position, Topics
from tidemark.connectors.kafka.positions import (
    Positions,
    TopicPartition,
    from_json,
    limited,
    lost,
    to_json,
)
from tidemark.connectors.kafka.tasks import tasks_of
from tidemark.errors import DataError
from tidemark.kernels.columns import BEFORE_ALL
from tidemark.spark.partition_watermarks import ALIGNED, ENDS, PARTITIONS, Mark, note
from tidemark.storage import Location

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PARTS: Final = "topic STRING, partition INT, start BIGINT, end BIGINT"
# No task has this number.
_DRIVER: Final = -1
# More tasks than these take longer to start than they save.
_TASKS_FOR_A_CORE: Final = 4


@dataclass(frozen=True)
class TopicReading:
    """What is read of which topics."""

    settings: Mapping[str, str] = field(repr=False)
    topics: Sequence[str]
    pattern: str | None
    start: Position
    end: Position | None
    folder: Location
    most: int
    fails: bool
    discovery_ms: int
    group: bool  # whether offsets are committed for a group
    alignment: Alignment | None = None

    def connected(self) -> Topics:
        return Topics(self.settings, self.topics, self.pattern)


class Offsets:
    """Plans micro-batches: in each partition, from the end of the last one to what there is."""

    def __init__(self, reading: TopicReading) -> None:
        self._reading = reading
        self._looked = time.monotonic()
        self._known: list[TopicPartition] | None = None
        self._until: Mapping[TopicPartition, int] | None = None
        self._ends_are_noted = False

    @cached_property
    def _aligner(self) -> Aligner | None:
        if self._reading.alignment is not None:
            return Aligner(self._reading.alignment)
        # As long as a note says that partitions wait, they do not become idle.
        (self._reading.folder / ALIGNED).remove()
        return None

    @cached_property
    def _topics(self) -> Topics:
        return self._reading.connected()

    def initial(self) -> dict[str, Any]:
        """Where the job started; it stays the same when it resumes."""
        return self._noted["start"]  # type: ignore[no-any-return]

    @cached_property
    def _noted(self) -> dict[str, Any]:
        found = noted_ends.noted(self._reading.folder)
        if found is None:
            keys = self._topics.partitions()
            self._known = keys
            end = self._reading.end
            found = {
                "start": to_json(self._reading.start.found(self._topics, keys)),
                "end": None if end is None else to_json(end.found(self._topics, keys)),
            }
            self._note_partitions(keys)
            noted_ends.note(self._reading.folder, found)
        return found

    def latest(self, start: Mapping[str, Any]) -> dict[str, Any]:
        """Where the next micro-batch ends."""
        starts = from_json(start)
        end = self._noted["end"]
        if end is not None and not self._ends_are_noted:
            # The query is unbounded, and waits for them.
            self._note_ends(from_json(end))
        for key in self._new(starts) if end is None else ():
            # As in Flink, a partition that is found later is read from its beginning.
            starts[key] = self._topics.bounds([key])[0].get(key, 0)
        earliest, latest = self._topics.bounds(starts)
        self._check(starts, earliest, latest)
        # What is lost is skipped.
        latest = {key: latest.get(key, offset) for key, offset in starts.items()}
        begin = {key: min(max(o, earliest.get(key, o)), latest[key]) for key, o in starts.items()}
        until = None if end is None else from_json(end)
        if self._until is not None:
            until = {key: self._until.get(key, begin[key]) for key in begin}
        bound = latest if until is None else until
        ends = {key: max(begin[key], min(latest[key], bound.get(key, 0))) for key in begin}
        return to_json(self._aligned(begin, ends, until))

    def _aligned(
        self, begin: Positions, ends: Positions, until: Positions | None
    ) -> dict[TopicPartition, int]:
        """The ends of a micro-batch, in which partitions wait that are too far ahead."""
        if self._aligner is None:
            return limited(begin, ends, self._reading.most)

        def ended(at: Positions) -> list[TopicPartition]:
            return [] if until is None else [key for key in at if at[key] >= until.get(key, 0)]

        waiting = [key for key in begin if ends[key] > begin[key]]
        held = self._aligner.held(waiting, ended(begin))
        reached = {key: begin[key] if name_of(key) in held else end for key, end in ends.items()}
        found = limited(begin, reached, self._reading.most)
        self._aligner.note(held, ended(found))
        return found

    def stop_here(self) -> None:
        """Read what there is now, and no more."""
        keys = self._known or self._topics.partitions()
        self._until = self._topics.bounds(keys)[1]
        self._note_ends(self._until)

    def _note_ends(self, latest: Positions) -> None:
        """Note where each partition ends of what is read, if there is an end."""
        noted = self._noted
        self._ends_are_noted = True
        if noted["end"] is None:
            return
        starts, ends = from_json(noted["start"]), from_json(noted["end"])
        until = {key: min(latest.get(key, end), end) for key, end in ends.items()}
        # Workers leave no note if there was nothing to read.
        reached = {
            name_of(key): end if end > starts.get(key, 0) else 0 for key, end in until.items()
        }
        (self._reading.folder / ENDS).write(json.dumps(reached).encode())
        empty = [name_of(key) for key, end in ends.items() if end <= starts.get(key, 0)]
        note(self._reading.folder, _DRIVER, dict.fromkeys(empty, Mark(BEFORE_ALL, ended=True)))

    def _check(self, starts: Any, earliest: Any, latest: Any) -> None:
        gone = lost(starts, earliest, latest)
        if not gone or not self._reading.fails:
            return
        (topic, partition), what = next(iter(gone.items()))
        raise DataError(
            f"topic {topic}, partition {partition}  records are gone that were not read yet",
            notes={"why": what},
            hint="'tidemark.kafka.on-data-loss' = 'continue' goes on with the first that is there",
        )

    def _new(self, starts: Mapping[TopicPartition, int]) -> list[TopicPartition]:
        """The partitions that have been added."""
        every, now = self._reading.discovery_ms, time.monotonic()
        if self._known is None or (every and (now - self._looked) * 1000 >= every):
            self._looked = now
            self._known = self._topics.partitions()
            self._note_partitions([*{*self._known, *starts}])
        return [key for key in self._known if key not in starts]

    def _note_partitions(self, keys: Sequence[TopicPartition]) -> None:
        names = sorted(map(name_of, keys))
        (self._reading.folder / PARTITIONS).write(json.dumps(names).encode())

    def parts(self, start: Mapping[str, Any], end: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """What is read of each partition."""
        starts, ends = from_json(start), from_json(end)
        added = [key for key in ends if key not in starts]
        starts |= self._topics.bounds(added)[0]
        return [
            (*key, starts[key], last) for key, last in ends.items() if starts.get(key, last) < last
        ]

    def commit(self, end: Mapping[str, Any]) -> None:
        if self._reading.group:
            self._topics.commit(from_json(end))


def arriving(spark: SparkSession, reading: TopicReading) -> DataFrame:
    """What comes of the topics, as the ranges of offsets that micro-batches read."""
    cores = int(spark.conf.get("spark.sql.shuffle.partitions") or 1)
    divide = partial(tasks_of, size=_size, most=_TASKS_FOR_A_CORE * cores)
    return planned_stream.arriving(spark, lambda: Offsets(reading), _PARTS, divide)


def _size(part: tuple[Any, ...]) -> int:
    _, _, start, end = part
    return int(end - start)
