"""MATCH_RECOGNIZE: its columns, what only the row decides, and what is refused of it."""

from __future__ import annotations

import pytest

from tests.plan.marked import edge, plan, refused, root, schema, world
from tidemark.errors import NotSupported
from tidemark.plan.nodes import Match, MatchTest, RowTest, walk

DDL = """
CREATE TABLE s (k STRING, i INT NOT NULL, x INT, ts TIMESTAMP(3), pt AS PROCTIME(),
  WATERMARK FOR ts AS ts) WITH ('connector' = 'fake');
CREATE TABLE z (k STRING, x INT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'fake');
"""


@pytest.fixture
def tables():
    return world(DDL)


def matching(
    pattern: str = "A B+? C",
    define: str = "A AS A.x > 1",
    measures: str = "A.x AS ax",
    keys: str = "PARTITION BY k ",
    order: str = "ORDER BY ts ",
    more: str = "",
    over: str = "s",
    within: str = "",
) -> str:
    return (
        f"SELECT * FROM {over} MATCH_RECOGNIZE ({keys}{order}MEASURES {measures} {more}"
        f"PATTERN ({pattern}) {within}DEFINE {define})"
    )


def node(sql: str, tables) -> Match:
    [found] = [part for part in walk(root(sql, tables)) if isinstance(part, Match)]
    return found


def test_the_result_has_the_keys_and_the_measures(tables):
    measures = "A.x AS ax, COUNT(B.x) AS n, LAST(B.i) + C.i AS s, MATCH_ROWTIME() AS rt"
    assert schema(matching(measures=measures), tables) == (
        "k STRING, ax INT, n BIGINT NOT NULL, s INT, rt TIMESTAMP(3) NOT NULL *event*"
    )


def test_the_time_of_a_match_may_be_of_the_type_of_its_rows(tables):
    sql = matching("A B", measures="MATCH_ROWTIME(ts) AS rt", over="z")

    assert schema(sql, tables) == "k STRING, rt TIMESTAMP_LTZ(3) *event*"


def test_a_match_in_processing_time_has_its_time(tables):
    found = edge(matching("A B", measures="MATCH_PROCTIME() AS pt", order="ORDER BY pt "), tables)

    assert found.columns[-1].time == "processing"
    assert node(matching(order="ORDER BY pt "), tables).processing_time


def test_only_needed_columns_reach_the_operator(tables):
    assert node(matching(measures="LAST(B.i) AS i"), tables).input.edge.names == (
        "k", "ts", "$2", "i",
    )  # fmt: skip


def test_a_condition_of_the_row_alone_is_a_column_before(tables):
    define = "A AS A.x > 1 AND i < 3, B AS B.x > LAST(A.x), C AS LAST(C.x, 1) IS NULL"
    tests = [variable.test for variable in node(matching(define=define), tables).variables]

    assert [type(test) for test in tests] == [RowTest, MatchTest, MatchTest]


def test_explain_describes_the_pattern(tables):
    found = node(
        matching(
            "A B* C{2} D{1,3}? E", more="AFTER MATCH SKIP TO LAST C ", order="ORDER BY ts, x "
        ),
        tables,
    )

    said = found.description
    assert "pattern=[A B* C{2} D{1,3}? E]" in said.details
    assert "after match=[skip to last C]" in said.details
    assert "order=[ts, x]" in said.details
    assert "the rows of partial matches" in said.keeps


def test_a_pattern_that_begins_with_the_first_row_keeps_the_last_one(tables):
    found = node(matching("^ A (B | ^ C)"), tables)

    assert "pattern=[^ A (B | ^ C)]" in found.description.details
    assert "the last row of each key" in found.description.keeps


def test_an_unbounded_pattern_without_within_is_warned_of(tables):
    def warnings(sql: str) -> tuple[str, ...]:
        return tuple(plan(sql, tables).warnings)

    assert any("without WITHIN" in text for text in warnings(matching("A B+ C")))
    assert not warnings(matching("A B{1,3} C"))
    assert not warnings(matching("A B+ C", within="WITHIN INTERVAL '1' HOUR "))


def test_a_definition_that_is_not_in_the_pattern_is_warned_of(tables):
    [text] = plan(matching("A B", "A AS A.x > 1, C AS C.x > 1"), tables).warnings

    assert text == "pattern variable `C` is not in PATTERN, so its definition has no effect"


@pytest.mark.parametrize(
    "marked",
    [
        matching("A «B+»"),
        matching("A «B{1,3}»"),
        matching("«A??» B"),
        matching("A B «A»"),
        matching("«A*»"),
        matching("A «B{0}» C"),
        matching(define="«A AS A.x > 1»", order="").replace("«", "").replace("»", "")
        .replace("s MATCH_RECOGNIZE", "«s MATCH_RECOGNIZE") + "»",
        matching(order="ORDER BY «x» "),
        matching(order="ORDER BY «ts DESC» "),
        matching(keys="PARTITION BY «UPPER(k)» "),
        matching(define="A AS «A.i + 1»"),
        matching("A B", "A AS A.x > 1, «A AS A.x > 2»"),
        matching(define="A AS «D.x» > 1"),
        matching(measures="«B.nothing» AS n"),
        matching(measures="«LAST(A.x + B.x)» AS n"),
        matching(measures="«SUM(A.x + B.x)» AS n"),
        matching(measures="LAST(«FIRST(A.x)») AS n"),
        matching(measures="LAST(«SUM(A.x)») AS n"),
        matching(measures="LAST(A.x, «A.i») AS n"),
        matching(measures="«COUNT(DISTINCT A.x)» AS n"),
        matching(define="A AS «MATCH_ROWTIME()» IS NULL"),
        matching(measures="«MATCH_ROWTIME()» AS r", order="ORDER BY pt "),
        matching(more="«AFTER MATCH SKIP TO LAST D» "),
        matching(within="WITHIN «INTERVAL '1' MONTH» "),
        matching(over="«(SELECT k, MAX(ts) AS ts, MAX(x) AS x FROM s GROUP BY k)»"),
    ],
)  # fmt: skip
def test_what_flink_refuses_too(marked, tables):
    refused(marked, at=tables)


@pytest.mark.parametrize(
    "marked",
    [
        matching("A «{- B -}» C"),
        matching("A (B | C) | «$»", more="ALL ROWS PER MATCH OMIT EMPTY MATCHES "),
        matching("A | «^»", more="ALL ROWS PER MATCH OMIT EMPTY MATCHES "),
        matching("A «(B* C?)*»"),
        matching("«(A | B){1,501}»"),
        matching("«PERMUTE(A, B, C, D, E, F, G)»"),
        matching(measures="LAST(«PREV(A.x)») AS p"),
        matching(measures="FIRST(«NEXT(A.x)») AS p"),
        matching(measures="NEXT(«CLASSIFIER()») AS p"),
        matching(measures="PREV(«CLASSIFIER()») AS p"),
        matching(measures="COUNT(«CLASSIFIER()») AS p"),
    ],
)
def test_what_is_refused_by_name(marked, tables):
    refused(marked, NotSupported, at=tables)


@pytest.mark.parametrize(
    "marked",
    [
        matching("«A* B?»"),
        matching("A «{- B -}» C", more="ALL ROWS PER MATCH WITH UNMATCHED ROWS "),
        matching(define="A AS «FINAL LAST(A.x)» > 1"),
        matching(define="A AS «MATCH_NUMBER()» > 1"),
        matching(measures="«FINAL A.x» AS p").replace("FINAL A.x", "FINAL ABS(A.x)"),
        matching(measures="CLASSIFIER(«D») AS c"),
        matching(within="SUBSET U = (A, «D») "),
        matching(within="SUBSET «B = (A, C)» "),
        matching("(A | B)+", more="«AFTER MATCH SKIP TO LAST D» "),
    ],
)
def test_what_the_standard_does_not_allow(marked, tables):
    refused(marked, at=tables)


def test_explain_says_that_rows_wait_for_those_after_them(tables):
    said = node(matching("A (B | C $)", "A AS A.x > NEXT(A.x, 2)"), tables).description

    assert "pattern=[A (B | C $)]" in said.details
    assert said.keeps.startswith(
        "rows until the watermark reaches them; the last 2 rows of each key until the next one "
        "comes; the rows of partial matches"
    )
    assert node(matching("A (B | C)", "A AS A.x > PREV(A.x)"), tables)._ahead == 0


def test_all_rows_have_the_keys_the_order_the_measures_and_the_rest(tables):
    more = "ALL ROWS PER MATCH "
    assert schema(matching("(A | B)+", more=more, measures="MATCH_NUMBER() AS n"), tables) == (
        "k STRING, ts TIMESTAMP(3), n BIGINT NOT NULL, i INT NOT NULL, x INT, "
        "pt TIMESTAMP_LTZ(3) NOT NULL *processing*"
    )


def test_measures_may_be_null_where_rows_of_no_match_are_shown(tables):
    more = "ALL ROWS PER MATCH WITH UNMATCHED ROWS "
    sql = matching("A B", more=more, measures="MATCH_NUMBER() AS n, MATCH_ROWTIME() AS t")

    assert schema(sql, tables).startswith(
        "k STRING, ts TIMESTAMP(3), n BIGINT, t TIMESTAMP(3), i INT NOT NULL, x INT"
    )
    assert node(sql, tables).shape is not None
    assert "rows=[all, unmatched rows]" in node(sql, tables).description.details


def test_a_pattern_of_groups_may_match_nothing(tables):
    found = node(matching("(A | B)*"), tables)

    assert found.shows_empty
    assert "rows=[one, empty matches]" in found.description.details


def test_explain_describes_alternatives_and_what_is_kept_for_them(tables):
    more, measures = "ALL ROWS PER MATCH ", "MATCH_NUMBER() AS n, FINAL LAST(U.x) AS l"
    found = node(
        matching(
            "A (B | {- C -} A)+? (B C){2}",
            "B AS B.x > PREV(B.x, 2)",
            measures,
            more=more,
            within="WITHIN INTERVAL '1' HOUR SUBSET U = (A, B) ",
        ),
        tables,
    )

    said = found.description
    assert "pattern=[A (B | {- C -} A)+? (B C){2} WITHIN 1 h]" in said.details
    assert "rows=[all]" in said.details
    assert any("FINAL LAST(U.x)" in detail for detail in said.details)
    assert said.keeps.endswith("the last 2 rows of each key; the number of matches of each key")


def test_the_state_of_other_patterns_means_what_it_has_always_meant(tables):
    meaning = node(matching("A B+? C", measures="LAST(x) AS l"), tables).state.meaning

    assert [*meaning] == [
        "keys", "time", "order", "pattern", "columns of conditions", "after match",
        "within milliseconds", "held back in milliseconds",
    ]  # fmt: skip
    assert meaning["pattern"][0]["test"] == {"is": "RowTest", "column": 2}
    more = node(matching("(A | B)+", measures="MATCH_NUMBER() AS n"), tables).state.meaning
    assert [*more][-2:] == ["alternatives and groups", "numbers matches"]


def test_an_unbounded_group_without_within_is_warned_of(tables):
    assert any("without WITHIN" in text for text in plan(matching("(A | B)+"), tables).warnings)
    assert not plan(matching("(A | B){2,3}"), tables).warnings
