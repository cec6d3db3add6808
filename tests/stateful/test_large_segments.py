"""Large segments of state, which are in files beside Spark's store, here a dictionary."""

from __future__ import annotations

import copy
import json
import os
import random
import time
from pathlib import Path

import polars as pl
import pytest

from tidemark.checkpoints.retention import KEPT_BATCHES
from tidemark.errors import JobError
from tidemark.kernels.columns import HASH
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.spark.stateful import store as store_module
from tidemark.spark.stateful.cache import SegmentCache
from tidemark.spark.stateful.large_segments import _KEPT_SAVES, LargeSegments
from tidemark.spark.stateful.store import StateStore
from tidemark.storage import Location

from .variables import Variables

GROUP = 3
NEVER, SOON = Compaction(fanout=100), Compaction(fanout=2)
TWO_DAYS = 2 * 24 * 60 * 60


@pytest.fixture(autouse=True)
def _ten_rows_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    ten = State().keyed("t").append(rows(*range(10)), NEVER)
    [segment] = ten.segments
    monkeypatch.setattr(store_module, "LARGE", len(store_module.encode(segment.rows())))


def rows(*values: int) -> pl.DataFrame:
    return pl.DataFrame({HASH: values, "name": [f"row {v:04}" for v in values]})


class Group:
    """A key group whose worker is a new one in each micro-batch."""

    def __init__(self, folder: Path, compaction: Compaction = NEVER) -> None:
        self.compaction = compaction
        self.folder = Location.of(folder)
        self.spark = Variables()

    def opened(self) -> tuple[StateStore, State]:
        files = LargeSegments(self.folder)
        store = StateStore(self.spark, self.spark, SegmentCache(), files)
        return store, store.open(GROUP)[0]

    def add(self, *values: int) -> None:
        store, before = self.opened()
        table = before.keyed("t").append(rows(*values), self.compaction)
        store.save(before, before.with_tables(t=table), {})

    def forget(self) -> None:
        store, before = self.opened()
        store.save(before, State(), {})

    def save(self, times: int) -> None:
        for _ in range(times):
            store, before = self.opened()
            store.save(before, before, {})

    def values(self) -> list[int]:
        segments = self.opened()[1].segments()
        return sorted(v for s in segments for v in s.rows()[HASH].to_list())

    @property
    def files(self) -> set[str]:
        return {*(self.folder / str(GROUP)).names()}


def test_a_large_segment_is_in_a_file_and_a_small_one_in_the_store(tmp_path: Path) -> None:
    group = Group(tmp_path)
    group.add(*range(10))
    group.add(20)

    assert len(group.files) == 1
    assert len(group.spark.values) == 2  # the manifest, and the segment of one row
    assert group.values() == [*range(10), 20]


def test_without_a_folder_all_is_in_the_store(tmp_path: Path) -> None:
    spark = Variables()
    store = StateStore(spark, spark, SegmentCache())
    before, _ = store.open(GROUP)
    store.save(before, before.with_tables(t=before.keyed("t").append(rows(*range(10)), NEVER)), {})

    assert len(spark.values) == 2
    assert not [*tmp_path.iterdir()]


def test_a_file_stays_as_long_as_spark_keeps_a_state_that_refers_to_it(tmp_path: Path) -> None:
    group = Group(tmp_path)
    group.add(*range(10))
    earlier = copy.deepcopy(group.spark.values)
    [file] = group.files
    group.forget()

    group.save(_KEPT_SAVES - 1)
    assert group.files == {file}
    group.spark.values, later = earlier, group.spark.values
    assert group.values() == [*range(10)]

    group.spark.values = later
    group.add(1)
    assert group.files == set()
    assert group.values() == [1]


def test_a_segment_that_comes_back_stays(tmp_path: Path) -> None:
    group = Group(tmp_path)
    group.add(*range(10))
    group.forget()
    group.add(*range(10))
    group.save(2 * _KEPT_SAVES)
    group.add(77)

    assert group.values() == [*range(10), 77]


def test_what_failed_attempts_left_goes_when_it_is_old(tmp_path: Path) -> None:
    group = Group(tmp_path)
    group.add(*range(10))
    committed = copy.deepcopy(group.spark.values)
    group.add(*range(100, 110))
    group.spark.values = committed  # the micro-batch failed, and runs again with other rows
    group.add(*range(200, 210))
    assert len(group.files) == 3
    assert group.values() == [*range(10), *range(200, 210)]
    for file in group.files:
        long_ago = time.time() - TWO_DAYS
        os.utime(tmp_path / str(GROUP) / file, (long_ago, long_ago))
    group.forget()
    (tmp_path / str(GROUP) / "of another attempt").write_bytes(b"just now")
    group.save(_KEPT_SAVES)

    assert group.files == {"of another attempt"}


def test_a_file_that_is_missing_is_reported(tmp_path: Path) -> None:
    group = Group(tmp_path)
    group.add(*range(10))
    [file] = group.files
    (tmp_path / str(GROUP) / file).unlink()

    with pytest.raises(JobError, match=f"missing from the checkpoint .segment {file}"):
        group.values()


def test_two_attempts_leave_the_same_files(tmp_path: Path) -> None:
    group = Group(tmp_path)
    group.add(*range(10))
    first, files = group.spark.values, group.files
    group.spark.values = {}
    group.add(*range(10))

    assert (group.spark.values, group.files) == (first, files)


@pytest.mark.parametrize("seed", range(6))
def test_every_state_that_spark_keeps_can_be_opened(tmp_path: Path, seed: int) -> None:
    """Micro-batches that add or forget rows, some of which fail after their files were written."""
    chance = random.Random(seed)
    group, expected = Group(tmp_path, SOON), [(Variables().values, [])]
    batch = 0
    while batch < 5 * KEPT_BATCHES:
        before, values = expected[-1]
        group.spark.values = copy.deepcopy(before)
        if forgotten := chance.random() < 0.05:
            group.forget()
        new = [] if forgotten else chance.sample(range(1000), chance.choice([1, 5, 12]))
        if new:
            group.add(*new)
        if chance.random() < 0.2:
            continue  # it runs again
        expected.append((group.spark.values, [] if forgotten else sorted(values + new)))
        batch += 1

    for values_then, values in expected[-KEPT_BATCHES:]:
        group.spark.values = values_then
        assert group.values() == values
    manifest = json.loads(expected[-1][0]["manifest"][0])
    assert manifest["files"] or manifest["dropped"]
    assert all(by > manifest["saves"] - _KEPT_SAVES for by in manifest["dropped"].values())
