"""Kernels against the row-at-a-time reference: any rows, cuts, watermarks, restarts."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.kernels.aggregates import running
from tidemark.kernels.columns import AFTER_ALL
from tidemark.kernels.segments import Compaction
from tidemark.kernels.windows.aggregate import WindowAggregateKernel
from tidemark.kernels.windows.spec import (
    Assigner,
    CountSliding,
    Cumulating,
    Emit,
    Firing,
    Given,
    Session,
    Sliding,
)

from .drive import CALLS, Driver
from .reference import Emitted, Reference, Row

ASSIGNERS: dict[str, Assigner] = {
    "tumbling": Sliding(10, 10),
    "tumbling with offset": Sliding(10, 10, -3),
    "sliding": Sliding(12, 4),
    "sliding, size no multiple": Sliding(10, 4, 1),
    "sliding with gaps": Sliding(4, 10),
    "cumulating": Cumulating(12, 4),
    "cumulating with offset": Cumulating(9, 3, 2),
    "session": Session(5),
    "given": Given("s", "e"),
}
EACH_ROW, BY_CLOCK = Firing(each_row=True), Firing(every_ms=7)
EMITS = {
    "early each row": Emit(early=EACH_ROW),
    "late each row": Emit(late=EACH_ROW),
    "early and late": Emit(early=EACH_ROW, late=EACH_ROW),
    "early by the clock": Emit(early=BY_CLOCK),
    "both by the clock": Emit(early=BY_CLOCK, late=BY_CLOCK),
    "early by the clock, late each row": Emit(early=BY_CLOCK, late=EACH_ROW),
}
UPDATING = {name: a for name, a in ASSIGNERS.items() if not isinstance(a, Session)}

times = st.integers(-40, 60)
rows = st.builds(
    Row,
    key=st.sampled_from(["a", "b", "c", None]),
    time=times,
    value=st.one_of(st.none(), st.integers(-3, 3)),
    passes=st.sampled_from([True, False, None]),
    window=times.map(lambda t: (t // 10 * 10, t // 10 * 10 + 10)),
)
ROW = Row(key="a", time=0, value=1, passes=True, window=(0, 10))
CUT, RESTART = "cut", "restart"
scripts = st.lists(
    st.one_of(rows, rows, rows, rows, st.integers(-30, 50), st.sampled_from([CUT, CUT, RESTART])),
    max_size=40,
)


def with_retractions(script: list[Any], takes: list[bool]) -> list[Any]:
    """Some rows are retracted some time after they arrived."""
    result: list[Any] = []
    open_: list[Row] = []
    for item, take in zip(script, takes, strict=False):
        if isinstance(item, Row) and take and open_:
            result.append(replace(open_.pop(0), kind="-D"))
        elif isinstance(item, Row):
            open_.append(item)
            result.append(item)
        else:
            result.append(item)
    return result


def check(kernel: WindowAggregateKernel, reference: Reference, script: list[Any]) -> None:
    """Run both; after every cut they have emitted the same."""
    # For every other script few hashes, so that keys must be told apart by more; for the others
    # so many that they need not be.
    driver = Driver(kernel, hash_values=1000 if len(script) % 2 else 2)
    slow = replace(reference, cells={}, rows={}, late=[])
    clock, waiting, expected, late = 0, [], slow.tick(0), 0
    for item in [*script, CUT, AFTER_ALL, CUT]:
        if isinstance(item, Row):
            waiting.append((item, slow.watermark))
            expected += slow.row(item)
        elif isinstance(item, int):
            expected += slow.advance(item)
        else:
            told = driver.step(waiting, slow.watermark, clock)
            same(told, expected)
            late += driver.late
            assert late == len(slow.late)
            if item == RESTART:
                driver.restart()
            clock += 3
            waiting, expected = [], slow.tick(clock)


def same(told: list[Emitted], expected: list[Emitted]) -> None:
    """The same rows, and of each window in the same order."""
    assert by_window(told) == by_window(expected)


def by_window(told: list[Emitted]) -> dict[Any, list[Emitted]]:
    windows = defaultdict(list)
    for row in told:
        windows[row[1:4]].append(row)
    return windows


def calls(*names: str) -> tuple[Any, Any]:
    chosen = [CALLS[name] for name in names]
    return tuple(call for call, _ in chosen), tuple(function for _, function in chosen)


SMALL = Compaction(fanout=2, smallest=2)


@pytest.mark.parametrize("name", ASSIGNERS)
@given(script=scripts)
@searched(10)
def test_each_window_is_emitted_once_with_the_rows_that_are_not_late(name, script):
    chosen, functions = calls("count", "sum", "min", "max", "distinct", "filtered")
    kernel = WindowAggregateKernel(("k",), ASSIGNERS[name], chosen, compaction=SMALL)
    check(kernel, Reference(ASSIGNERS[name], functions), script)


@pytest.mark.parametrize("name", ASSIGNERS)
@given(script=scripts)
@example(script=[ROW, 5, ROW])
@searched(5)
def test_windows_are_emitted_without_any_results_too(name, script):
    check(
        WindowAggregateKernel(("k",), ASSIGNERS[name], (), compaction=SMALL),
        Reference(ASSIGNERS[name], ()),
        script,
    )


ADDED = [
    (name, combined)
    for name, assigner in ASSIGNERS.items()
    for combined in (False, True)
    if not (combined and isinstance(assigner, Session))
]


@pytest.mark.parametrize(("name", "combined"), ADDED)
@given(script=scripts)
@searched(10)
def test_what_is_only_added_up_is_the_same(name, combined, script):
    chosen, functions = calls("count", "sum", "filtered")
    kernel = WindowAggregateKernel(
        ("k",), ASSIGNERS[name], chosen, combined=combined, compaction=SMALL
    )
    check(kernel, Reference(ASSIGNERS[name], functions), script)


@pytest.mark.parametrize("name", ASSIGNERS)
@given(script=scripts, takes=st.lists(st.booleans(), min_size=40, max_size=40))
@searched(10)
def test_retracted_rows_do_not_count(name, script, takes):
    chosen, functions = calls("count", "sum", "min", "max", "distinct", "filtered")
    kernel = WindowAggregateKernel(("k",), ASSIGNERS[name], chosen, retracts=True, compaction=SMALL)
    check(kernel, Reference(ASSIGNERS[name], functions), with_retractions(script, takes))


@pytest.mark.parametrize("name", ["tumbling", "given", "session"])
@given(script=scripts, takes=st.lists(st.booleans(), min_size=40, max_size=40))
@searched(10)
def test_lists_are_in_order_of_arrival(name, script, takes):
    chosen, functions = calls("list")
    reference = Reference(ASSIGNERS[name], functions)
    kernel = WindowAggregateKernel(("k",), ASSIGNERS[name], chosen, compaction=SMALL)
    check(kernel, reference, script)
    check(replace(kernel, retracts=True), reference, with_retractions(script, takes))


@pytest.mark.parametrize("name", [n for n, a in ASSIGNERS.items() if not isinstance(a, Session)])
@given(script=scripts)
@searched(10)
def test_rows_combined_in_advance_have_the_same_result(name, script):
    chosen, functions = calls("count", "sum", "min", "distinct", "filtered")
    kernel = WindowAggregateKernel(("k",), ASSIGNERS[name], chosen, combined=True, compaction=SMALL)
    assert kernel.combinable
    check(kernel, Reference(ASSIGNERS[name], functions), script)


@pytest.mark.parametrize("emit", EMITS)
@pytest.mark.parametrize("name", UPDATING)
@given(script=scripts, lateness=st.sampled_from([0, 5, 30]))
@searched(8)
def test_results_are_emitted_before_and_after_the_end(name, emit, script, lateness):
    chosen, functions = calls("count", "sum", "min", "max", "filtered", "distinct sum")
    kernel = WindowAggregateKernel(
        ("k",), UPDATING[name], chosen, EMITS[emit], lateness, compaction=SMALL
    )
    check(kernel, Reference(UPDATING[name], functions, EMITS[emit], lateness), script)


@pytest.mark.parametrize("emit", ["early and late", "both by the clock"])
@pytest.mark.parametrize("name", ["tumbling", "sliding", "given"])
@given(script=scripts, takes=st.lists(st.booleans(), min_size=40, max_size=40))
@searched(10)
def test_a_result_whose_rows_are_all_retracted_is_deleted(name, emit, script, takes):
    chosen, functions = calls(
        "count", "sum", "min", "distinct", "distinct sum", "distinct passing", "list"
    )
    assigner, emits = UPDATING[name], EMITS[emit]
    kernel = WindowAggregateKernel(
        ("k",), assigner, chosen, emits, 10, retracts=True, compaction=SMALL
    )
    reference = Reference(assigner, functions, emits, 10)
    check(kernel, reference, with_retractions(script, takes))


@pytest.mark.parametrize("emit", ["early and late", "early by the clock, late each row"])
@pytest.mark.parametrize("name", ["tumbling", "sliding", "cumulating", "given"])
@given(script=scripts, most=st.integers(1, 8), lateness=st.sampled_from([0, 30]))
@searched(10)
def test_lists_are_emitted_before_and_after_the_end_in_any_slices(
    name, emit, script, most, lateness
):
    chosen, functions = calls("count", "distinct", "distinct passing", "list")
    kernel = WindowAggregateKernel(
        ("k",), UPDATING[name], chosen, EMITS[emit], lateness, compaction=SMALL
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "MOST_ITEMS", most)
        check(kernel, Reference(UPDATING[name], functions, EMITS[emit], lateness), script)


COUNTED = [CountSliding(3, 3), CountSliding(5, 2), CountSliding(4, 1), CountSliding(2, 3)]


@pytest.mark.parametrize("assigner", COUNTED)
@given(script=scripts)
@searched(10)
def test_count_windows_are_emitted_when_they_are_full(assigner, script):
    chosen, functions = calls("count", "sum", "min", "list")
    kernel = WindowAggregateKernel(("k",), assigner, chosen, compaction=SMALL)
    check(kernel, Reference(assigner, functions), script)
