"""What the driver knows of the watermarks of sources, from the reports of a stream."""

from __future__ import annotations

import json

from tidemark.kernels.columns import BEFORE_ALL
from tidemark.spark.moments import END_MS, is_end
from tidemark.spark.partition_watermarks import PARTITIONS, Mark, note
from tidemark.spark.source_watermarks import (
    FollowedSource,
    PartitionProgress,
    SourceProgress,
    SourceWatermarks,
)
from tidemark.storage import Location

RATES = FollowedSource("rates")


def after(*batches, source=RATES):
    """What is known after micro-batches, each with its time and the largest watermark of a row."""
    watermarks = SourceWatermarks([source])
    for at, latest in batches:
        watermarks.take({source.metric: {"ms": latest}}, at)
    return watermarks.read()[0]


def test_a_source_without_rows_has_no_watermark():
    assert after() == after(("10:00", None)) == SourceProgress("rates")


def test_a_watermark_never_goes_back_but_late_rows_are_rows():
    assert after(("10:00", 5000), ("10:01", 3000), ("10:02", None)) == SourceProgress(
        "rates", "1970-01-01T00:00:05.000Z", "10:01"
    )


def test_rows_before_the_first_watermark_are_rows():
    assert after(("10:00", 0)) == SourceProgress("rates", None, "10:00")


def test_a_source_that_has_ended_says_so():
    assert is_end(after(("10:00", END_MS)).watermark)
    assert not is_end(after(("10:00", 5000)).watermark)


def test_two_sources_of_one_table_are_told_apart():
    twice = [FollowedSource("t"), FollowedSource("t")]
    watermarks = SourceWatermarks(twice)
    watermarks.take({twice[1].metric: {"ms": 5000}}, "10:00")

    assert [source.watermark is None for source in watermarks.read()] == [True, False]


def test_the_partition_that_is_behind_holds_its_source_back(tmp_path):
    now = 0.0
    noted(tmp_path, a=9000, b=5000, c=BEFORE_ALL)
    source = FollowedSource("rates", Location.of(tmp_path), idle_ms=10_000)
    watermarks = SourceWatermarks([source], lambda: now)

    [rates] = watermarks.read()
    assert rates.times_out
    assert rates.partitions == (
        PartitionProgress("a", "1970-01-01T00:00:09.000Z"),
        PartitionProgress("b", "1970-01-01T00:00:05.000Z"),
        PartitionProgress("c"),
    )
    assert rates.held_back_by == PartitionProgress("c")

    # All but `b` are silent for longer than the timeout.
    for now in (6.0, 12.0, 18.0):
        noted(tmp_path, b=5000 + int(now))
        [rates] = watermarks.read()
    assert [partition.idle for partition in rates.partitions] == [True, False, True]
    assert rates.held_back_by is not None and rates.held_back_by.name == "b"


def test_notes_are_not_read_each_time(tmp_path):
    noted(tmp_path, a=5000)
    watermarks = SourceWatermarks([FollowedSource("t", Location.of(tmp_path))], lambda: 0.0)
    before = watermarks.read()
    noted(tmp_path, a=9000)

    assert watermarks.read() == before


def noted(folder, **marks):
    """What workers note of partitions."""
    names = folder / PARTITIONS
    if not names.exists():
        names.write_text(json.dumps(sorted(marks)))
    note(Location.of(folder), 0, {name: Mark(mark, mark) for name, mark in marks.items()})
