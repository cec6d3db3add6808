"""Which partitions wait for the slowest of their group, without a broker."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.connectors.kafka.fake_topics import FakeTopics, offsets
from tests.searching import searched
from tidemark import types as t
from tidemark.connectors.base import WatermarkNotes
from tidemark.connectors.kafka.alignment import Alignment, too_far
from tidemark.connectors.kafka.client import Position
from tidemark.kernels.columns import BEFORE_ALL
from tidemark.plan.expressions import Literal
from tidemark.spark.partition_watermarks import Follower, Mark, note
from tidemark.spark.source_watermarks import FollowedSource, SourceWatermarks
from tidemark.storage import Location

NOW = Literal(0, t.BigInt())
ALL = Position("latest-offset")


@dataclass
class Reading:
    """A topic whose records have the given seconds, read in micro-batches of a limited size."""

    folder: Path
    seconds: dict[str, list[int]]
    drift: int = 10
    beside: tuple[Path, ...] = ()
    group: str = "g"
    idle_ms: int = 0
    bounded: bool = False
    most: int = 1000

    def __post_init__(self):
        self.folder.mkdir(exist_ok=True)
        self.topics = FakeTopics(**{name: len(times) for name, times in self.seconds.items()})
        others = tuple(map(Location.of, self.beside))
        notes = WatermarkNotes(NOW, Location.of(self.folder), self.idle_ms, others)
        alignment = Alignment(self.group, self.drift * 1000, notes)
        end = ALL if self.bounded else None
        self.plan = offsets(self.topics, self.folder, most=self.most, end=end, alignment=alignment)
        self.at = self.plan.initial()

    def send(self, name, *seconds):
        self.seconds[name] += seconds
        self.topics.ends["orders", int(name[1:])] += len(seconds)

    def step(self):
        """The seconds that a micro-batch reads of each partition."""
        self.plan_next()
        return self.work()

    def plan_next(self):
        self.before, self.at = self.at, self.plan.latest(self.at)

    def work(self):
        found = {}
        for _, number, first, end in self.plan.parts(self.before, self.at):
            times = self.seconds[f"p{number}"]
            found[f"p{number}"] = times[first:end]
            # Workers note the largest time of what they have read so far.
            mark = Mark(max(times[:end]) * 1000, end)
            note(Location.of(self.folder), number % 2, {f"orders-{number}": mark})
        return found


def test_a_partition_waits_until_the_slowest_is_near(tmp_path):
    # p0:  0 ──────── 100
    # p1:  0  5       100      at most 10 seconds behind p0
    reading = Reading(tmp_path, {"p0": [100], "p1": [0]})
    assert reading.step() == {"p0": [100], "p1": [0]}  # nothing is known yet
    reading.send("p0", 101)
    reading.send("p1", 5)
    assert reading.step() == {"p1": [5]}
    assert reading.step() == {}
    reading.send("p1", 91)
    assert reading.step() == {"p1": [91]}
    assert reading.step() == {"p0": [101]}


def test_the_drift_itself_is_allowed():
    assert too_far({"a": 10, "b": 11}, [0, 10, 11], 10) == {"b"}
    assert too_far({"a": 10}, [], 0) == set()
    assert too_far({"a": 10, "b": BEFORE_ALL}, [10, BEFORE_ALL], 0) == set()


def test_a_partition_that_is_read_to_its_end_holds_nobody_back(tmp_path):
    reading = Reading(tmp_path, {"p0": [100, 101], "p1": [0]}, bounded=True, most=2)
    assert reading.step() == {"p0": [100], "p1": [0]}
    assert reading.step() == {"p0": [101]}


def test_a_job_that_resumes_still_waits(tmp_path):
    reading = Reading(tmp_path, {"p0": [100], "p1": [0]})
    reading.step()
    resumed = Reading(tmp_path, {"p0": [100, 101], "p1": [0, 1]})
    resumed.at = reading.at
    assert resumed.step() == {"p1": [1]}


def test_sources_of_a_group_wait_for_each_other(tmp_path):
    a, b, c = (tmp_path / name for name in "abc")
    slow = Reading(a, {"p0": [0]}, beside=(b, c))
    fast = Reading(b, {"p0": [100]}, beside=(a, c))
    alone = Reading(c, {"p0": [100]}, beside=(a, b), group="other")
    for reading in (slow, fast, alone):
        reading.step()
    for reading in (slow, fast, alone):
        reading.send("p0", 101)
    assert fast.step() == {}
    assert alone.step() == {"p0": [101]}
    assert slow.step() == {"p0": [101]}
    assert fast.step() == {"p0": [101]}


def test_a_source_that_has_ended_holds_no_other_back(tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    slow = Reading(a, {"p0": [0]}, beside=(b,), bounded=True)
    fast = Reading(b, {"p0": [100]}, beside=(a,))
    for reading in (slow, fast):
        reading.step()
    fast.send("p0", 101)
    assert fast.step() == {"p0": [101]}


def test_a_partition_that_waits_is_not_idle_and_an_idle_one_holds_nobody_back(tmp_path):
    reading = Reading(tmp_path, {"p0": [100], "p1": [0]}, idle_ms=1000)
    now = [0.0]
    aligner = reading.plan._aligner
    assert aligner is not None
    aligner._own.clock = lambda: now[0]
    watched = Follower(Location.of(tmp_path), 1000, lambda: now[0])
    reading.step()
    reading.send("p0", 101)
    assert reading.step() == {}
    for now[0] in (0.0, 0.9):
        watched.look()
        assert reading.step() == {}
    assert sorted(watched.active) == [0, 100_000]
    # Meanwhile p1 has been silent for so long that it does not count; p0 has records.
    now[0] = 2.0
    watched.look()
    assert watched.active == [100_000]
    assert reading.step() == {"p0": [101]}


def test_a_partition_that_waits_says_for_which_group(tmp_path):
    reading = Reading(tmp_path, {"p0": [100], "p1": [0]})
    source = FollowedSource("rates", Location.of(tmp_path))
    reading.step()
    reading.send("p0", 101)
    reading.step()

    [rates] = SourceWatermarks([source]).read()

    assert [(each.name, each.aligned) for each in rates.partitions] == [
        ("orders-0", "g"),
        ("orders-1", None),
    ]


def test_without_alignment_nothing_is_said_to_wait_any_more(tmp_path):
    reading = Reading(tmp_path, {"p0": [100], "p1": [0]})
    reading.step()
    reading.send("p0", 101)
    reading.step()
    assert (tmp_path / "aligned.json").exists()
    offsets(reading.topics, tmp_path).latest(reading.at)
    assert not (tmp_path / "aligned.json").exists()


TIMES = st.lists(st.integers(1, 100), max_size=12)


@searched(60)
@given(
    sources=st.lists(st.lists(TIMES, min_size=1, max_size=3), min_size=1, max_size=2),
    most=st.integers(1, 8),
    drift=st.integers(0, 30),
)
def test_whatever_waits_each_record_is_read_once_and_nothing_waits_forever(
    sources, most, drift, tmp_path_factory
):
    folders = [tmp_path_factory.mktemp("source") for _ in sources]
    readings = [
        Reading(
            folder,
            {f"p{number}": [*times] for number, times in enumerate(partitions)},
            drift,
            tuple(other for other in folders if other != folder),
            bounded=True,
            most=most,
        )
        for folder, partitions in zip(folders, sources, strict=True)
    ]
    read = [dict.fromkeys(reading.seconds, ()) for reading in readings]
    # A stream that reads what there is ends with the first micro-batch that reads nothing. All
    # sources are asked for its end before any of them is read.
    while True:
        for reading in readings:
            reading.plan_next()
        steps = [reading.work() for reading in readings]
        if not any(steps):
            break
        for so_far, step in zip(read, steps, strict=True):
            for name, times in step.items():
                so_far[name] = (*so_far[name], *times)
    assert read == [
        {name: tuple(times) for name, times in reading.seconds.items()} for reading in readings
    ]
