"""What an outlet hands out of rows in several windows, of unions and of equal operators."""

from __future__ import annotations

import pytest

from tests.plan.late_queries import (
    CUMULATING,
    HOPPING,
    SETS,
    SEVERAL,
    TOP,
    TWICE_THERE,
    UNION,
    UNITED,
    UNITED_VIEW,
    beside,
    found,
    together,
)
from tests.plan.marked import world
from tests.plan.test_late_rows import DDL, LATE, TUMBLE, WINDOWS
from tidemark.physical import Outlet, Settings, physical_plan
from tidemark.physical.explain import explain
from tidemark.plan.handed_out import outlets_of, readers_of
from tidemark.plan.nodes import (
    AssignWindows,
    LateColumns,
    LateOutput,
    UnionAll,
)


@pytest.fixture
def tables():
    return world(DDL)


def test_equal_windows_are_one_operator_which_hands_out_each_row_once(tables):
    summed = TUMBLE.replace("COUNT(*)", "SUM(CAST(i AS BIGINT))")
    three = beside(tables, TUMBLE, summed)

    assert [bool(outlets_of(job)) for job in three.jobs] == [True, False]


def test_a_reader_may_request_no_column_of_the_table(tables):
    both = beside(tables, TUMBLE, late="SELECT 'x', late_operator, late_by FROM s$late")
    [output] = found(both.roots[0], LateOutput)
    [beside_it] = found(both.roots[1], LateColumns)

    assert output.places == beside_it.outlets[0].places == ()
    assert beside_it.edge == beside_it.input.edge


def test_two_readers_get_the_columns_of_both(tables):
    more = "INSERT INTO lates SELECT c, late_operator, late_by FROM s$late"
    three = together(tables, f"INSERT INTO lates {LATE}", f"INSERT INTO counts {TUMBLE}", more)
    [job] = three.jobs
    [beside_it] = found(job, LateColumns)

    assert beside_it.outlets[0].places == (0, 1)
    assert [found(part, LateOutput)[0].places for part in readers_of(job, three.roots)] == [
        (0,),
        (1,),
    ]


def test_a_view_and_its_table_have_outlets_at_the_same_operator(tables):
    view = "INSERT INTO lates SELECT k, late_operator, twice FROM big$late"
    of_view = TUMBLE.replace("FROM s", "FROM big")
    three = together(tables, f"INSERT INTO lates {LATE}", f"INSERT INTO counts {of_view}", view)
    [operator] = physical_plan(three.jobs[0], Settings(), streaming=True).operators

    assert operator.inputs[0].outlets == (Outlet(0, (0,)), Outlet(1, (0, 1)))


def test_rows_with_windows_bring_the_times_of_a_view_and_of_its_table(tables):
    view = "INSERT INTO lates SELECT k, late_operator, twice FROM big$late"
    of_view = TOP.replace("TABLE s", "TABLE big").replace("BY i", "BY twice")
    three = together(tables, f"INSERT INTO lates {LATE}", f"INSERT INTO counts {of_view}", view)

    [operator] = physical_plan(three.jobs[0], Settings(), streaming=True).operators
    outlets = Outlet(0, (0, 3), time=3), Outlet(1, (0, 1, 2), time=2)

    assert operator.inputs[0].outlets == outlets


def test_a_union_has_an_outlet_for_each_table_and_marks_its_rows(tables):
    of_other = f"INSERT INTO lates {LATE.replace('s$', 'o$')}"
    three = together(tables, f"INSERT INTO lates {LATE}", f"INSERT INTO counts {UNION}", of_other)
    [operator] = physical_plan(three.jobs[0], Settings(), streaming=True).operators
    [beside_it] = found(three.jobs[0], LateColumns)
    rows = operator.inputs[0]

    assert rows.outlets == (Outlet(0, (0,), marked=True), Outlet(1, (0,), marked=True))
    assert rows.width == len(beside_it.edge.columns)
    assert [output.operator for root in three.roots for output in found(root, LateOutput)] == [
        "window-aggregate of k, TUMBLE(size 10 s)"
    ] * 2


def test_a_table_that_is_in_a_union_twice_has_an_outlet_for_each_path(tables):
    twice = UNION.replace("k, ts FROM o", "c AS k, ts FROM s WHERE i > 1")
    both = beside(tables, twice)
    [operator] = physical_plan(both.jobs[0], Settings(), streaming=True).operators

    assert [outlet.marked for outlet in operator.inputs[0].outlets] == [True, True]
    assert len(found(both.roots[0], LateOutput)) == 2
    assert found(both.of_single_roots.roots[0], UnionAll)


@pytest.mark.parametrize("windows", ["HOP", "CUMULATE"])
def test_of_rows_in_several_windows_the_last_one_is_handed_out(tables, windows):
    both = beside(tables, SEVERAL.format(windows))
    [operator] = physical_plan(both.jobs[0], Settings(), streaming=True).operators

    assert operator.inputs[0].outlets == (Outlet(0, (0, 3), marked=True, time=3),)
    assert [node.marks_last for node in found(both.jobs[0], AssignWindows)] == [True]


@pytest.mark.parametrize("query", [HOPPING, CUMULATING])
def test_a_join_that_puts_rows_into_several_windows_knows_itself_which_one_is_the_last(
    tables, query
):
    both = beside(tables, query)
    [operator] = physical_plan(both.jobs[0], Settings(), streaming=True).operators
    [plain] = physical_plan(both.of_single_roots.roots[1], Settings(), streaming=True).operators

    assert operator.inputs[0].outlets == (Outlet(0, (0, 3), marked=True, time=3),)
    assert [rows.windows for rows in operator.inputs] == [rows.windows for rows in plain.inputs]
    assert all(rows.windows is not None for rows in operator.inputs)


def test_a_join_of_rows_whose_windows_are_used_below_it_is_told_which_one_is_the_last(tables):
    rows = WINDOWS.format("s").replace("TUMBLE(", "HOP(")
    rows = rows.replace("INTERVAL '10'", "INTERVAL '2' SECOND, INTERVAL '10'")
    filtered = f"(SELECT * FROM {rows} WHERE MINUTE(window_start) > 1)"
    assert rows in HOPPING
    both = beside(tables, HOPPING.replace(rows, filtered))
    [operator] = physical_plan(both.jobs[0], Settings(), streaming=True).operators

    assert [rows.windows is None for rows in operator.inputs] == [True, False]
    assert operator.inputs[0].outlets == (Outlet(0, (0, 3), marked=True, time=3),)
    assert [node.marks_last for node in found(both.jobs[0], AssignWindows)] == [True, False]


def test_each_table_of_a_union_has_an_outlet_with_its_times_where_rows_have_their_windows(tables):
    tables.plan_script(UNITED_VIEW)
    of_other = f"INSERT INTO lates {LATE.replace('s$', 'o$')}"
    three = together(tables, f"INSERT INTO lates {LATE}", f"INSERT INTO counts {UNITED}", of_other)
    [operator] = physical_plan(three.jobs[0], Settings(), streaming=True).operators

    assert three.jobs == (three.roots[1],)
    assert operator.inputs[0].outlets == (
        Outlet(0, (0, 3), marked=True, time=3),
        Outlet(1, (0, 1), marked=True, time=1),
    )


def test_of_equal_operators_of_a_query_the_first_hands_out_late_rows(tables):
    both = beside(tables, TWICE_THERE)
    operators = physical_plan(both.jobs[0], Settings(), streaming=True).operators

    assert [operator.outlets for operator in operators] == [{0: 0}, {}, {}]


def test_of_rows_in_several_grouping_sets_the_first_one_is_handed_out(tables):
    both = beside(tables, SETS)
    [operator] = physical_plan(both.jobs[0], Settings(), streaming=True).operators

    assert operator.inputs[0].outlets == (Outlet(0, (0,), marked=True),)
    assert both.jobs[0].edge == both.of_single_roots.roots[1].edge


def test_an_operator_with_an_outlet_combines_no_rows_and_explain_says_what_it_does(tables):
    both = beside(tables, TUMBLE)
    [operator] = physical_plan(both.jobs[0], Settings(), streaming=True).operators
    [plain] = physical_plan(both.of_single_roots.roots[1], Settings(), streaming=True).operators
    text = explain(both)

    assert (operator.combines, plain.combines) == (False, True)
    [outlet] = operator.outlets
    assert operator.inputs[0].outlets == (Outlet(outlet, (0,)),)
    assert operator.inputs[0].keys == plain.inputs[0].keys
    assert (
        "window-aggregate-1: stateful operator, one kernel per key group; hands out late rows"
        in text
    )
    assert "LateRows(operator=[window-aggregate of k, TUMBLE(size 10 s)])" in text
    assert "late-rows-1" not in text
