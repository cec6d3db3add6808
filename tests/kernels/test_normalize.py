"""Upserts with the rows that they replace: stories, and the kernel against a reference that takes one
row at a time, in the words of Flink's ChangelogNormalize.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.kernels.columns import ARRIVAL, HASH, KIND, STAMP, TIME
from tidemark.kernels.normalize import NormalizeKernel
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State

Row = tuple[str, str | None, int | None, list[int] | None]  # kind, key, value, list

SCHEMA = {"k": pl.String, "v": pl.Int64, "l": pl.List(pl.Int64), "pt": pl.Int64, KIND: pl.String}


def frame(rows: list[Row], number: int) -> pl.DataFrame:
    """The rows; `pt` is the processing time, which is different in each."""
    columns = {
        "k": [key for _, key, _, _ in rows],
        "v": [value for _, _, value, _ in rows],
        "l": [some for *_, some in rows],
        "pt": list(range(number, number + len(rows))),
        KIND: [kind for kind, *_ in rows],
        # Two hash values only: different keys must be told apart by more than their hash.
        HASH: [len(key or "") % 2 for _, key, _, _ in rows],
        TIME: [0] * len(rows),
        ARRIVAL: list(range(len(rows))),
        STAMP: [0] * len(rows),
    }
    longs = dict.fromkeys((HASH, TIME, ARRIVAL, STAMP), pl.Int64)
    return pl.DataFrame(columns, schema={**SCHEMA, **longs})


@dataclass
class Driver:
    """A kernel whose state is written down and read back after each step."""

    ttl: int | None = None
    state: State = field(default_factory=State)
    seen: int = 0

    def step(self, *rows: Row, now: int = 0) -> list[tuple[object, ...]]:
        kernel = NormalizeKernel(("k",), ("k", "v", "l"), self.ttl, compaction=Compaction(2, 1))
        step = kernel.step(self.state, [frame(list(rows), self.seen)], 0, now)
        self.seen += len(rows)
        stored = {segment.id: segment.rows() for segment in step.state.segments()}
        self.state = State.open(json.loads(json.dumps(step.state.manifest())), stored.__getitem__)
        return step.output.select(KIND, "k", "v", "l", "pt").rows()


def changes(emitted: list[tuple[object, ...]]) -> list[str]:
    return [f"{kind} {key} {value}" for kind, key, value, *_ in emitted]


def put(key: str, value: int, kind: str = "+U") -> Row:
    return (kind, key, value, None)


def delete(key: str) -> Row:
    return ("-D", key, None, None)  # nothing but the key, as a tombstone of Kafka


def test_a_row_replaces_the_one_before_it_whatever_kind_it_says_it_has():
    driver = Driver()

    assert changes(driver.step(put("a", 1))) == ["+I a 1"]
    assert changes(driver.step(put("a", 2, "+I"), put("b", 3))) == ["-U a 1", "+U a 2", "+I b 3"]


def test_a_delete_retracts_the_row_that_is_kept_and_one_without_a_row_is_dropped():
    driver = Driver()
    driver.step(put("a", 1))

    assert changes(driver.step(delete("b"), delete("a"), delete("a"))) == ["-D a 1"]
    assert driver.step(delete("a")) == []
    assert changes(driver.step(put("a", 2))) == ["+I a 2"]


def test_several_changes_of_a_key_in_one_step():
    assert changes(Driver().step(put("a", 1), put("a", 2), delete("a"), put("a", 3))) == [
        "+I a 1",
        "-U a 1",
        "+U a 2",
        "-D a 2",
        "+I a 3",
    ]


def test_rows_before_updates_are_ignored_so_a_change_that_comes_again_changes_nothing():
    driver = Driver()
    update = [put("a", 1, "-U"), put("a", 2, "+U")]

    assert changes(driver.step(put("a", 1, "+I"), *update)) == ["+I a 1", "-U a 1", "+U a 2"]
    assert driver.step(*update) == []


def test_an_equal_row_is_dropped_and_the_one_that_was_emitted_is_retracted():
    driver = Driver()
    driver.step(put("a", 1))
    driver.step(put("a", 1), put("a", 1))

    assert driver.step(put("a", 2), put("a", 2)) == [
        ("-U", "a", 1, None, 0),
        ("+U", "a", 2, None, 3),
    ]


def test_a_row_expires_some_time_after_it_was_written_and_equal_rows_renew_it():
    driver = Driver(ttl=10)

    assert changes(driver.step(put("a", 1), now=0)) == ["+I a 1"]
    assert changes(driver.step(put("a", 1), now=9)) == ["-U a 1", "+U a 1"]
    assert changes(driver.step(put("a", 2), now=18)) == ["-U a 1", "+U a 2"]
    assert driver.step(delete("a"), now=28) == []


def test_a_row_that_does_not_pass_the_condition_deletes_the_one_that_did():
    rows = frame([put("a", 5), put("a", 1), put("a", 2), put("a", 6), put("a", 7)], 0)
    passes = pl.Series("passes", [True, False, None, True, True])
    kernel = NormalizeKernel(("k",), ("k", "v"), condition="passes")
    step = kernel.step(State(), [rows.with_columns(passes)], 0, 0)

    assert changes(step.output.select(KIND, "k", "v").rows()) == [
        "+I a 5",
        "-D a 5",
        "+I a 6",
        "-U a 6",
        "+U a 7",
    ]
    assert step.state.keyed("rows").height == 1


@pytest.mark.parametrize("ttl", [None, 1000])
def test_state_is_one_row_for_each_key_that_has_one(ttl: int | None):
    driver = Driver(ttl)
    for number in range(100):
        driver.step(put("a", number), put("b", number), delete("b"), now=number)

    assert driver.state.keyed("rows").height <= 2


# --- any rows, cut anyhow ------------------------------------------------------------------------

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["+I", "+U", "+U", "-D", "-U"]),
        st.sampled_from(["a", "b", "cc", None]),
        st.sampled_from([None, 0, 1]),
        st.sampled_from([None, [], [1], [1, 2]]),
    ),
    max_size=30,
)


def reference(steps: list[list[Row]], ttl: int | None) -> list[tuple[object, ...]]:
    """One row after the other; a step takes a millisecond."""
    kept: dict[str | None, tuple[int, tuple[object, ...]]] = {}
    emitted: list[tuple[object, ...]] = []
    number = 0
    for now, rows in enumerate(steps):
        for kind, key, value, some in rows:
            row = (key, value, some, number)
            number += 1
            written, before = kept.get(key, (now, None))
            if ttl is not None and written <= now - ttl:
                before = None
            if kind == "-U":
                continue
            if kind == "-D":
                kept.pop(key, None)
                if before is not None:
                    emitted.append(("-D", *before))
                continue
            if before is None:
                emitted.append(("+I", *row))
            elif ttl is None and before[:3] == row[:3]:
                continue
            else:
                emitted += [("-U", *before), ("+U", *row)]
            kept[key] = (now, row)
    return emitted


@searched(150)
@given(ROWS, st.lists(st.integers(0, 30), max_size=8), st.sampled_from([None, 1, 3]))
def test_however_rows_are_cut_into_steps_the_changes_are_the_references(
    rows: list[Row], cuts: list[int], ttl: int | None
):
    ends = sorted({0, len(rows), *(cut for cut in cuts if cut < len(rows))})
    steps = [rows[start:end] for start, end in pairwise(ends)]
    driver, emitted = Driver(ttl), []
    for now, step in enumerate(steps):
        emitted += driver.step(*step, now=now)

    assert emitted == reference(steps, ttl)
