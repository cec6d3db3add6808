"""JSON functions of the standard: what their clauses make of types, and where they are refused."""

import pytest

from tests.plan.marked import refused, types_of


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("JSON_VALUE(b, '$.x')", "STRING"),
        ("JSON_VALUE(b, '$.x' RETURNING INT)", "INT"),
        ("JSON_VALUE(b, '$.x' RETURNING BOOLEAN NULL ON EMPTY ERROR ON ERROR)", "BOOLEAN"),
        ("JSON_VALUE(b, '$.x' RETURNING INT DEFAULT 1 ON EMPTY DEFAULT 2 ON ERROR)", "INT"),
        ("JSON_QUERY(b, '$.x')", "STRING"),
        ("JSON_QUERY(b, '$.x' RETURNING ARRAY<STRING> WITH WRAPPER)", "ARRAY<STRING>"),
        ("JSON_QUERY(b, '$.x' EMPTY OBJECT ON EMPTY)", "STRING"),
        ("JSON_EXISTS(b, '$.x')", "BOOLEAN"),
        ("JSON_EXISTS(b, '$.x' TRUE ON ERROR)", "BOOLEAN"),
        ("JSON_OBJECT('a' VALUE c, 'b' : b NULL ON NULL)", "STRING NOT NULL"),
        ("JSON_OBJECT(KEY 'a' VALUE JSON_OBJECT('x' VALUE 1))", "STRING NOT NULL"),
        ("JSON_OBJECT()", "STRING NOT NULL"),
        ("JSON_ARRAY(a, b ABSENT ON NULL)", "STRING NOT NULL"),
        ("b IS JSON OBJECT", "BOOLEAN NOT NULL"),
    ],
)
def test_clauses_decide_the_type(call, expected):
    assert types_of(call) == [expected]


@pytest.mark.parametrize(
    "marked",
    [
        "SELECT «JSON_VALUE(b, '$.x' RETURNING ARRAY<INT>)» FROM t",
        "SELECT «JSON_QUERY(b, '$.x' RETURNING ARRAY<INT>)» FROM t",
        "SELECT «JSON_VALUE(arr, '$.x')» FROM t",
        "SELECT «JSON_OBJECT(b VALUE 1)» FROM t",
        "SELECT «JSON_OBJECT(1 VALUE 1)» FROM t",
        "SELECT JSON_VALUE(«nope», '$.x') FROM t",
        "SELECT JSON_VALUE(b, '$.x' DEFAULT «nope» ON EMPTY) FROM t",
    ],
)
def test_senseless_call_is_refused_where_it_is(marked):
    refused(marked)


def test_json_aggregates_are_not_of_one_row():
    refused("SELECT a FROM t WHERE «JSON_ARRAYAGG(a)» = '[]'")
    refused("CREATE TABLE x (a INT, b AS «JSON_OBJECTAGG(KEY 'k' VALUE a)»)")
