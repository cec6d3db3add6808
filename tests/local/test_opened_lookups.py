"""Tables that a process holds open for lookups: when they are loaded, asked and asked again."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl
import pytest

from tidemark import types as t
from tidemark.connectors.lookups import Lookup
from tidemark.errors import JobError
from tidemark.kernels.lookup_cache import CacheLimits
from tidemark.local.lookups.dimension import Dimension
from tidemark.local.lookups.opened import Clock, OpenDimension, open_dimension
from tidemark.local.lookups.reloads import AtTimeOfDay, EveryInterval, reload_of
from tidemark.local.lowering import lower
from tidemark.physical import Compute
from tidemark.plan.nodes import Column, Edge, LookupRetry
from tidemark.plan.nodes.scan import Emitted

TYPES = (t.BigInt(), t.STRING)
EDGE = Edge((Column("id", TYPES[0]), Column("name", TYPES[1])))


@dataclass
class World:
    """A table and a clock, as a test wants them."""

    table: dict[int, str] = field(default_factory=lambda: {1: "ann", 2: "bob"})
    now_ms: int = 0
    loads: int = 0
    asked: list[list[int]] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)
    closed: int = 0
    failures: int = 0

    def load(self) -> Iterator[pl.DataFrame]:
        self.loads += 1
        yield self._rows(list(self.table))

    def open(self) -> World:
        return self

    def find(self, keys: pl.DataFrame) -> pl.DataFrame:
        self.asked.append(keys["id"].to_list())
        if self.failures:
            self.failures -= 1
            raise ConnectionError("gone")
        return self._rows([key for key in keys["id"] if key in self.table])

    def close(self) -> None:
        self.closed += 1

    def _rows(self, keys: list[int]) -> pl.DataFrame:
        schema = {"id": pl.Int64(), "name": pl.String()}
        return pl.DataFrame([(key, self.table[key]) for key in keys], schema=schema, orient="row")

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now_ms += int(seconds * 1000)

    def opened(self, **changes: Any) -> OpenDimension:
        by_key = changes.pop("by_key", True)
        lookup = Lookup(open=self.open) if by_key else Lookup(load=self.load)
        stage, asked = Compute(Emitted(EDGE), ()), (0,) if by_key else ()
        dimension = Dimension("d", lookup, EDGE.names, TYPES, stage, (0,), asked, "UTC")
        return open_dimension(
            replace(dimension, **changes), lower, Clock(lambda: self.now_ms, self.sleep)
        )


def names(dimension: OpenDimension, *keys: int) -> list[str]:
    found = dimension.rows(pl.DataFrame({"id": keys}, schema={"id": pl.Int64()}))
    return sorted(found.filter(pl.col("id").is_in(keys))["name"])


def test_a_whole_table_is_loaded_when_it_is_first_used_and_not_again():
    world = World()
    dimension = world.opened(by_key=False)

    assert world.loads == 0
    assert names(dimension, 1) == ["ann"]
    world.table[3], world.now_ms = "cid", 10**9
    assert names(dimension, 3) == []
    assert world.loads == 1


def test_a_whole_table_is_loaded_again_after_its_interval():
    world = World()
    dimension = world.opened(by_key=False, reload=EveryInterval(100))

    assert names(dimension, 3) == []
    world.table[3], world.now_ms = "cid", 99
    assert names(dimension, 3) == []
    world.now_ms = 100
    assert names(dimension, 3) == ["cid"]
    assert world.loads == 2


def test_keys_are_asked_for_each_time_without_a_cache():
    world = World()
    dimension = world.opened()

    assert names(dimension, 1, 3) == ["ann"]
    assert names(dimension, 1) == ["ann"]
    assert world.asked == [[1, 3], [1]]


def test_cached_keys_are_not_asked_for_until_they_expire():
    world = World()
    dimension = world.opened(limits=CacheLimits(after_write_ms=100))

    assert names(dimension, 1, 3) == ["ann"]
    world.table[3] = "cid"
    assert names(dimension, 1, 2, 3) == ["ann", "bob"]
    world.now_ms = 100
    assert names(dimension, 3) == ["cid"]
    assert world.asked == [[1, 3], [2], [3]]


def test_a_lookup_that_fails_is_tried_again_over_a_new_connection():
    world = World(failures=2)
    dimension = world.opened(retries=2)

    assert names(dimension, 1) == ["ann"]
    assert (world.slept, world.closed) == ([1.0, 2.0], 2)


def test_a_lookup_that_keeps_failing_fails_the_job():
    with pytest.raises(JobError, match="looking up rows of `d` failed: ConnectionError: gone"):
        names(World(failures=2).opened(retries=1), 1)


def test_missing_keys_are_asked_for_again_as_the_hint_says():
    world = World()
    dimension = world.opened(retry_missing=LookupRetry(attempts=2, delay_ms=500))

    assert names(dimension, 1, 3) == ["ann"]
    assert world.asked == [[1, 3], [3], [3]]
    assert world.slept == [0.5, 0.5]


# --- when a table is due -----------------------------------------------------------------------

HOUR = 3_600_000


@pytest.mark.parametrize(
    ("fixed_rate", "now_ms", "due"), [(False, 109, False), (False, 110, True), (True, 100, True)]
)
def test_an_interval_is_from_the_end_of_a_load_or_its_start(fixed_rate, now_ms, due):
    assert EveryInterval(100, fixed_rate).is_due(0, 10, now_ms) is due


@pytest.mark.parametrize(
    ("days", "hours", "due"),
    [(1, 9, False), (1, 10, True), (2, 10, True), (2, 0, False)],
)
def test_a_time_of_day_is_due_when_it_comes_for_the_first_time(days, hours, due):
    assert AtTimeOfDay(dt.time(10, tzinfo=dt.UTC), days).is_due(0, 0, hours * HOUR) is due


def test_after_a_load_at_that_time_it_takes_as_many_days_as_are_set():
    at_ten = AtTimeOfDay(dt.time(10, tzinfo=dt.UTC), 2)

    assert not at_ten.is_due(10 * HOUR, 10 * HOUR, 34 * HOUR)
    assert at_ten.is_due(10 * HOUR, 10 * HOUR, 58 * HOUR)


def test_a_time_without_an_offset_is_one_of_the_session():
    options = {
        "lookup.full-cache.reload-strategy": "TIMED",
        "lookup.full-cache.timed-reload.iso-time": "10:00",
        "lookup.full-cache.timed-reload.interval-in-days": 1,
    }
    reload = reload_of(options, "Asia/Tokyo")

    assert reload is not None
    assert reload.is_due(0, 0, HOUR)
    assert not reload.is_due(0, 0, HOUR - 1)
