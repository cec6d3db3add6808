"""Watermarks by partition: a partition that is behind makes no rows of others late.

Each task notes the watermarks of the rows that it has read of partitions in a file of its own: in
an object store, a file for each partition would take longer than the rows. Before the next
micro-batch the driver takes the smallest one of all partitions, and Spark follows that: rows that
only carry the watermark come beside those of the source, so it does not matter what was filtered
out. It advances one micro-batch later than it would if it followed the rows. Key groups to which
workers report need not wait for it: the driver reports to them which partitions count
(`runtime/partition_marks.py`). Nor need they wait for the driver to report the end of a source
whose partitions have been read to their ends.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tidemark.kernels.columns import AFTER_ALL, BEFORE_ALL
from tidemark.spark.moments import END_MS, WATERMARK
from tidemark.storage import Location

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# The names of a source's partitions.
PARTITIONS: Final = "partitions.json"
# Where each partition of a bounded source ends: in the same terms in which workers note up to where
# they have read.
ENDS: Final = "ends.json"
# Which partitions a source that is aligned with others has left out of the micro-batch.
ALIGNED: Final = "aligned.json"
_PREFIX: Final = "marks-"
# Earlier versions had a file for each partition.
_EARLIER_PREFIX: Final = "mark-"
MARKS: Final = "marks"
# There if all operators of the stream hear of ends from workers.
_HEARD: Final = "ends-are-heard.json"


@dataclass(frozen=True, slots=True)
class Mark:
    """The watermark of what workers have read of a partition up to an offset; and whether they have
    reported to key groups that it ends there."""

    watermark: int
    end: int | None = None
    ended: bool = False

    def written(self) -> dict[str, Any]:
        """As it is noted: earlier versions know of no ends."""
        return {name: value for name, value in asdict(self).items() if value is not False}


def note(folder: Location, task: int, marks: Mapping[str, Mark]) -> None:
    """Note what a task has read, by the names of partitions. What tasks of this number have noted
    of other partitions in earlier micro-batches stays.
    """
    place = folder / f"{_PREFIX}{task}.json"
    known = {name: mark.written() for name, mark in {**_marks_in(place), **marks}.items()}
    place.write(json.dumps(known).encode())


def _marks_in(place: Location) -> dict[str, Mark]:
    written = place.read()
    return {} if written is None else {n: Mark(**m) for n, m in json.loads(written).items()}


def noted(folder: Location) -> dict[str, Mark]:
    """The marks of all partitions: of each the one up to where most has been read."""
    found: dict[str, Mark] = {}
    for file in _files(folder):
        if file.startswith(_PREFIX):
            marks = _marks_in(folder / file)
        else:
            marks = _earlier_mark(folder / file)
        for name, mark in marks.items():
            if name not in found or (mark.end or 0) >= (found[name].end or 0):
                found[name] = mark
    return found


def _files(folder: Location) -> list[str]:
    """The notes in a folder. One whose writing was interrupted is completed when it is read."""
    names = {file.name.removeprefix(".").removesuffix(".new") for file in folder.files(below=False)}
    prefixes = (_PREFIX, _EARLIER_PREFIX)
    return sorted(n for n in names if n.startswith(prefixes) and n.endswith(".json"))


def _earlier_mark(place: Location) -> dict[str, Mark]:
    written = place.read()
    name = place.name.removeprefix(_EARLIER_PREFIX).removesuffix(".json")
    return {} if written is None else {name: Mark(**json.loads(written))}


@dataclass(slots=True)
class _Seen:
    mark: Mark | None
    since: float


@dataclass
class Follower:
    """Follows the watermarks of the partitions of one source."""

    folder: Location
    idle_ms: int
    clock: Callable[[], float] = time.monotonic
    latest: dict[str, int] = field(default_factory=dict)
    # Up to where workers have read.
    reached: dict[str, int] = field(default_factory=dict)
    # The partitions whose ends workers have reported to key groups, and those that had no rows.
    ended: set[str] = field(default_factory=set)
    _ends: Mapping[str, int] | None = None
    _seen: dict[str, _Seen] = field(default_factory=dict)

    def look(self) -> None:
        """Take what workers have written since the last time."""
        held, marks, self._ends = self._held(), noted(self.folder), self._noted_ends()
        for name in self._names():
            mark = marks.get(name)
            found = self._seen.get(name)
            # A long micro-batch must not make a partition idle: count from the first time that
            # nothing is new.
            if found is None or found.mark != mark or name in held:
                self._seen[name] = _Seen(mark, self.clock() if mark is None else float("inf"))
            elif found.since == float("inf"):
                found.since = self.clock()
            latest = BEFORE_ALL if mark is None else mark.watermark
            self.latest[name] = max(self.latest.get(name, BEFORE_ALL), latest)
            self.reached[name] = 0 if mark is None else mark.end or 0
            # As long as others may be idle, one that has ended counts.
            if mark is not None and mark.ended and not self.idle_ms:
                self.ended.add(name)

    @property
    def active(self) -> list[int]:
        """The watermarks of partitions that are not idle."""
        return [self.latest[name] for name in self.counting]

    @property
    def counting(self) -> list[str]:
        """The partitions that are not idle."""
        return sorted(name for name in self.latest if not self.is_idle(name))

    @property
    def has_ended(self) -> bool:
        """Whether everything has been read of a bounded source."""
        if self._ends is None:
            return False
        return all(self.reached.get(name, 0) >= end for name, end in self._ends.items())

    @property
    def known_to_key_groups(self) -> dict[str, int]:
        """The watermarks of the partitions, as the driver reports them."""
        return {n: AFTER_ALL if n in self.ended else mark for n, mark in self.latest.items()}

    @property
    def is_known(self) -> bool:
        return bool(self.latest)

    def is_idle(self, name: str) -> bool:
        """Whether nothing new has come of a partition for so long that it does not count."""
        return bool(self.idle_ms) and self.silent_seconds(name) * 1000 >= self.idle_ms

    def silent_seconds(self, name: str) -> float:
        """For how long nothing new has been seen of a partition."""
        found = self._seen.get(name)
        return 0.0 if found is None else max(0.0, self.clock() - found.since)

    def _names(self) -> Iterator[str]:
        note = (self.folder / PARTITIONS).read()
        yield from [] if note is None else json.loads(note)

    def _noted_ends(self) -> Mapping[str, int] | None:
        written = (self.folder / ENDS).read()
        return None if written is None else json.loads(written)

    def _held(self) -> frozenset[str]:
        """The partitions that wait for others. They are not idle: their rows are still to come."""
        return frozenset(aligned(self.folder)) if self.idle_ms else frozenset()


def note_whether_heard(folder: Location, heard: bool) -> None:
    """Note, before a stream starts, whether all of its operators hear of ends from workers."""
    if heard:
        (folder / _HEARD).write(b"true")
    else:
        (folder / _HEARD).remove()


def is_heard(folder: Location) -> bool:
    """Whether all operators of the stream hear of ends from workers."""
    return (folder / _HEARD).read() is not None


def aligned(folder: Location) -> dict[str, str]:
    """The partitions of a source that wait for others, each with the name of their group."""
    written = (folder / ALIGNED).read()
    if written is None:
        return {}
    note = json.loads(written)
    return dict.fromkeys(note["held"], note["group"])


def combined(own: Follower, others: Sequence[Follower]) -> int | None:
    """The watermark of a source: the smallest one of its partitions; None if there is none yet.

    If all are idle, it is the one of the other sources: an idle source holds back no other.
    """
    if not own.is_known:
        return None
    marks = own.active
    if not marks:
        marks = [mark for other in others for mark in other.active]
    found = min(marks, default=BEFORE_ALL)
    return None if found == BEFORE_ALL else found


@dataclass
class News:
    """What the driver reports of a source before each micro-batch."""

    own: Follower
    others: Sequence[Follower] = ()
    heard: bool = False  # whether all key groups hear of ends from workers

    def since(self, reported: Mapping[str, Any]) -> dict[str, Any] | None:
        """What there is to report since the last time, if anything: the watermark, and those of
        the partitions that count."""
        if not self.own.latest:
            # The notes say which partitions have ended.
            known = reported["partitions"].items()
            self.own.latest |= {name: mark for name, mark in known if mark < AFTER_ALL}
        for each in (self.own, *self.others):
            each.look()
        if self.heard and _all_ends_are_known(reported, self.own):
            return None
        found = END_MS if self.own.has_ended else combined(self.own, self.others)
        news = {
            "watermark": max(found or 0, reported["watermark"]),
            "partitions": self.own.known_to_key_groups,
            "counting": self.own.counting,
        }
        return news if _has_news(reported, news) else None


def _all_ends_are_known(reported: Mapping[str, Any], own: Follower) -> bool:
    """Whether each key group knows that the source has ended. What the driver has reported says
    which partitions count, and which of them had ended by then; workers have reported the ends of
    the others since then."""
    names = sorted(own.latest)
    return own.has_ended and own.ended.issuperset(names) and reported.get("counting") == names


def watermarks(
    spark: SparkSession, folder: Location, others: Sequence[Location], idle_ms: int
) -> DataFrame:
    """The watermark of a source before a micro-batch, as a TIMESTAMP, and those of its partitions
    that count as JSON, whenever it has advanced or others count. It is the largest one when the
    source has ended."""
    from pyspark.sql.datasource import DataSource, SimpleDataSourceStreamReader
    from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow

    class WatermarkReader(SimpleDataSourceStreamReader, SupportsTriggerAvailableNow):  # type: ignore[misc]
        def __init__(self) -> None:
            others_followed = [Follower(other, idle_ms) for other in others]
            self._news = News(Follower(folder, idle_ms), others_followed, is_heard(folder))

        def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
            """Without it, Spark would ask only once, before anything has been read."""

        def initialOffset(self) -> dict[str, Any]:  # noqa: N802
            return {"watermark": 0, "partitions": {}}

        def read(self, start: dict[str, Any]) -> tuple[Iterator[tuple[Any, ...]], dict[str, Any]]:
            end = self._news.since(start)
            return (iter(()), start) if end is None else (iter([_row(end)]), end)

        def readBetweenOffsets(  # noqa: N802
            self, start: dict[str, Any], end: dict[str, Any]
        ) -> Iterator[tuple[Any, ...]]:
            # Spark's first micro-batch begins where it ends.
            return iter([_row(end)] if _has_news(start, end) else [])

    named = f"tidemark-watermarks-{uuid.uuid4().hex[:8]}"

    class WatermarkSource(DataSource):  # type: ignore[misc]
        @classmethod
        def name(cls) -> str:
            return named

        def schema(self) -> str:
            return "ms BIGINT, marks STRING"

        def simpleStreamReader(self, schema: Any) -> Any:  # noqa: N802
            return WatermarkReader()

    spark.dataSource.register(WatermarkSource)
    read = spark.readStream.format(named).load()
    return read.selectExpr(f"timestamp_millis(ms) AS {WATERMARK}", MARKS)


def _has_news(start: Mapping[str, Any], end: Mapping[str, Any]) -> bool:
    """Whether the watermark has advanced, or others count."""
    return bool(
        end["watermark"] > start["watermark"] or end.get("counting") != start.get("counting")
    )


def _row(end: Mapping[str, Any]) -> tuple[int, str | None]:
    """The watermark, and those of the partitions that count, which earlier versions did not say."""
    if "counting" not in end:
        return end["watermark"], None
    return end["watermark"], json.dumps({n: end["partitions"][n] for n in end["counting"]})
