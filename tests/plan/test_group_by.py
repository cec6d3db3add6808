"""GROUP BY without a window, DISTINCT and UNION, as plans."""

from __future__ import annotations

import pytest

from tests.plan.marked import plan, refused, root, schema, world
from tidemark.catalog.tables import Changelog
from tidemark.physical.explain import explain
from tidemark.plan.nodes import GroupAggregate, Node, UnionAll, walk


def groups_of(node: Node) -> list[GroupAggregate]:
    return [part for part in walk(node) if isinstance(part, GroupAggregate)]


def test_a_group_has_its_keys_and_results_and_changes_with_every_row():
    bound = root("SELECT b, SUM(a) + 1 AS s FROM t GROUP BY b HAVING COUNT(*) > 1")
    [group] = groups_of(bound)

    assert schema("SELECT b, SUM(a) + 1 AS s FROM t GROUP BY b") == "b STRING, s INT"
    assert [call.function for call in group.calls] == ["COUNT", "SUM"]
    assert (bound.edge.changelog, group.edge.keys) == (Changelog.RETRACT, (("b",),))


@pytest.mark.parametrize(
    "call",
    [
        "JSON_VALUE(b, '$.x')",
        "JSON_VALUE(b, '$.x' RETURNING INT DEFAULT a ON EMPTY)",
        "JSON_QUERY(b, '$.x' WITH WRAPPER)",
        "JSON_EXISTS(b, '$.x')",
        "JSON_OBJECT('x' VALUE JSON_ARRAY(a), 'y' VALUE JSON(b) ABSENT ON NULL)",
    ],
)
def test_a_key_that_a_json_function_makes_is_recognized(call):
    bound = root(
        f"SELECT {call} AS k, COUNT(*) AS n FROM t GROUP BY {call} ORDER BY {call} LIMIT 1"
    )

    [group] = groups_of(bound)
    assert len(group.edge.keys[0]) == 1

    other = "JSON_VALUE(«b», '$.x' ERROR ON ERROR)"
    error = refused(f"SELECT {other} FROM t GROUP BY {call}")
    assert error.message == "`b` must be in GROUP BY or in an aggregate function"


@pytest.mark.parametrize(
    ("call", "of_a_group", "of_all"),
    [
        ("SUM(c)", "BIGINT NOT NULL", "BIGINT"),
        ("COUNT(c)", "BIGINT NOT NULL", "BIGINT NOT NULL"),
        ("FIRST_VALUE(c)", "BIGINT NOT NULL", "BIGINT"),
    ],
)
def test_an_aggregate_without_keys_may_be_over_no_rows_and_null(call, of_a_group, of_all):
    assert schema(f"SELECT {call} AS r FROM t GROUP BY b") == f"r {of_a_group}"
    assert schema(f"SELECT {call} AS r FROM t") == f"r {of_all}"


def test_the_newest_time_of_a_group_makes_it_a_version():
    assert (
        schema("SELECT b, MAX(ts) AS ts FROM t GROUP BY b") == "b STRING, ts TIMESTAMP(3) *event*"
    )


def test_rows_without_repetitions_are_groups_of_their_own():
    bound = root("SELECT DISTINCT a, b FROM t")
    [group] = groups_of(bound)

    assert (group.keys, bound.edge.changelog) == ((0, 1), Changelog.APPEND)
    assert schema("SELECT DISTINCT a, b FROM t") == "a INT, b STRING"


@pytest.mark.parametrize(
    ("sql", "branches", "groups"),
    [
        ("SELECT a FROM u UNION SELECT a FROM u UNION SELECT a FROM u", [3], 1),
        ("SELECT a FROM u UNION ALL SELECT a FROM u UNION SELECT a FROM u", [3], 1),
        ("SELECT a FROM u UNION SELECT a FROM u UNION ALL SELECT a FROM u", [2, 2], 1),
    ],
)
def test_a_union_removes_what_was_before_it(sql, branches, groups):
    bound = root(sql)

    assert [len(p.inputs) for p in walk(bound) if isinstance(p, UnionAll)] == branches
    assert len(groups_of(bound)) == groups


def test_explain_says_that_groups_never_end():
    text = explain(plan("SELECT b, COUNT(DISTINCT a) FROM t GROUP BY b"))

    assert "GroupAggregate(key=[b], select=[COUNT(DISTINCT a)])" in text
    assert "group-aggregate-1: the aggregates of each key, until it is idle for" in text


@pytest.mark.parametrize(
    "marked",
    [
        "SELECT «a», COUNT(*) FROM t",
        "SELECT b FROM t HAVING COUNT(*) > 1",
        "SELECT «a» FROM t GROUP BY b",
        "SELECT b, COUNT(*) FROM t GROUP BY b «EMIT WITHOUT DELAY»",
    ],
)
def test_invalid_sql_is_refused(marked):
    refused(marked if "«" in marked else marked.replace("SELECT b", "SELECT «b»", 1), at=world())


@pytest.mark.parametrize(
    ("call", "percentages", "type_"),
    [
        ("PERCENTILE(a, 0.5)", (0.5,), "DOUBLE"),
        ("PERCENTILE(DISTINCT a, 1)", (1.0,), "DOUBLE"),
        ("PERCENTILE(a, ARRAY[0, 0.25])", (0.0, 0.25), "ARRAY<DOUBLE>"),
        ("PERCENTILE(a, 0.5, c)", (0.5,), "DOUBLE"),
        ("PERCENTILE(a, CAST(0.5 AS DOUBLE))", (0.5,), "DOUBLE"),
    ],
)
def test_percentages_are_literals(call, percentages, type_):
    sql = f"SELECT {call} AS p FROM t GROUP BY b"
    [group] = groups_of(root(sql))

    assert group.calls[0].percentages == percentages
    assert schema(sql) == f"p {type_}"


@pytest.mark.parametrize(
    "call",
    [
        *("PERCENTILE(a, «1.5»)", "PERCENTILE(a, «-0.5»)", "PERCENTILE(a, «CAST(NULL AS DOUBLE)»)"),
        *("PERCENTILE(a, «a»)", "PERCENTILE(a, «ARRAY[0.5, 2]»)", "PERCENTILE(a, «'0.5'»)"),
        "«PERCENTILE(b, 0.5)»",
    ],
)
def test_other_percentages_are_refused_as_in_flink(call):
    refused(f"SELECT {call} FROM t GROUP BY b")


@pytest.mark.parametrize(
    ("call", "instead"),
    [
        ("COUNT(a, b)", "COUNT(*) FILTER (WHERE a IS NOT NULL AND b IS NOT NULL)"),
        (
            "COUNT(DISTINCT a, b)",
            "COUNT(DISTINCT ROW(a, b)) FILTER (WHERE a IS NOT NULL AND b IS NOT NULL)",
        ),
    ],
)
def test_several_values_are_not_counted_and_the_hint_does_it(call, instead):
    refusal = refused(f"SELECT b, «{call}» FROM t GROUP BY b")

    assert f"hint: write {instead}" in str(refusal)
    assert schema(f"SELECT {instead} AS n FROM t") == "n BIGINT NOT NULL"
