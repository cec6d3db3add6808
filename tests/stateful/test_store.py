"""The state of a key group in a state store, here a dictionary that counts its calls."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tidemark.errors import JobError
from tidemark.kernels.columns import HASH
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State
from tidemark.spark.stateful import store as store_module
from tidemark.spark.stateful.cache import SegmentCache, SegmentFiles
from tidemark.spark.stateful.metrics import Totals
from tidemark.spark.stateful.store import StateStore

from .variables import Variables

NEVER = Compaction(fanout=100)


def rows(*hashes: int) -> pl.DataFrame:
    return pl.DataFrame({HASH: hashes, "text": [f"row {h}" for h in hashes]})


def table(state: State, *hashes: int) -> State:
    return state.with_tables(t=state.keyed("t").append(rows(*hashes), NEVER))


def test_a_state_is_found_again_by_a_worker_that_has_never_seen_it() -> None:
    spark = Variables()
    writer = StateStore(spark, spark, SegmentCache())
    state, notes = writer.open()
    assert notes == {}
    after = table(table(state, 1, 2), 3)
    writer.save(state, after, {"timer": 7})

    found, notes = StateStore(spark, spark, SegmentCache()).open()

    assert notes == {"timer": 7}
    assert pl.concat([s.rows() for s in found.segments()]).equals(rows(1, 2, 3))


def test_saving_costs_one_call_and_one_per_segment_that_changed() -> None:
    spark = Variables()
    store = StateStore(spark, spark, SegmentCache())
    first = table(table(State(), 1), 2)
    store.open()
    store.save(State(), first, {})
    spark.calls = 0

    before, _ = store.open()
    after = table(before, 3)
    store.save(before, after, {})

    assert spark.calls == store.round_trips == 3  # the manifest twice, one segment


def test_removed_segments_leave_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "_PIECE", 100)
    spark = Variables()
    store = StateStore(spark, spark, SegmentCache())
    full = table(State(), *range(50))
    store.open()
    store.save(State(), full, {})
    assert len(spark.values) > 5  # in pieces

    found, _ = StateStore(spark, spark, SegmentCache()).open()
    assert next(found.segments()).rows().height == 50
    before, _ = store.open()
    store.save(before, State(), {})

    assert set(spark.values) == {"manifest"}


def test_the_cache_throws_out_what_was_not_used_for_longest() -> None:
    size = int(rows(1).estimated_size())
    cache = SegmentCache(capacity=2 * size)
    cache.put("a", rows(1))
    cache.put("b", rows(1))
    assert cache.get("a") is not None
    cache.put("c", rows(1))

    assert cache.get("b") is None
    assert cache.get("a") is not None
    assert cache.held == 2 * size


def test_another_worker_of_the_host_finds_a_segment_without_asking_spark(tmp_path: Path) -> None:
    spark = Variables()
    writer = StateStore(spark, spark, SegmentCache(files=SegmentFiles(tmp_path / "segments")))
    writer.open()
    writer.save(State(), table(State(), 2, 1), {})

    reader = StateStore(spark, spark, SegmentCache(files=SegmentFiles(tmp_path / "segments")))
    spark.calls = 0
    found, _ = reader.open()

    assert next(found.segments()).rows().equals(rows(1, 2))
    assert spark.calls == reader.round_trips == 1  # the manifest


def test_a_segment_whose_file_is_gone_comes_from_spark(tmp_path: Path) -> None:
    spark = Variables()
    writer = StateStore(spark, spark, SegmentCache(files=SegmentFiles(tmp_path)))
    writer.open()
    writer.save(State(), table(State(), 1), {})
    for file in tmp_path.iterdir():
        file.unlink()

    found, _ = StateStore(spark, spark, SegmentCache(files=SegmentFiles(tmp_path))).open()

    assert next(found.segments()).rows().equals(rows(1))


def test_a_removed_segment_leaves_no_file_and_what_is_open_stays_readable(tmp_path: Path) -> None:
    files = SegmentFiles(tmp_path)
    files.put("a", rows(1, 2))
    opened = files.get("a")
    files.forget("a")

    assert not list(tmp_path.iterdir())
    assert files.get("a") is None
    assert opened is not None and opened.equals(rows(1, 2))


def test_files_not_used_for_longest_go_when_there_are_too_many(tmp_path: Path) -> None:
    files = SegmentFiles(tmp_path, capacity=4000)
    for n in range(8):
        files.put(f"s{n}", rows(*range(30)))
        os.utime(tmp_path / f"s{n}.arrow", (n, n))
    files.put("newest", rows(1))

    left = {path.stem for path in tmp_path.iterdir()}
    assert "newest" in left
    assert "s0" not in left
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 4000


def test_totals_add_rows_and_keep_the_newest_state_of_each_key_group() -> None:
    def report(bucket: int, rows_in: int, kept: int) -> dict[str, Any]:
        return {
            "bucket": bucket,
            "rows_in": [rows_in, 1],
            "late": [0, 1],
            "rows_out": 2,
            "waiting": kept,
            "state_rows": kept,
            "state_bytes": kept,
            "segments": 1,
            "watermark": 5,
            "round_trips": 3,
            "busy_ms": 1.0,
        }

    totals = Totals()
    totals.add([report(0, 10, 7), report(1, 20, 5)])
    totals.add([report(1, 5, 3)])

    metrics = totals.read()
    assert (metrics.rows_in, metrics.late, metrics.rows_out) == ((35, 3), (0, 3), 6)
    assert (metrics.waiting, metrics.segments, metrics.watermark) == (10, 2, 5)


def test_a_segment_missing_from_the_checkpoint_is_reported() -> None:
    spark = Variables()
    writer = StateStore(spark, spark, SegmentCache())
    writer.open()
    writer.save(State(), table(State(), 1), {})
    spark.values = {"manifest": spark.values["manifest"]}

    found, _ = StateStore(spark, spark, SegmentCache()).open()

    with pytest.raises(JobError, match="a part of the state is missing"):
        next(found.segments()).rows()


def test_two_attempts_at_a_step_store_the_same_and_can_resume_from_each_other() -> None:
    def attempt() -> Variables:
        spark = Variables()
        store = StateStore(spark, spark, SegmentCache())
        before, _ = store.open()
        store.save(before, table(table(before, 1, 2), 3), {"timer": 7})
        return spark

    assert attempt().values == attempt().values


def test_equal_segments_are_stored_once_and_stay_until_the_last_is_gone() -> None:
    spark = Variables()
    store = StateStore(spark, spark, SegmentCache())
    before, _ = store.open()
    store.save(before, table(table(State(), 1), 1), {})
    assert len(spark.values) == 2  # the manifest too

    before, _ = store.open()
    one = State().with_tables(t=type(before.keyed("t"))(before.keyed("t").segments[:1]))
    store.save(before, one, {})
    found, _ = StateStore(spark, spark, SegmentCache()).open()
    assert next(found.segments()).rows().equals(rows(1))
    before, _ = store.open()
    store.save(before, State(), {})
    assert set(spark.values) == {"manifest"}


def test_a_manifest_of_another_format_is_refused() -> None:
    spark = Variables()
    writer = StateStore(spark, spark, SegmentCache())
    writer.open()
    writer.save(State(), table(State(), 1), {})
    manifest = json.loads(spark.values["manifest"][0])
    spark.values["manifest"] = (json.dumps({**manifest, "format": 3}),)

    with pytest.raises(JobError, match="has format 3"):
        StateStore(spark, spark, SegmentCache()).open()
