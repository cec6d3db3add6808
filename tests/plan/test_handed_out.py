"""Late rows as an output of the operator that drops them: which INSERTs read them there."""

from __future__ import annotations

import pytest

from tests.plan.late_queries import (
    BEST,
    BOTH_COUNTED,
    COUNTED,
    CUMULATING,
    DOUBLE,
    FIRST,
    HOPPING,
    MIXED,
    NEAR,
    PLACED,
    SESSIONS,
    SETS,
    SEVERAL,
    TOP,
    TWICE_THERE,
    UNION,
    UNITED,
    UNITED_VIEW,
    VERSIONED,
    beside,
    found,
    together,
)
from tests.plan.marked import plan, world
from tests.plan.test_late_rows import DDL, LATE, MEET, TUMBLE, WINDOWS
from tidemark.checkpoints.of_plan import contract_of
from tidemark.physical import Outlet, Settings, physical_plan
from tidemark.plan.handed_out import outlets_of, readers_of
from tidemark.plan.kept_state import LayoutOptions
from tidemark.plan.nodes import (
    KeepFirst,
    LateColumns,
    LateOutput,
    LateRows,
    UnionAll,
    WindowAggregate,
)


@pytest.fixture
def tables():
    return world(DDL)


@pytest.fixture
def dropping(tables):
    """Tables whose interval and temporal joins drop late rows."""
    tables.plan_script(
        "SET 'tidemark.interval-join.late-rows' = 'drop'; SET 'tidemark.flink-version' = '2.4'"
    )
    return tables


@pytest.mark.parametrize("query", [TUMBLE, FIRST, SESSIONS, NEAR, VERSIONED])
def test_an_operator_hands_out_the_rows_it_drops_with_the_requested_columns(dropping, query):
    both = beside(dropping, query, late="SELECT c, late_operator, late_by FROM s$late WHERE i > 1")
    reader, job = both.roots

    [output] = found(reader, LateOutput)
    [beside_it] = found(job, LateColumns)
    assert [(out.number, out.places) for out in beside_it.outlets] == [(output.outlet, (1, 2))]
    assert output.places == (1, 2)
    assert output.edge.names[:2] == ("c", "i")
    assert not found(reader, LateRows)
    assert both.jobs == (job,)
    assert job.edge == both.of_single_roots.roots[1].edge


@pytest.mark.parametrize("query", [TOP, MEET])
def test_rows_that_have_their_windows_bring_their_times_for_the_outlet(tables, query):
    kept = query.replace("window_end, k", "window_end, k, window_time")
    both = beside(tables, kept, late="SELECT k, late_operator, late_by FROM s$late")
    [operator] = physical_plan(both.jobs[0], Settings(), streaming=True).operators

    assert operator.inputs[0].outlets == (Outlet(0, (0, 3), time=3),)
    assert found(both.roots[0], LateOutput)[0].places == (0,)


def test_a_join_hands_out_the_late_rows_of_each_side_to_the_inserts_that_read_them(tables):
    of_right = LATE.replace("s$", "o$")
    three = together(
        tables,
        f"INSERT INTO lates {LATE}",
        f"INSERT INTO counts {MEET.replace('LEFT', 'FULL')}",
        f"INSERT INTO lates {of_right}",
    )
    left, job, right = three.roots
    [operator] = physical_plan(job, Settings(), streaming=True).operators
    outlets = [outlet for given in operator.inputs for outlet in given.outlets]

    assert three.jobs == (job,)
    assert outlets == [Outlet(0, (0, 3), time=3), Outlet(1, (0, 1), time=1)]
    assert operator.outlets == {0: 0, 1: 1}
    assert [output.outlet for root in (left, right) for output in found(root, LateOutput)] == [0, 1]
    assert [output.operator for root in (left, right) for output in found(root, LateOutput)] == [
        "window-join of k, TUMBLE(size 10 s), left side",
        "window-join of k, TUMBLE(size 10 s), right side",
    ]
    assert list(readers_of(job, three.roots)) == [left, right]
    assert job.edge == three.of_single_roots.roots[1].edge


@pytest.mark.parametrize("query", [DOUBLE, BEST, BOTH_COUNTED])
def test_late_rows_of_an_operator_leave_the_query_through_those_above_it(tables, query):
    both = beside(tables, query)
    [job] = both.jobs
    operators = physical_plan(job, Settings(), streaming=True).operators
    [output] = found(both.roots[0], LateOutput)

    assert operators[0].outlets == {output.outlet: 0}
    assert operators[0].id == "window-aggregate-1"
    assert not any(operator.outlets for operator in operators[1:])
    assert job.edge == both.of_single_roots.roots[1].edge


def test_late_rows_pass_unions_unnested_rows_and_window_functions(tables):
    ends = "GROUP BY k, window_start, window_end, window_time"
    counted = (
        f"SELECT window_time AS ts, k, COUNT(*) AS n FROM {WINDOWS.format('s')} {ends}",
        f"SELECT window_time AS ts, k, COUNT(*) AS n FROM {WINDOWS.format('o')} {ends}",
    )
    tables.plan_script(
        f"CREATE VIEW counted AS {' UNION ALL '.join(counted)};"
        "CREATE VIEW more AS SELECT ts, k, n FROM counted CROSS JOIN UNNEST(ARRAY[1, 2]) AS u (x)"
    )
    of_right = f"INSERT INTO lates {LATE.replace('s$', 'o$')}"
    best = f"INSERT INTO counts {MIXED.format('more')}"
    three = together(tables, f"INSERT INTO lates {LATE}", best, of_right)
    operators = physical_plan(three.jobs[0], Settings(), streaming=True).operators

    assert three.jobs == (three.roots[1],)
    assert [sorted(operator.outlets) for operator in operators] == [[0], [1], []]


def test_late_rows_of_operators_leave_the_query_through_the_union_above_them(tables):
    united = f"SELECT k, n FROM ({COUNTED}) UNION ALL {FIRST} UNION ALL SELECT k, 1 FROM o"
    both = beside(tables, united)
    operators = physical_plan(both.jobs[0], Settings(), streaming=True).operators
    [part] = readers_of(both.jobs[0], both.roots)

    assert [operator.outlets for operator in operators] == [{0: 0}, {1: 0}]
    assert {output.outlet for output in found(part, LateOutput)} == {0, 1}
    assert both.jobs[0].edge == both.of_single_roots.roots[1].edge


def test_operators_on_both_sides_of_a_join_hand_out_late_rows(tables):
    of_right = f"INSERT INTO lates {LATE.replace('s$', 'o$')}"
    three = together(
        tables, f"INSERT INTO lates {LATE}", f"INSERT INTO counts {BOTH_COUNTED}", of_right
    )
    operators = physical_plan(three.jobs[0], Settings(), streaming=True).operators

    assert [sorted(operator.outlets) for operator in operators] == [[0], [1], []]
    assert len(list(readers_of(three.jobs[0], three.roots))) == 2


def test_an_operator_and_the_one_above_it_both_hand_out_late_rows(tables):
    tables.plan_script(
        "CREATE VIEW per_window AS SELECT window_time AS ts, k, COUNT(*) AS n "
        f"FROM {WINDOWS.format('s')} GROUP BY k, window_start, window_end, window_time"
    )
    above = "SELECT k, COUNT(*) FROM per_window GROUP BY k, TUMBLE(ts, INTERVAL '1' MINUTE)"
    of_view = "INSERT INTO lates SELECT k, late_operator, late_by FROM per_window$late"
    three = together(tables, f"INSERT INTO lates {LATE}", f"INSERT INTO counts {above}", of_view)
    operators = physical_plan(three.jobs[0], Settings(), streaming=True).operators

    assert three.jobs == (three.roots[1],)
    assert [operator.outlets for operator in operators] == [{0: 0}, {1: 0}]
    assert three.jobs[0].edge == three.of_single_roots.roots[1].edge


def test_a_reader_of_late_rows_does_not_hand_out_those_of_an_operator_below(tables):
    tables.plan_script(
        "CREATE VIEW per_window AS SELECT window_time AS ts, k, COUNT(*) AS n "
        f"FROM {WINDOWS.format('s')} GROUP BY k, window_start, window_end, window_time"
    )
    of_view = "INSERT INTO lates SELECT k, late_operator, late_by FROM per_window$late"
    both = together(tables, f"INSERT INTO lates {LATE}", of_view)

    assert len(both.jobs) == 2
    assert not any(outlets_of(job) for job in both.jobs)


def test_a_reader_may_stay_apart_while_others_are_parts_of_a_job(tables):
    late = [f"INSERT INTO lates {LATE}", f"INSERT INTO lates {LATE.replace('k,', 'c,')}"]
    three = together(tables, late[0], f"INSERT INTO counts {BEST}", late[1])

    assert three.jobs == (three.roots[1],)
    apart = three.keeping_apart([2])
    assert apart.jobs == apart.roots[1:]
    assert apart.roots[2] == three.of_single_roots.roots[2]
    assert found(apart.roots[0], LateOutput)
    assert three.keeping_apart([]) is three
    assert three.keeping_apart([0, 2]).roots == three.of_single_roots.roots


def test_one_side_of_a_join_may_be_read_alone(tables):
    both = beside(tables, MEET, late=LATE.replace("s$", "o$"))
    [operator] = physical_plan(both.jobs[0], Settings(), streaming=True).operators

    assert operator.outlets == {0: 1}
    assert [given.width for given in operator.inputs] == [
        len(given.stage.edge.columns) - (2 if given.outlets else 0) for given in operator.inputs
    ]


def test_a_table_that_is_joined_with_itself_has_an_outlet_for_each_side(tables):
    both = beside(tables, MEET.replace("TABLE o", "TABLE s"))
    [job] = both.jobs
    [part] = readers_of(job, both.roots)

    assert len(outlets_of(job)) == 2
    assert found(part, UnionAll)
    assert [output.operator.split(", ")[-1] for output in found(part, LateOutput)] == [
        "left side",
        "right side",
    ]


def test_explain_describes_the_operator_in_the_same_words(tables):
    both = beside(tables, TUMBLE)
    [output] = found(both.roots[0], LateOutput)
    [late] = found(both.of_single_roots.roots[0], LateRows)

    assert output.operator == late.operator == "window-aggregate of k, TUMBLE(size 10 s)"
    assert both.roots[0].edge == both.of_single_roots.roots[0].edge


@pytest.mark.parametrize(
    "query",
    [
        TUMBLE,
        TOP,
        FIRST,
        SESSIONS,
        MEET,
        NEAR,
        DOUBLE,
        BEST,
        BOTH_COUNTED,
        UNION,
        SEVERAL.format("HOP"),
        HOPPING,
        CUMULATING,
        TWICE_THERE,
        UNITED,
        f"SELECT k, n FROM ({COUNTED}) UNION ALL {FIRST}",
        SETS,
        FIRST.replace("FROM s)", "FROM s WHERE k IS NOT NULL AND i > 1)"),
    ],
)
def test_state_is_the_same_as_when_late_rows_are_not_read(dropping, query):
    dropping.plan_script(UNITED_VIEW)
    both = beside(dropping, query)

    contracts = [
        contract_of(
            root,
            "job",
            LayoutOptions("UTC"),
            key_groups=4,
            shuffle_partitions=2,
            spark="4.3",
        )
        for root in (both.roots[1], both.of_single_roots.roots[1], plan(query, dropping).roots[0])
    ]

    assert contracts[0].operators == contracts[1].operators == contracts[2].operators
    assert contracts[0].sources == contracts[1].sources


@pytest.mark.parametrize(
    ("query", "late"),
    [
        (PLACED, LATE.replace("s$", "placed$")),
        (DOUBLE.replace("SUM(n)", "COUNT(twice(CAST(n AS STRING)))"), LATE),
        (f"SELECT twice(k), n FROM ({COUNTED}) UNION ALL SELECT k, 1 FROM o", LATE),
        (TUMBLE, "SELECT k, MAX(late_operator), COUNT(*) FROM s$late GROUP BY k"),
        (TUMBLE, "SELECT l.k, l.late_operator, l.late_by FROM s$late AS l JOIN o ON l.k = o.k"),
        (TUMBLE, "SELECT k, 'mine', 1 FROM o UNION ALL SELECT k, late_operator, late_by FROM s$late"),
        ("SELECT k, COUNT(*) FROM s GROUP BY k", LATE),
        ("SELECT k, 1 FROM s", LATE),
    ],
    ids=[
        "a join of rows that are in windows already in the view",
        "a user's function between two operators",
        "a user's function between an operator and a union",
        "aggregated late rows",
        "joined late rows",
        "late rows among others",
        "no operator drops rows",
        "no operator keeps state",
    ],
)  # fmt: skip
def test_other_late_rows_are_found_by_a_job_of_their_own(tables, query, late):
    tables.plan_script(
        "CREATE FUNCTION twice AS 'tests.plan.functions.twice' LANGUAGE PYTHON;"
        "CREATE VIEW placed AS SELECT k, window_start, window_end, window_time "
        f"FROM {WINDOWS.format('s')}"
    )
    if "MAX" in late:
        tables.plan_script("ALTER TABLE lates SET ('updates' = 'true')")
    both = beside(tables, query, late=late)

    assert both.of_single_roots is both
    assert len(both.jobs) == 2
    assert found(both.roots[0], LateRows)


def test_an_overwriting_insert_is_a_job_of_its_own(tables):
    tables.plan_script("SET 'execution.runtime-mode' = 'batch'")
    both = together(tables, f"INSERT OVERWRITE lates {LATE}", f"INSERT INTO counts {TUMBLE}")

    assert len(both.jobs) == 2


def test_each_job_has_the_part_of_a_reader_that_reads_its_rows(tables):
    three = beside(tables, TUMBLE, FIRST)
    reader, *jobs = three.roots

    assert found(reader, UnionAll)
    assert three.jobs == tuple(jobs)
    for job, kind in zip(jobs, (WindowAggregate, KeepFirst), strict=True):
        [part] = readers_of(job, three.roots)
        assert found(job, kind)
        assert not found(part, UnionAll)
        assert part.edge.names == reader.edge.names
        assert {output.outlet for output in found(part, LateOutput)} == outlets_of(job)
