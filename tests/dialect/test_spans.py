"""Every node knows the stretch of text it was read from."""

from __future__ import annotations

import pytest
from sqlglot import exp

from tests.dialect.samples import pairs, seeds
from tidemark.dialect import nodes as n
from tidemark.dialect import parse_expression, parse_query, parse_script, span_of
from tidemark.dialect.statements import CreateTable


def stretch(node: exp.Expression, text: str) -> str:
    span = span_of(node)
    assert span is not None
    return text[span.start : span.end]


@pytest.mark.parametrize(
    ("kind", "guilty"),
    [
        (exp.Case, "CASE  WHEN a THEN b END"),
        (exp.Cast, "CAST( a AS INT )"),
        (n.TypeNode, "INT"),
        (exp.Star, "*"),
        (exp.Subquery, "( SELECT 1 )"),
        (exp.Paren, "( x )"),
        (exp.Window, "SUM(a)  OVER (ORDER BY b)"),
        (exp.Mul, "c  *  d"),
        (exp.Neg, "- e"),
        (n.Plus, "+ l"),
        (exp.Not, "f NOT IN (1)"),
        (n.IntervalLiteral, "INTERVAL '1' DAY"),
        (exp.Exists, "EXISTS (SELECT 2)"),
        (exp.Bracket, "arr[ 1 ]"),
        (exp.TableAlias, "AS tt (q)"),
        (exp.Where, "WHERE g"),
        (exp.Group, "GROUP BY h"),
        (exp.Join, "LEFT JOIN u ON i"),
        (n.Hint, "OPTIONS('k'='v')"),
        (n.HintOption, "'k'='v'"),
    ],
)
def test_a_node_spans_its_text(kind, guilty):
    text = (
        "SELECT CASE  WHEN a THEN b END, CAST( a AS INT ), COUNT(*), ( SELECT 1 ), ( x ),"
        " SUM(a)  OVER (ORDER BY b), c  *  d, - e, f NOT IN (1), INTERVAL '1' DAY, EXISTS (SELECT 2),"
        " arr[ 1 ], + l FROM t /*+ OPTIONS('k'='v') */ AS tt (q) LEFT JOIN u ON i WHERE g GROUP BY h"
    )
    found = {stretch(node, text) for node in parse_query(text).find_all(kind)}
    assert guilty in found


@pytest.mark.parametrize("script", [*seeds().values(), *(before for before, _ in pairs().values())])
def test_every_node_of_a_script_has_a_span(script):
    for statement in parse_script(script).statements:
        query = getattr(statement, "query", None)
        for node in query.walk() if isinstance(query, exp.Expression) else ():
            span = span_of(node)
            assert isinstance(node, exp.Distinct) or span is not None, repr(node)


def test_children_lie_inside_their_parents():
    for text in seeds().values():
        for statement in parse_script(text).statements:
            query = getattr(statement, "query", None)
            for node in query.walk() if isinstance(query, exp.Expression) else ():
                inner, outer = span_of(node), node.parent and span_of(node.parent)
                if inner and outer:
                    assert outer.start <= inner.start and inner.end <= outer.end


def test_copies_keep_their_place_and_places_do_not_matter_to_equality():
    tree = parse_expression("  a +   b")
    assert span_of(tree.copy()) == span_of(tree)
    assert tree == parse_expression("a+b")


def test_a_node_that_was_not_parsed_has_the_span_of_its_parts():
    made = exp.Add(this=parse_expression("a"), expression=exp.Literal.number(1))
    assert span_of(exp.Null()) is None
    assert span_of(made) == span_of(made.this)


def test_statements_point_at_names_columns_and_options():
    text = "CREATE TABLE my.t ( a INT , b AS a + 1, WATERMARK FOR a AS a ) WITH ( 'k' = 'v' )"
    (table,) = parse_script(text).statements
    assert isinstance(table, CreateTable) and table.watermark is not None
    spans = [table.name.span, *(c.span for c in table.columns), table.options[0].span]
    spans.append(table.watermark.span)
    assert [text[s.start : s.end] for s in spans] == [
        "my.t",
        "a INT",
        "b AS a + 1",
        "'k' = 'v'",
        "WATERMARK FOR a AS a",
    ]
