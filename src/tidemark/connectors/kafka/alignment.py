"""Watermark alignment: a partition whose watermark is far ahead waits for the slowest of its group.

Times of records are known when they have been read, so it is decided for each micro-batch anew: a
partition that is ahead is left out of it. What was read before stays as it was.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tidemark.connectors.kafka.positions import TopicPartition
from tidemark.kernels.columns import BEFORE_ALL
from tidemark.spark.partition_watermarks import ALIGNED, Follower

if TYPE_CHECKING:
    from tidemark.connectors.base import WatermarkNotes

Names = Collection[str]


@dataclass(frozen=True, slots=True)
class Alignment:
    """The group of a source, and how far it may be ahead of the slowest of the group."""

    group: str
    max_drift_ms: int
    notes: WatermarkNotes


def alignment_of(options: Mapping[str, Any], notes: WatermarkNotes | None) -> Alignment | None:
    """None if it is not wanted, or if nothing follows watermarks."""
    group = options["scan.watermark.alignment.group"]
    if group is None or notes is None:
        return None
    return Alignment(group, options["scan.watermark.alignment.max-drift"], notes)


def too_far(own: Mapping[str, int], group: Iterable[int], max_drift_ms: int) -> set[str]:
    """The partitions that are ahead of the slowest of the group by more than the drift.

    As in Flink, what has no watermark yet holds back no other.
    """
    slowest = min((mark for mark in group if mark != BEFORE_ALL), default=None)
    if slowest is None:
        return set()
    return {name for name, mark in own.items() if mark > slowest + max_drift_ms}


@dataclass
class Aligner:
    """Says which partitions of a source wait, and lets the other sources of the group know."""

    alignment: Alignment
    clock: Callable[[], float] = time.monotonic
    _others: dict[int, Follower] = field(default_factory=dict)

    def __post_init__(self) -> None:
        notes = self.alignment.notes
        self._own = Follower(notes.folder, notes.idle_ms, self.clock)
        self._noted: bytes | None = None

    def held(self, waiting: Iterable[TopicPartition], ended: Iterable[TopicPartition]) -> set[str]:
        """Those of the partitions with records that must wait. What has been read to its end holds
        back no other, nor does an idle partition; so one that can go on always does.
        """
        self._own.look()
        over = {name_of(key) for key in ended}
        group = [*_counted(self._own, over), *self._marks_of_others()]
        own = {name: self._own.latest.get(name, BEFORE_ALL) for name in map(name_of, waiting)}
        return too_far(own, group, self.alignment.max_drift_ms)

    def note(self, held: Names, ended: Iterable[TopicPartition]) -> None:
        """Before the micro-batch runs, so that the next one of any source finds it."""
        note = {
            "group": self.alignment.group,
            "idle_ms": self.alignment.notes.idle_ms,
            "held": sorted(held),
            "ended": sorted(map(name_of, ended)),
        }
        written = json.dumps(note).encode()
        if written != self._noted:
            (self.alignment.notes.folder / ALIGNED).write(written)
            self._noted = written

    def _marks_of_others(self) -> list[int]:
        found: list[int] = []
        for place, folder in enumerate(self.alignment.notes.others):
            written = (folder / ALIGNED).read()
            note = {} if written is None else json.loads(written)
            if note.get("group") != self.alignment.group:
                continue
            follower = self._others.setdefault(place, Follower(folder, note["idle_ms"], self.clock))
            follower.look()
            found += _counted(follower, note["ended"])
        return found


def name_of(key: TopicPartition) -> str:
    """As workers name a partition in their notes."""
    return f"{key[0]}-{key[1]}"


def _counted(follower: Follower, ended: Names) -> list[int]:
    return [
        mark
        for name, mark in follower.latest.items()
        if name not in ended and not follower.is_idle(name)
    ]
