"""The watermark of a source whose partitions have watermarks of their own."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from tidemark.kernels.columns import AFTER_ALL, BEFORE_ALL
from tidemark.runtime.partition_marks import COUNTED, MARKED, with_reports
from tidemark.spark.moments import END_MS
from tidemark.spark.partition_watermarks import (
    ENDS,
    PARTITIONS,
    Follower,
    Mark,
    News,
    _has_news,
    _row,
    combined,
    note,
    noted,
)
from tidemark.storage import Location


class Source:
    """What workers note, and a follower with a clock that stands still."""

    def __init__(self, folder, *partitions, idle_ms=0):
        self.folder, self.now = Location.of(folder), 0.0
        folder.mkdir(exist_ok=True)
        (folder / PARTITIONS).write_text(json.dumps(partitions))
        self.follower = Follower(self.folder, idle_ms, lambda: self.now)

    def batch(self, seconds=0.0, **marks):
        """A micro-batch, and a look after it."""
        read = {name: Mark(mark, int(self.now * 10) + mark) for name, mark in marks.items()}
        note(self.folder, len(read), read)
        self.now += seconds
        self.follower.look()
        return combined(self.follower, [])


def test_the_partition_that_is_behind_holds_the_watermark_back(tmp_path):
    source = Source(tmp_path / "s", "a", "b")
    assert source.batch(a=100) is None
    assert source.batch(b=20) == 20
    assert source.batch(a=200) == 20
    assert source.batch(b=150) == 150


def test_a_source_has_ended_when_all_of_its_partitions_were_read_to_their_ends(tmp_path):
    source = Source(tmp_path / "s", "a", "b", "c")
    source.batch(a=10)
    assert not source.follower.has_ended
    (tmp_path / "s" / ENDS).write_text(json.dumps({"a": 10, "b": 25, "c": 0}))
    assert not source.follower.has_ended
    source.batch(b=24)
    assert not source.follower.has_ended
    source.batch(b=25)
    assert source.follower.has_ended


def test_a_micro_batch_is_told_which_partitions_count_whenever_that_changes():
    before = {"watermark": 5, "partitions": {"a": 5, "b": 9}, "counting": ["a", "b"]}
    assert not _has_news(before, before)
    idle = before | {"counting": ["b"]}
    assert _has_news(before, idle)
    assert _row(idle) == (5, '{"b": 9}')
    later = before | {"watermark": 6}
    assert _has_news(before, later)
    # Earlier versions did not say it.
    old = {"watermark": 5, "partitions": {"a": 5}}
    assert _row(old) == (5, None)
    assert _has_news(old, before)


def test_a_partition_never_goes_back(tmp_path):
    source = Source(tmp_path / "s", "a")
    assert source.batch(a=100) == 100
    assert source.batch(a=50) == 100


def test_a_partition_that_is_added_holds_it_back(tmp_path):
    source = Source(tmp_path / "s", "a")
    assert source.batch(a=100) == 100
    (tmp_path / "s" / PARTITIONS).write_text('["a", "b"]')
    assert source.batch(a=200) is None


def test_an_idle_partition_does_not_count_until_it_has_rows_again(tmp_path):
    source = Source(tmp_path / "s", "a", "b", idle_ms=10_000)
    source.batch(a=10, b=10)
    assert source.batch(6, a=20) == 10  # first seen to be silent
    assert source.batch(6, a=30) == 10
    assert source.batch(6, a=40) == 40
    assert source.batch(a=50, b=15) == 15


def test_one_long_micro_batch_makes_no_partition_idle(tmp_path):
    source = Source(tmp_path / "s", "a", "b", idle_ms=10_000)
    source.batch(a=10, b=10)
    assert source.batch(60, a=20) == 10


def test_an_idle_source_follows_the_others(tmp_path):
    rates = Source(tmp_path / "rates", "a", idle_ms=1000)
    orders = Source(tmp_path / "orders", "a", "b")
    rates.batch(a=5)
    orders.batch(a=70, b=60)
    assert combined(rates.follower, [orders.follower]) == 5
    rates.batch()
    rates.batch(2)
    assert combined(rates.follower, [orders.follower]) == 60


def test_nothing_is_known_before_the_first_rows(tmp_path):
    source = Source(tmp_path / "s", "a")
    assert source.batch() is None
    assert source.follower.latest == {"a": BEFORE_ALL}
    assert combined(Follower(Location.of(tmp_path / "none"), 0), []) is None


def test_a_partition_that_has_ended_holds_nothing_back_in_key_groups(tmp_path):
    source = Source(tmp_path / "s", "a", "b")
    note(source.folder, 0, {"a": Mark(10, 10, ended=True), "b": Mark(7, 5)})
    source.follower.look()
    assert source.follower.known_to_key_groups == {"a": AFTER_ALL, "b": 7}


def test_as_long_as_others_may_be_idle_a_partition_counts_after_its_end(tmp_path):
    source = Source(tmp_path / "s", "a", idle_ms=1000)
    note(source.folder, 0, {"a": Mark(10, 10, ended=True)})
    source.follower.look()
    assert source.follower.known_to_key_groups == {"a": 10}


def test_a_job_that_resumes_with_an_idle_timeout_does_not_take_an_end_for_a_watermark(tmp_path):
    source = Source(tmp_path / "s", "a", "b", idle_ms=1000)
    note(source.folder, 0, {"a": Mark(10, 10, ended=True)})
    reported = {"watermark": 0, "partitions": {"a": AFTER_ALL, "b": BEFORE_ALL}, "counting": []}
    news = News(source.follower)
    news.since(reported)
    source.now = 2.0
    news.since(reported)
    assert combined(source.follower, []) == 10


class Stream:
    """Micro-batches of a source whose partitions have so many records, of which the watermark is
    the number; and what a key group knows of it. Those in `growing` are to be read further, when
    there are more records."""

    def __init__(self, folder, sizes, *, heard, growing=()):
        source = Source(folder, *sizes)
        (folder / ENDS).write_text(json.dumps(sizes))
        self.growing = frozenset(growing)
        empty = [name for name, size in sizes.items() if not size and name not in self.growing]
        note(source.folder, -1, dict.fromkeys(empty, Mark(BEFORE_ALL, ended=True)))
        self.sizes, self.folder = sizes, source.folder
        self.news = News(source.follower, heard=heard)
        self.reported, self.marks, self.watermark = (
            {"watermark": 0, "partitions": {}},
            {},
            BEFORE_ALL,
        )

    def batch(self, read, task=0):
        """Read partitions up to these offsets; whether there was anything to do."""
        news = self.news.since(self.reported)
        rows = []
        if news is not None:
            self.reported = news
            position, counting = _row(news)
            position = AFTER_ALL if position >= END_MS else position
            rows.append((COUNTED, 0, position, counting.encode()))
        marks = {name: Mark(end, end, self.ends(name, end)) for name, end in read.items()}
        note(self.folder, task, marks)
        for name, mark in marks.items():
            position = AFTER_ALL if mark.ended else mark.watermark
            rows.append((MARKED, task, position, name.encode()))
        self.marks, known = with_reports(self.marks, rows)
        self.watermark = max([self.watermark, *(position for _, _, position, _ in known)])
        return news is not None or bool(read)

    def ends(self, name, end):
        return end == self.sizes[name] and name not in self.growing


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4), st.data())
def test_key_groups_know_of_the_end_when_there_is_nothing_more_to_report(sizes, data):
    sizes = {f"p{number}": size for number, size in enumerate(sizes)}
    heard, growing = data.draw(st.booleans()), data.draw(st.sets(st.sampled_from([*sizes])))
    with TemporaryDirectory() as folder:
        stream = Stream(Path(folder) / "s", sizes, heard=heard, growing=growing)
        reached = dict.fromkeys(sizes, 0)
        while True:
            left = {name: size for name, size in sizes.items() if reached[name] < size}
            read = {
                name: data.draw(st.integers(reached[name], size)) for name, size in left.items()
            }
            read = {name: end for name, end in read.items() if end > reached[name]}
            reached |= read
            went_on = stream.batch(read, task=data.draw(st.integers(0, 1)))
            if reached == sizes and not went_on:
                break
            if reached != sizes:
                unread = [name for name, end in reached.items() if end < sizes[name]]
                assert stream.watermark <= min(reached[name] or BEFORE_ALL for name in unread)

    assert stream.watermark == AFTER_ALL


def test_what_workers_have_reported_needs_no_further_micro_batch(tmp_path):
    """If it is known in time which partitions count."""
    stream = Stream(tmp_path / "s", {"a": 2, "b": 1, "c": 0}, heard=True)
    assert stream.batch({"a": 1})
    assert stream.watermark == BEFORE_ALL
    assert stream.batch({"a": 2, "b": 1})
    assert stream.watermark == AFTER_ALL
    assert not stream.batch({})


def test_notes_without_an_end_are_as_earlier_versions_read_them(tmp_path):
    note(Location.of(tmp_path), 0, {"a": Mark(200, 20)})
    assert json.loads((tmp_path / "marks-0.json").read_text()) == {
        "a": {"watermark": 200, "end": 20}
    }


def test_the_newest_mark_of_a_partition_counts_whichever_task_has_noted_it(tmp_path):
    folder = Location.of(tmp_path)
    note(folder, 0, {"a": Mark(100, 10), "b": Mark(50, 5)})
    note(folder, 1, {"a": Mark(200, 20)})
    assert noted(folder) == {"a": Mark(200, 20), "b": Mark(50, 5)}

    # What a task has noted before of other partitions stays, also for a job that starts again.
    note(folder, 0, {"a": Mark(300, 30)})
    assert noted(folder) == {"a": Mark(300, 30), "b": Mark(50, 5)}


def test_notes_of_earlier_versions_are_read(tmp_path):
    (tmp_path / "mark-a.json").write_text('{"watermark": 100, "end": 10}')
    (tmp_path / "mark-b.json").write_text('{"watermark": 50, "end": null}')
    note(Location.of(tmp_path), 0, {"a": Mark(200, 20)})
    assert noted(Location.of(tmp_path)) == {"a": Mark(200, 20), "b": Mark(50)}
