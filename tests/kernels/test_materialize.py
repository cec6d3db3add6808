"""Rows by the primary key of their sink: stories, and the kernel against a reference that takes one
row at a time, in the words of Flink's SinkUpsertMaterializer.
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
from tidemark.errors import DataError
from tidemark.kernels.columns import ACCUMULATE, ARRIVAL, HASH, KIND, STAMP, TIME
from tidemark.kernels.materialize import MaterializeKernel, Strategy
from tidemark.kernels.segments import Compaction
from tidemark.kernels.state import State

Row = tuple[str, str | None, int | None, list[int] | None]  # kind, key, value, list

SCHEMA = {"k": pl.String, "v": pl.Int64, "l": pl.List(pl.Int64), KIND: pl.String}


def frame(rows: list[Row]) -> pl.DataFrame:
    columns = {
        "k": [key for _, key, _, _ in rows],
        "v": [value for _, _, value, _ in rows],
        "l": [some for *_, some in rows],
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

    strategy: Strategy = "last"
    ttl: int | None = None
    state: State = field(default_factory=State)

    def step(self, *rows: Row, now: int = 0) -> list[tuple[object, ...]]:
        kernel = MaterializeKernel(("k",), self.strategy, self.ttl, ("id",), Compaction(2, 1))
        step = kernel.step(self.state, [frame(list(rows))], 0, now)
        stored = {segment.id: segment.rows() for segment in step.state.segments()}
        self.state = State.open(json.loads(json.dumps(step.state.manifest())), stored.__getitem__)
        return step.output.select(KIND, "k", "v", "l").rows()

    def changes(self, *rows: str, now: int = 0) -> list[str]:
        """Rows and changes as `+I a 1`."""
        words = [row.split() for row in rows]
        given = [(kind, key, int(value), None) for kind, key, value in words]
        return [f"{kind} {key} {value}" for kind, key, value, _ in self.step(*given, now=now)]


def test_the_last_row_counts_and_if_it_is_retracted_the_one_before_it():
    driver = Driver()

    assert driver.changes("+I a 1") == ["+I a 1"]
    assert driver.changes("+I a 2", "+I b 5") == ["+U a 2", "+I b 5"]
    assert driver.changes("+I a 3") == ["+U a 3"]
    assert driver.changes("-D a 2") == []
    assert driver.changes("-D a 3") == ["+U a 1"]
    assert driver.changes("-D a 1") == ["-D a 1"]
    assert driver.changes("-D a 1") == []


# Changes of a table by `id`, written to one by `k`, as (kind, k, id), each in a step of its own, and
# what Flink 2.3.0 prints.
CHANGES = (
    "+I L 1, +I P 2, +I L 3, -U L 1, +U P 1, -D L 3, +I P 4, -U P 4, +U P 4, -D P 4, +I L 5, "
    "+I L 6, -D L 5"
)
PRINTED: dict[Strategy, str] = {
    "last": "+I L 1, +I P 2, +U L 3, +U P 1, -D L 3, +U P 4, +U P 1, +U P 4, +U P 1, +I L 5, "
    "+U L 6",
    "first": "+I L 1, +I P 2, -D L 1, +I L 5, -D L 5",
}


@pytest.mark.parametrize("strategy", ["last", "first"])
def test_changes_one_by_one_are_flinks(strategy: Strategy):
    driver = Driver(strategy)

    emitted = [change for row in CHANGES.split(", ") for change in driver.changes(row)]
    assert ", ".join(emitted) == PRINTED[strategy]


def test_changes_in_the_wrong_order_end_right():
    driver = Driver()
    driver.changes("+I a 1")

    # The new row of the key comes from elsewhere, before the old one is retracted.
    assert driver.changes("+U a 2", "-U a 1") == ["+U a 2"]
    assert driver.changes("-D a 2") == ["-D a 2"]


def test_a_step_has_one_change_of_each_key_and_none_if_the_row_is_the_same_in_the_end():
    driver = Driver()

    assert driver.changes("+I a 1", "-U a 1", "+U a 2", "-U a 2", "+U a 3") == ["+I a 3"]
    assert driver.changes("-U a 3", "+U a 4", "-U a 4", "+U a 3") == []
    assert driver.changes("+I b 1", "-D b 1") == []


def test_equal_rows_are_as_many_as_came():
    driver = Driver()
    driver.changes("+I a 1", "+I a 1")

    assert driver.changes("-D a 1") == []
    assert driver.changes("-D a 1") == ["-D a 1"]


def test_the_first_row_counts_as_long_as_it_is_there_and_others_are_dropped():
    driver = Driver("first")

    assert driver.changes("+I a 1", "+I a 2") == ["+I a 1"]
    assert driver.changes("+I a 3", "-D a 2") == []
    assert driver.changes("-U a 1", "+U a 4") == ["+U a 4"]
    assert driver.changes("-D a 4") == ["-D a 4"]
    assert driver.state.keyed("rows").height <= 2


def test_a_second_row_of_a_key_is_an_error_once_all_changes_have_arrived():
    driver = Driver("only")

    assert driver.changes("+I a 1", "+I b 1") == ["+I a 1", "+I b 1"]
    assert driver.changes("+U a 2", "-U a 1") == ["+U a 2"]
    with pytest.raises(DataError, match=r"several rows .* same primary key \(id=a\)"):
        driver.changes("+I a 3")


def test_rows_expire_some_time_after_they_were_written():
    driver = Driver(ttl=10)
    driver.changes("+I a 1", now=0)

    assert driver.changes("+I a 2", now=9) == ["+U a 2"]
    assert driver.changes("-D a 2", now=10) == ["-D a 2"]


# --- any rows, cut anyhow ------------------------------------------------------------------------

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["+I", "+U", "-U", "-D"]),
        st.sampled_from(["a", "b", "cc", None]),
        st.sampled_from([None, 0, 1]),
        st.sampled_from([None, [], [1]]),
    ),
    max_size=30,
)


def reference(steps: list[list[Row]], strategy: Strategy) -> list[list[tuple[object, ...]]]:
    """One row after the other; at the end of a step each key emits what has become of it."""
    kept: dict[str | None, list[tuple[object, ...]]] = {}
    emitted = []
    for rows in steps:
        before = {key: _counting(values, strategy) for key, values in kept.items()}
        touched = []
        for kind, *row in rows:
            key, values = row[0], kept.setdefault(row[0], [])
            touched = [*(k for k in touched if k != key), key]
            if kind in ACCUMULATE:
                values.append(tuple(row))
            elif tuple(row) in values:
                values.remove(tuple(row))
        emitted.append([])
        for key in touched:
            old, new = before.get(key), _counting(kept[key], strategy)
            if strategy == "first":
                kept[key] = kept[key][:1]
            if old != new:
                kind = "+I" if old is None else "-D" if new is None else "+U"
                emitted[-1].append((kind, *(old if new is None else new)))
    return emitted


def _counting(values: list[tuple[object, ...]], strategy: Strategy) -> tuple[object, ...] | None:
    return None if not values else values[-1 if strategy == "last" else 0]


@searched(150)
@given(ROWS, st.lists(st.integers(0, 30), max_size=8), st.sampled_from(["last", "first"]))
def test_however_rows_are_cut_into_steps_the_changes_are_the_references(
    rows: list[Row], cuts: list[int], strategy: Strategy
):
    ends = sorted({0, len(rows), *(cut for cut in cuts if cut < len(rows))})
    steps = [rows[start:end] for start, end in pairwise(ends)]
    driver = Driver(strategy)

    assert [driver.step(*step) for step in steps] == reference(steps, strategy)


@searched(60)
@given(ROWS, st.lists(st.integers(0, 30), max_size=8))
def test_the_last_rows_do_not_depend_on_the_cuts(rows: list[Row], cuts: list[int]):
    ends = sorted({0, len(rows), *(cut for cut in cuts if cut < len(rows))})
    cut, whole = Driver(), Driver()
    table: dict[object, object] = {}
    for start, end in pairwise(ends):
        for kind, key, *row in cut.step(*rows[start:end]):
            table[key] = None if kind == "-D" else row
    left = {key: row for key, row in table.items() if row is not None}

    assert left == {key: row for _, key, *row in whole.step(*rows)}
