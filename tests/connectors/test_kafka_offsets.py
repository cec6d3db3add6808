"""Which offsets a micro-batch reads, without a broker."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.connectors.kafka.fake_topics import A, B, FakeTopics, offsets
from tests.searching import searched
from tidemark.connectors.kafka.client import Position
from tidemark.connectors.kafka.positions import (
    from_json,
    limited,
    lost,
    specific_offsets,
    to_json,
)
from tidemark.connectors.kafka.tasks import tasks_of
from tidemark.errors import DataError
from tidemark.spark.partition_watermarks import ENDS


def test_a_micro_batch_reads_from_the_end_of_the_last_one(tmp_path):
    topics = FakeTopics(p0=5, p1=2)
    plan = offsets(topics, tmp_path)
    start = plan.initial()
    first = plan.latest(start)
    assert plan.parts(start, first) == [("orders", 0, 0, 5), ("orders", 1, 0, 2)]
    topics.ends[B] = 4
    assert plan.parts(first, plan.latest(first)) == [("orders", 1, 2, 4)]
    plan.commit(first)
    assert topics.committed_for_group == [{A: 5, B: 2}]


def test_a_start_that_reads_to_an_end_notes_where_each_partition_ends(tmp_path):
    topics = FakeTopics(p0=5, p1=0)
    plan = offsets(topics, tmp_path, end=Position("latest-offset"))
    plan.initial()
    topics.ends |= {A: 9, B: 3}  # after the job has started
    plan.stop_here()
    assert noted_ends(tmp_path) == {"orders-0": 5, "orders-1": 0}

    plan = offsets(topics, tmp_path / "later", end=specific("partition:0,offset:20"))
    plan.initial()
    plan.stop_here()
    assert noted_ends(tmp_path / "later")["orders-0"] == 9  # there is no more yet

    plan = offsets(topics, tmp_path / "unbounded")
    plan.initial()
    plan.stop_here()
    assert not (tmp_path / "unbounded" / ENDS).exists()


def noted_ends(folder):
    return json.loads((folder / ENDS).read_text())


def specific(offsets):
    return Position("specific-offsets", offsets=offsets)


def test_a_job_that_resumes_before_its_first_batch_starts_where_it_did(tmp_path):
    topics = FakeTopics(p0=5)
    assert offsets(topics, tmp_path, start="latest-offset").initial() == {"orders": {"0": 5}}
    topics.ends[A] = 9
    assert offsets(topics, tmp_path, start="latest-offset").initial() == {"orders": {"0": 5}}


def test_a_partition_that_is_added_is_read_from_its_beginning(tmp_path):
    topics = FakeTopics(p0=5)
    plan = offsets(topics, tmp_path, start="latest-offset")
    start = plan.initial()
    topics.ends[B], topics.first[B] = 7, 2
    plan._looked = -1000
    end = plan.latest(start)
    assert plan.parts(start, end) == [("orders", 1, 2, 7)]
    assert json.loads((tmp_path / "partitions.json").read_text()) == ["orders-0", "orders-1"]


@pytest.mark.parametrize("change", ["deleted", "made anew"])
def test_lost_records_are_an_error_that_can_be_turned_off(tmp_path, change):
    topics = FakeTopics(p0=5)
    plan = offsets(topics, tmp_path)
    start = plan.latest(plan.initial())
    topics.first[A], topics.ends[A] = (7, 9) if change == "deleted" else (0, 2)
    with pytest.raises(DataError, match="topic orders, partition 0  records are gone") as caught:
        plan.latest(start)
    assert change in str(caught.value.notes["why"])
    goes_on = offsets(topics, tmp_path, fails=False).latest(start)
    assert goes_on == {"orders": {"0": 9 if change == "deleted" else 2}}


def test_a_bounded_stream_ends_where_it_was_to_end_when_it_started(tmp_path):
    topics = FakeTopics(p0=5)
    end = Position("latest-offset", option="scan.bounded.mode")
    start = offsets(topics, tmp_path, end=end).initial()
    topics.ends[A] = 9
    assert offsets(topics, tmp_path, end=end).latest(start) == {"orders": {"0": 5}}


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        (Position("earliest-offset"), 0),
        (Position("latest-offset"), 50),
        (Position("timestamp", 7), 7),
        (Position("timestamp", 101), 50),
        (Position("specific-offsets", offsets="partition:0,offset:42"), 42),
        (Position("specific-offsets", offsets="partition:1,offset:42"), 0),
        (Position("group-offsets"), 3),
    ],
)
def test_modes_say_where_to_start(position, expected):
    assert position.found(FakeTopics(p0=50), [A]) == {A: expected}


def test_partitions_without_a_specific_offset_start_where_the_group_has_come_to():
    topics = FakeTopics(p0=50, p1=60)
    topics.settings = {"group.id": "g"}
    given = Position("specific-offsets", offsets="partition:7,offset:42")
    assert given.found(topics, [A, B]) == {A: 3, B: 0}  # nothing is committed of the second
    topics.settings = {}
    assert given.found(topics, [A, B]) == {A: 0, B: 0}


def test_without_a_committed_offset_a_reset_is_required():
    topics = FakeTopics(p0=50, p1=60)
    assert Position("group-offsets", reset="latest").found(topics, [B]) == {B: 60}
    with pytest.raises(Exception, match="committed no offset"):
        Position("group-offsets").found(topics, [B])


def test_specific_offsets():
    assert specific_offsets("partition:0,offset:42; partition:1,offset:300;") == {0: 42, 1: 300}


@searched(200)
@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 500)), min_size=1, max_size=6),
    st.integers(1, 300),
)
def test_all_is_read_in_micro_batches_of_a_limited_size(bounds, most):
    starts = {("t", n): low for n, (low, _) in enumerate(bounds)}
    ends = {("t", n): low + more for n, (low, more) in enumerate(bounds)}
    at = starts
    for _ in range(2000):
        if at == ends:
            break
        then = limited(at, ends, most)
        read = sum(then.values()) - sum(at.values())
        assert 0 < read <= most + len(bounds)
        # A partition with records always gets on.
        assert all(then[key] > at[key] for key in at if at[key] < ends[key])
        at = then
    assert at == ends


def test_offsets_survive_a_checkpoint():
    positions = {A: 5, B: 7, ("other", 10): 1}
    assert from_json(json.loads(json.dumps(to_json(positions)))) == positions


def test_a_partition_that_is_gone_is_lost():
    assert "not exist" in lost({A: 1}, {}, {})[A]


def test_a_task_reads_several_small_parts():
    def of(*sizes: int, most: int | None = None) -> list[list[int]]:
        return tasks_of(sizes, lambda size: size, most)

    assert of(1000, 1000, 1000, 1000) == [[1000] * 4]
    assert of(4000, 4000, 4000, 4000) == [[4000] * 2] * 2
    assert of(250_000, 250_000, 250_000) == [[250_000]] * 3
    assert of(*[15_000] * 12, most=4) == [[15_000] * 3] * 4
    assert of(200_000, 10, 20, 30_000) == [[200_000], [10, 20, 30_000]]
    assert of() == []
