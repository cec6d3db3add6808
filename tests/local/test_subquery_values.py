"""Tests of subqueries in place of values, compared with what SQL's logic of NULLs says row by row."""

from __future__ import annotations

import operator

from hypothesis import given
from hypothesis import strategies as st

import tidemark
from tests.searching import searched

OPERATORS = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

few = st.integers(1, 3) | st.none()
rows = st.lists(st.tuples(few, few), max_size=5)  # k, v


def compared(op, mine, theirs):
    return None if mine is None or theirs is None else OPERATORS[op](mine, theirs)


def some(truths):
    truths = list(truths)
    return True if True in truths else None if None in truths else False


def every(truths):
    truths = list(truths)
    return False if False in truths else None if None in truths else True


def belong(k, theirs, correlated):
    return [row for row in theirs if not correlated or (k is not None and row[0] == k)]


def session_with(mine, theirs, mode):
    session = tidemark.connect(engine="local", options={"execution.runtime-mode": mode})
    for name, some_rows in (("l", mine), ("r", theirs)):
        listed = [(number, *row) for number, row in enumerate(some_rows)]
        values = ", ".join(
            f"({', '.join('CAST(NULL AS INT)' if v is None else str(v) for v in row)})"
            for row in [*listed, (-1, None, None)]
        )
        session.sql(
            f"CREATE VIEW {name} AS SELECT * FROM (VALUES {values}) AS t (id, k, v) WHERE id >= 0"
        )
    return session


def column(session, sql):
    return [tuple(row.values()) for row in session.sql(sql).rows()]


@searched(10)
@given(
    rows,
    rows,
    st.sampled_from([*OPERATORS]),
    st.sampled_from(["ANY", "ALL"]),
    st.booleans(),
    st.sampled_from(["batch", "streaming"]),
)
def test_comparisons_with_any_and_all_are_unknown_where_a_null_may_decide(
    mine, theirs, op, word, correlated, mode
):
    of_all = {"ANY": some, "ALL": every}[word]
    where = " WHERE r.k = l.k" if correlated else ""
    test = f"v {op} {word} (SELECT v FROM r{where})"
    wanted = [
        of_all(compared(op, v, their) for _, their in belong(k, theirs, correlated))
        for k, v in mine
    ]
    session = session_with(mine, theirs, mode)

    assert sorted(column(session, f"SELECT id, {test} AS x FROM l")) == [*enumerate(wanted)]
    assert sorted(column(session, f"SELECT id FROM l WHERE {test} OR id < 0")) == [
        (number,) for number, truth in enumerate(wanted) if truth
    ]
    [(count,)] = column(session, f"SELECT COUNT(*) FILTER (WHERE {test}) AS n FROM l") or [(0,)]
    assert count == sum(truth is True for truth in wanted)
    groups = f"SELECT {test} AS x, COUNT(*) AS n FROM l GROUP BY {test}"
    assert {*column(session, groups)} == {(x, wanted.count(x)) for x in wanted}

    sums = {k: [v for mine_k, v in mine if mine_k == k and v is not None] for k, _ in mine}
    wanted_groups = {
        (k, of_all(compared(op, len(values), their) for _, their in belong(k, theirs, correlated)))
        for k, values in sums.items()
    }
    test = f"COUNT(v) {op} {word} (SELECT v FROM r{where})"
    assert {*column(session, f"SELECT k, {test} AS x FROM l GROUP BY k")} == wanted_groups
    assert {*column(session, f"SELECT k FROM l GROUP BY k HAVING {test}")} == {
        (k,) for k, truth in wanted_groups if truth
    }


@searched(10)
@given(rows, rows, st.booleans(), st.sampled_from(["batch", "streaming"]))
def test_pairs_of_columns_are_in_a_subquery_if_both_are_equal(mine, theirs, correlated, mode):
    where = " WHERE r.k = l.k" if correlated else ""
    session = session_with(mine, theirs, mode)
    found = [
        any(None not in (k, v) and (k, v) == row for row in belong(k, theirs, correlated))
        for k, v in mine
    ]

    test = f"(k, v) IN (SELECT k, v FROM r{where})"
    assert sorted(column(session, f"SELECT id FROM l WHERE {test} OR id < 0")) == [
        (number,) for number, is_in in enumerate(found) if is_in
    ]
    sql = f"SELECT id, CASE WHEN {test} THEN 1 ELSE 0 END AS x FROM l"
    assert sorted(column(session, sql)) == [*enumerate(map(int, found))]


@searched(10)
@given(
    rows,
    rows,
    st.sampled_from(["", "LEFT", "RIGHT", "FULL"]),
    st.sampled_from(["l", "r"]),
    st.sampled_from(["batch", "streaming"]),
)
def test_subqueries_in_on_decide_which_rows_match(mine, theirs, side, of, mode):
    session = session_with(mine, theirs, mode)
    test = f"{of}.v IN (SELECT x.v FROM l AS x WHERE x.id < 3)"
    sql = f"SELECT l.id AS i, r.id AS j FROM l {side} JOIN r ON l.k = r.k AND {test}"
    found = {v for _, v in mine[:3] if v is not None}
    pairs = [
        (i, j)
        for i, (k, v) in enumerate(mine)
        for j, (theirs_k, theirs_v) in enumerate(theirs)
        if k is not None and k == theirs_k and (v if of == "l" else theirs_v) in found
    ]
    if side in ("LEFT", "FULL"):
        pairs += [(i, None) for i in range(len(mine)) if i not in {pair[0] for pair in pairs}]
    if side in ("RIGHT", "FULL"):
        pairs += [(None, j) for j in range(len(theirs)) if j not in {pair[1] for pair in pairs}]

    assert sorted(column(session, sql), key=str) == sorted(pairs, key=str)


@searched(10)
@given(
    rows,
    rows,
    st.sampled_from([*OPERATORS]),
    st.booleans(),
    st.sampled_from(["batch", "streaming"]),
)
def test_an_aggregate_without_group_by_has_a_row_for_each_outer_row(
    mine, theirs, op, negated, mode
):
    session = session_with(mine, theirs, mode)
    word = "NOT IN" if negated else "IN"
    count = f"SELECT id FROM l WHERE v {word} (SELECT COUNT(*) FROM r WHERE r.k = l.k)"
    counts = [len(belong(k, theirs, correlated=True)) for k, _ in mine]

    assert sorted(column(session, count)) == [
        (number,)
        for number, ((_, v), n) in enumerate(zip(mine, counts, strict=True))
        if v is not None and (v == n) is not negated
    ]
    total = f"v {op} ALL (SELECT COUNT(*) FROM r WHERE r.k = l.k)"
    assert sorted(column(session, f"SELECT id, {total} AS x FROM l")) == [
        (number, compared(op, v, n))
        for number, ((_, v), n) in enumerate(zip(mine, counts, strict=True))
    ]
    exists = "EXISTS (SELECT MAX(v) FROM r WHERE r.k = l.k)"
    assert len(column(session, f"SELECT id FROM l WHERE {exists}")) == len(mine)
    assert column(session, f"SELECT id FROM l WHERE NOT {exists}") == []


@searched(10)
@given(
    rows,
    rows,
    st.sampled_from([*OPERATORS]),
    st.sampled_from(["", " AND r.k = l.k"]),
    st.sampled_from(["batch", "streaming"]),
)
def test_subqueries_are_computed_for_the_outer_values_that_they_compare(
    mine, theirs, op, by_key, mode
):
    session = session_with(mine, theirs, mode)
    where = f"WHERE r.v {op} l.v{by_key}"

    def found(k, v):
        return [
            their
            for their_k, their in theirs
            if compared(op, their, v) and (not by_key or (k is not None and k == their_k))
        ]

    def asked(value):
        return sorted(column(session, f"SELECT id, {value} AS x FROM l"))

    def wanted(of):
        return [(number, of(k, v)) for number, (k, v) in enumerate(mine)]

    assert asked(f"(SELECT COUNT(*) FROM r {where})") == wanted(lambda k, v: len(found(k, v)))
    assert asked(f"(SELECT MAX(v) FROM r {where})") == wanted(
        lambda k, v: max(found(k, v), default=None)
    )
    assert asked(f"(SELECT v FROM r {where} ORDER BY v LIMIT 1)") == wanted(
        lambda k, v: min(found(k, v), default=None)
    )
    assert asked(f"EXISTS (SELECT 1 FROM r {where})") == wanted(lambda k, v: bool(found(k, v)))
    assert asked(f"v IN (SELECT v FROM r {where})") == wanted(
        lambda k, v: some(compared("=", v, their) for their in found(k, v))
    )
    assert asked(f"(SELECT MAX(r.v + l.v) FROM r {where})") == wanted(
        lambda k, v: max((their + v for their in found(k, v)), default=None)
    )
    lateral = f"LATERAL (SELECT COUNT(*) AS n FROM r {where}) AS t ON"
    for on, of in (("TRUE", len), ("t.n > 1", lambda rows: len(rows) if len(rows) > 1 else None)):
        sql = f"SELECT l.id, t.n FROM l LEFT JOIN {lateral} {on}"
        counts = wanted(lambda k, v, of=of: of(found(k, v)))
        assert sorted(column(session, sql)) == counts
    inner = f"EXISTS (SELECT 1 FROM r {where} AND r.id = x.id)"
    sql = f"SELECT id FROM l WHERE EXISTS (SELECT 1 FROM r AS x WHERE x.v IS NOT NULL AND {inner})"
    assert sorted(column(session, sql)) == [(i,) for i, (k, v) in enumerate(mine) if found(k, v)]


@searched(10)
@given(rows, rows, st.sampled_from(["batch", "streaming"]))
def test_a_null_of_some_rows_is_not_the_value_of_none(mine, theirs, mode):
    session = session_with(mine, theirs, mode)
    value = "CASE WHEN COUNT(*) = 0 THEN 5 ELSE MAX(v) END"
    sql = f"SELECT id, (SELECT {value} FROM r WHERE r.k = l.k) AS x FROM l"

    def wanted(k):
        values = [v for _, v in belong(k, theirs, correlated=True)]
        return max((v for v in values if v is not None), default=None) if values else 5

    assert sorted(column(session, sql)) == [(i, wanted(k)) for i, (k, _) in enumerate(mine)]


def test_subqueries_without_from_have_one_row_for_each_outer_row():
    session = session_with([(1, 1), (2, None)], [(1, 1)], "streaming")

    assert column(session, "SELECT l.k, x.n FROM l, LATERAL (SELECT l.v + 1 AS n) AS x") == [
        (1, 2),
        (2, None),
    ]
    padded = "LEFT JOIN LATERAL (SELECT l.k + 1 AS n) AS x ON l.k > 1"
    assert column(session, f"SELECT l.k, x.n FROM l {padded}") == [(1, None), (2, 3)]
    twice = "LATERAL (SELECT l.k + 1 AS n) AS x, LATERAL (SELECT x.n * 10 AS m) AS y"
    assert column(session, f"SELECT y.m FROM l, {twice}") == [(20,), (30,)]
    assert column(session, "SELECT k FROM l WHERE v IN (SELECT l.k)") == [(1,)]
    assert column(session, "SELECT COUNT(*) FROM l WHERE k NOT IN (SELECT l.v + 5)") == [(1,)]
