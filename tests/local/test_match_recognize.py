"""What MATCH_RECOGNIZE has beyond Flink, by the SQL standard."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tidemark

# Prices of one key, a second apart, under the numbers from 1 on.
PRICES = [5, 7, 3, 2, 4, 6, 6, 1]


@pytest.fixture
def session(tmp_path: Path) -> tidemark.Session:
    rows = [
        {"id": n, "k": "a", "x": x, "ts": f"2024-01-01 00:00:{n:02}"}
        for n, x in enumerate(PRICES, 1)
    ]
    (tmp_path / "ev").write_text("\n".join(json.dumps(row) for row in rows))
    session = tidemark.connect(options={"tidemark.engine": "local"})
    session.sql(
        "CREATE TABLE ev (id INT, k STRING, x INT, ts TIMESTAMP(3), pt AS PROCTIME(), "
        "WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'format' = 'json', "
        f"'path' = '{tmp_path / 'ev'}')"
    )
    return session


UP_DOWN = "UP AS x > PREV(x), DOWN AS x < PREV(x)"


def matched(
    session: tidemark.Session,
    pattern: str,
    measures: str,
    rows: str = "ONE ROW PER MATCH",
    define: str = UP_DOWN,
    select: str = "*",
    more: str = "",
) -> list[tuple[object, ...]]:
    result = session.sql(
        f"SELECT {select} FROM ev MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES {measures} "
        f"{rows} AFTER MATCH SKIP PAST LAST ROW PATTERN ({pattern}) {more} DEFINE {define}) AS m"
    )
    return [tuple(row.values())[select == "*" :] for row in result.rows()]


def test_the_longest_match_is_preferred(session: tidemark.Session):
    found = matched(
        session, "(UP | DOWN)+", "FIRST(id) AS a, LAST(id) AS b, COUNT(UP.x) AS u, COUNT(*) AS n"
    )

    assert found == [(2, 6, 3, 5), (8, 8, 0, 1)]


def test_what_follows_an_anchor_begins_with_the_first_row(session: tidemark.Session):
    ends = "FIRST(id) AS a, LAST(id) AS b"

    assert matched(session, "^ A UP | DOWN DOWN", ends) == [(1, 2), (3, 4)]
    assert matched(session, "^ A{2,3}", ends) == [(1, 3)]
    assert matched(session, "^ DOWN", ends) == []
    assert matched(session, "A ^ UP", ends) == []


def test_what_comes_before_an_anchor_ends_with_the_last_row(session: tidemark.Session):
    ends = "FIRST(id) AS a, LAST(id) AS b"

    assert matched(session, "A DOWN $", ends) == [(7, 8)]
    assert matched(session, "UP UP | A{2} $", ends) == [(5, 6), (7, 8)]
    assert matched(session, "^ A+ $", ends) == [(1, 8)]
    assert matched(session, "UP (DOWN $ | DOWN)", ends) == [(2, 3)]
    assert matched(session, "UP $ | DOWN $ A", ends) == []


def test_a_row_knows_those_after_it(session: tidemark.Session):
    found = matched(
        session,
        "PEAK",
        "PEAK.id AS a, NEXT(PEAK.x) AS n, NEXT(PEAK.id, 3) AS m",
        define="PEAK AS x > PREV(x) AND x > NEXT(x)",
    )

    assert found == [(2, 3, 5)]
    assert matched(session, "A", "A.id AS a", define="A AS NEXT(x) IS NULL") == [(8,)]
    assert matched(session, "A B", "NEXT(FIRST(B.id)) AS a", define="B AS NEXT(x, 2) > x") == [
        (4,), (6,),
    ]  # fmt: skip


def test_a_group_is_repeated_as_a_whole(session: tidemark.Session):
    found = matched(
        session, "(DOWN UP){1,2} UP", "FIRST(id) AS a, CLASSIFIER() AS c, LAST(id) AS b"
    )

    assert found == [(4, "UP", 6)]


def test_the_first_alternative_is_preferred_even_if_it_ends_later(session: tidemark.Session):
    assert matched(session, "(DOWN DOWN UP UP | DOWN)", "FIRST(id) AS a, LAST(id) AS b") == [
        (3, 6), (8, 8),
    ]  # fmt: skip
    assert matched(session, "(DOWN | DOWN DOWN UP UP)", "FIRST(id) AS a, LAST(id) AS b") == [
        (3, 3), (4, 4), (8, 8),
    ]  # fmt: skip


def test_all_permutations_match(session: tidemark.Session):
    found = matched(session, "PERMUTE(UP, DOWN)", "UP.id AS u, DOWN.id AS d, MATCH_NUMBER() AS n")

    assert found == [(2, 3, 1), (5, 4, 2)]


def test_all_rows_have_running_and_final_measures(session: tidemark.Session):
    found = matched(
        session,
        "DOWN+ UP",
        "MATCH_NUMBER() AS n, CLASSIFIER() AS c, COUNT(DOWN.x) AS r, FINAL COUNT(DOWN.x) AS f, "
        "FINAL LAST(UP.x) - LAST(x) AS left_, RUNNING SUM(x) AS s",
        "ALL ROWS PER MATCH",
        select="id, n, c, r, f, left_, s",
    )

    assert found == [
        (3, 1, "DOWN", 1, 2, 1, 3),
        (4, 1, "DOWN", 2, 2, 2, 5),
        (5, 1, "UP", 2, 2, 0, 9),
    ]


def test_empty_matches_have_numbers_and_the_columns_of_their_row(session: tidemark.Session):
    measures = "MATCH_NUMBER() AS n, CLASSIFIER() AS c, COUNT(UP.x) AS ups"
    select = "id, n, c, ups"

    found = matched(
        session, "UP*", measures, "ALL ROWS PER MATCH SHOW EMPTY MATCHES", select=select
    )

    assert found == [
        (1, 1, None, 0), (2, 2, "UP", 1), (3, 3, None, 0), (4, 4, None, 0), (5, 5, "UP", 1),
        (6, 5, "UP", 2), (7, 6, None, 0), (8, 7, None, 0),
    ]  # fmt: skip
    every = matched(session, "(UP UP)*", measures, "ALL ROWS PER MATCH", select=select)
    assert [row[:2] for row in every] == [
        (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 5), (7, 6), (8, 7),
    ]  # fmt: skip
    assert matched(session, "(UP UP)*", "FIRST(id) AS a, COUNT(*) AS n") == [
        *[(None, 0)] * 4, (5, 2), *[(None, 0)] * 2,
    ]  # fmt: skip


def test_rows_of_no_match_are_shown_without_measures(session: tidemark.Session):
    found = matched(
        session,
        "UP DOWN",
        "MATCH_NUMBER() AS n, CLASSIFIER() AS c, COALESCE(UP.x, 0) AS up, FINAL COUNT(*) AS rows_",
        "ALL ROWS PER MATCH WITH UNMATCHED ROWS",
        select="id, x, n, c, up, rows_",
    )

    nothing = (None, None, None, None)
    assert found == [
        (1, 5, *nothing), (2, 7, 1, "UP", 7, 2), (3, 3, 1, "DOWN", 7, 2), (4, 2, *nothing),
        (5, 4, *nothing), (6, 6, *nothing), (7, 6, *nothing), (8, 1, *nothing),
    ]  # fmt: skip


def test_all_rows_have_the_columns_of_the_input(session: tidemark.Session):
    result = session.sql(
        "SELECT * FROM ev MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES MATCH_ROWTIME() AS "
        f"rt ALL ROWS PER MATCH PATTERN (UP (UP | DOWN)) DEFINE {UP_DOWN}) AS m"
    )

    assert [column.name for column in result.columns] == ["k", "ts", "rt", "id", "x", "pt"]
    assert [row["id"] for row in result.rows()] == [2, 3, 5, 6]


def test_excluded_rows_are_not_emitted(session: tidemark.Session):
    found = matched(
        session,
        "DOWN {- DOWN UP -} UP",
        "COUNT(*) AS n",
        "ALL ROWS PER MATCH",
        select="id, n",
    )

    assert found == [(3, 1), (6, 4)]


def test_empty_matches_are_omitted(session: tidemark.Session):
    rows = "ALL ROWS PER MATCH OMIT EMPTY MATCHES"

    assert matched(session, "(DOWN | UP UP)*", "COUNT(*) AS n", rows, select="id, n") == [
        (3, 1), (4, 2), (5, 3), (6, 4), (8, 1),
    ]  # fmt: skip


def test_a_subset_has_the_rows_of_its_variables(session: tidemark.Session):
    found = matched(
        session,
        "A DOWN UP{2}",
        "FIRST(U.id) AS f, LAST(U.id, 1) AS l, SUM(U.x) AS s, CLASSIFIER(U) AS c, "
        "PREV(FIRST(U.id), 2) AS p, PREV(A.id, 9) AS nothing",
        more="SUBSET U = (A, UP)",
    )

    assert found == [(3, 5, 13, "UP", 1, None)]


def test_matches_that_nothing_can_precede_are_found_within_a_time(session: tidemark.Session):
    found = matched(
        session,
        "(UP | DOWN)+",
        "FIRST(id) AS a, LAST(id) AS b, MATCH_ROWTIME() AS t",
        more="WITHIN INTERVAL '3' SECOND",
    )

    assert [(a, b, str(t)) for a, b, t in found] == [
        (2, 4, "2024-01-01 00:00:05"),
        (5, 6, "2024-01-01 00:00:07"),
        (8, 8, "2024-01-01 00:00:11"),
    ]
