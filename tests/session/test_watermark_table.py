"""SHOW WATERMARKS: how far the sources of running jobs have come, and which one rows wait for."""

from __future__ import annotations

from types import SimpleNamespace

import tidemark
from tidemark.session.watermark_table import watermarks_shown
from tidemark.spark.progress import OperatorProgress, Progress
from tidemark.spark.source_watermarks import PartitionProgress, SourceProgress

FIVE, NINE = "2024-01-01T10:00:05.000Z", "2024-01-01T10:00:09.000Z"
PARTS = (
    PartitionProgress("fx-0", NINE),
    PartitionProgress("fx-1"),
    PartitionProgress("fx-2", FIVE),
)


def shown(*runs: Progress, state: str = "running") -> list[tuple[object, ...]]:
    queries = [SimpleNamespace(progress=lambda run=run: run) for run in runs]
    job = SimpleNamespace(id="1", name="enrich", state=state, runs=queries)
    return [row[2:] for row in watermarks_shown([job]).rows]


def test_the_slowest_source_and_its_partition_hold_waiting_rows_back():
    orders, rates = SourceProgress("orders", NINE), SourceProgress("rates", None, None, PARTS)
    join = OperatorProgress("join-1", waiting=3)

    assert shown(Progress(followed=(orders, rates), operators=(join,))) == [
        ("source", "orders", NINE, None, None),
        ("source", "rates", None, None, "partition fx-1"),
        ("partition", "rates, fx-0", NINE, None, None),
        ("partition", "rates, fx-1", None, None, None),
        ("partition", "rates, fx-2", FIVE, None, None),
        ("operator", "join-1", None, 3, "rates, partition fx-1"),
    ]


def test_a_partition_that_is_too_far_ahead_is_held_back_by_its_group():
    ahead = PartitionProgress("fx-0", NINE, aligned="g"), PartitionProgress("fx-1", FIVE)
    rates = SourceProgress("rates", None, None, ahead)

    assert shown(Progress(followed=(rates,))) == [
        ("source", "rates", None, None, "partition fx-1"),
        ("partition", "rates, fx-0", NINE, None, "alignment with group g"),
        ("partition", "rates, fx-1", FIVE, None, None),
    ]


def test_nobody_is_held_back_by_a_source_of_another_query():
    slow = Progress(followed=(SourceProgress("slow"),))
    window = OperatorProgress("window-1", waiting=1, watermark=FIVE)
    other = Progress(followed=(SourceProgress("bids", FIVE),), operators=(window,))

    assert shown(slow, other)[-1] == ("operator", "window-1", FIVE, 1, "bids")


def test_an_operator_in_which_no_rows_wait_is_not_held_back():
    window = OperatorProgress("window-1", watermark=FIVE)
    bids = SourceProgress("bids", FIVE)
    rows = shown(Progress(followed=(bids,), operators=(window,)))

    assert rows[-1] == ("operator", "window-1", FIVE, 0, None)


def test_jobs_that_have_ended_are_not_shown():
    assert shown(Progress(followed=(SourceProgress("bids"),)), state="stopped") == []


def test_a_session_without_jobs_has_no_watermarks():
    with tidemark.connect(engine="local") as session:
        assert session.sql("SHOW WATERMARKS").rows() == []
