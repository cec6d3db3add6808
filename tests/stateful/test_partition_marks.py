"""What key groups make of the watermarks of partitions, within a micro-batch."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.kernels.columns import AFTER_ALL, BEFORE_ALL
from tidemark.runtime.partition_marks import COUNTED, MARKED, with_reports

ROWS = (1, 3, 7, b"rows")
REPORT = (1, 3, 7, None)


def counted(watermark: int = 0, **marks: int):
    return COUNTED, 0, watermark, json.dumps(marks).encode()


def marked(name: str, mark: int, number: int = 0):
    return MARKED + number, 5, mark, name.encode()


def test_rows_and_other_reports_stay():
    assert with_reports({}, [ROWS, REPORT]) == ({}, [ROWS, REPORT])


def test_nothing_follows_until_it_is_known_which_partitions_count():
    assert with_reports({}, [marked("a", 50), ROWS]) == ({}, [ROWS])


def test_the_partition_that_is_behind_holds_the_others_back():
    marks, rows = with_reports({}, [marked("a", 50), counted(a=10, b=20)])
    assert rows == [(0, 0, 20, None)]
    marks, rows = with_reports(marks, [marked("b", 60)])
    assert rows == [(0, 0, 50, None)]
    # Of a partition that was idle, or is new.
    marks, rows = with_reports(marks, [marked("c", 30)])
    assert rows == [(0, 0, 30, None)]
    assert marks == {"0": {"a": 50, "b": 60, "c": 30}}


def test_a_partition_without_rows_holds_all_back_unless_it_is_idle():
    marks, rows = with_reports({}, [counted(a=BEFORE_ALL, b=20), marked("b", 30)])
    assert rows == []
    _, rows = with_reports(marks, [counted(30, b=30)])
    assert {*rows} == {(0, 0, 30, None)}


def test_a_checkpoint_of_an_earlier_version_does_not_say_which_count():
    assert with_reports({}, [(COUNTED, 0, 30, None), marked("b", 50)]) == ({}, [(0, 0, 30, None)])


def test_each_input_has_partitions_of_its_own():
    known = {"0": {"a": 1}, "1": {"a": 5}}
    marks, rows = with_reports(known, [marked("a", 9, number=1)])
    assert rows == [(0, 0, 1, None), (1, 0, 9, None)]
    assert marks == {"0": {"a": 1}, "1": {"a": 9}}


def test_the_end_of_the_source_is_reported():
    _, rows = with_reports({"0": {"a": 1}}, [counted(AFTER_ALL, a=1)])
    assert (0, 0, AFTER_ALL, None) in rows


@searched(300)
@given(
    st.lists(
        st.tuples(
            st.sets(st.sampled_from("abc")),  # idle before the micro-batch
            st.dictionaries(st.sampled_from("abc"), st.integers(1, 100), max_size=3),
            st.booleans(),  # whether the driver says something
        ),
        max_size=8,
    )
)
def test_the_watermark_is_the_smallest_of_all_that_count(batches):
    latest = dict.fromkeys("abc", BEFORE_ALL)
    known: dict[str, int] | None = None
    marks = {}
    for idle, read, says in batches:
        packed = [marked(name, mark) for name, mark in read.items()]
        if says:
            known = {name: mark for name, mark in latest.items() if name not in idle}
            packed.append(counted(**known))
        if known is not None:
            known |= {name: max(mark, known.get(name, mark)) for name, mark in read.items()}
        latest |= {name: max(mark, latest[name]) for name, mark in read.items()}

        marks, rows = with_reports(json.loads(json.dumps(marks)), packed)

        found = max((position for _, _, position, _ in rows), default=BEFORE_ALL)
        assert found == min((known or {}).values(), default=BEFORE_ALL) or not packed
