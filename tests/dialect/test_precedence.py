"""How operators bind. Every line was confirmed on Flink 2.3 by the plans it makes."""

from __future__ import annotations

import pytest
from sqlglot import exp

from tidemark.dialect import parse_expression, to_sql


def without_parentheses(text: str) -> exp.Expression:
    tree = exp.Tuple(expressions=[parse_expression(text)])
    while (paren := tree.find(exp.Paren)) is not None:
        paren.replace(paren.this)
    return tree


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("a OR b AND c", "a OR (b AND c)"),
        ("NOT a = b", "NOT (a = b)"),
        ("NOT a IS NULL", "NOT (a IS NULL)"),
        ("NOT a IN (1, b)", "NOT (a IN (1, b))"),
        ("NOT s LIKE t AND c", "(NOT (s LIKE t)) AND c"),
        ("NOT NOT a > 1", "NOT (NOT (a > 1))"),
        ("a AND NOT b > 2 = c", "a AND (NOT ((b > 2) = c))"),
        ("a = NOT b > c", "a = (NOT (b > c))"),
        ("a = b IS NULL", "(a = b) IS NULL"),
        ("a IS NULL = b", "(a IS NULL) = b"),
        ("a IS NULL IS NOT NULL", "(a IS NULL) IS NOT NULL"),
        ("a AND b IS NULL", "a AND (b IS NULL)"),
        ("a + b IS NULL", "(a + b) IS NULL"),
        ("a || b IS JSON SCALAR", "(a || b) IS JSON SCALAR"),
        ("a < b = c", "(a < b) = c"),
        ("a = b <> c", "(a = b) <> c"),
        ("a > 1 IS DISTINCT FROM b > 2", "((a > 1) IS DISTINCT FROM b) > 2"),
        ("a IS NOT DISTINCT FROM b = c", "(a IS NOT DISTINCT FROM b) = c"),
        ("a BETWEEN 1 AND b = c", "(a BETWEEN 1 AND b) = c"),
        ("c = a BETWEEN 1 AND b", "c = (a BETWEEN 1 AND b)"),
        ("a + 1 BETWEEN 1 AND b AND c", "((a + 1) BETWEEN 1 AND b) AND c"),
        ("a BETWEEN b AND b > 3", "(a BETWEEN b AND b) > 3"),
        ("a NOT BETWEEN b AND 3 AND c", "(NOT (a BETWEEN b AND 3)) AND c"),
        ("a IN (1, b) = c", "(a IN (1, b)) = c"),
        ("c = a IN (1, b)", "c = (a IN (1, b))"),
        ("s LIKE 'a' || t", "s LIKE ('a' || t)"),
        ("s LIKE 'a' = c", "(s LIKE 'a') = c"),
        ("c = s LIKE t", "c = (s LIKE t)"),
        ("s LIKE t LIKE u", "s LIKE (t LIKE u)"),
        ("s LIKE t ESCAPE 'a' || 'b'", "s LIKE t ESCAPE ('a' || 'b')"),
        ("s LIKE t ESCAPE 'a' = c", "(s LIKE t ESCAPE 'a') = c"),
        ("a || b = c", "(a || b) = c"),
        ("a || b || c", "(a || b) || c"),
        ("a + b || c", "a + (b || c)"),
        ("a * b || c", "(a * b) || c"),
        ("a - b - c", "(a - b) - c"),
        ("a * b / c % d", "((a * b) / c) % d"),
        ("a + b * c", "a + (b * c)"),
        ("-a * b", "(-a) * b"),
        ("-a IS NULL", "(-a) IS NULL"),
        ("-a[1]", "-(a[1])"),
        ("a - -b", "a - (-b)"),
    ],
)
def test_operators_bind_as_in_flink(text, means):
    assert without_parentheses(text) == without_parentheses(means)


def test_a_long_chain_of_operators_is_a_tree_that_prints_and_compares():
    text = " OR ".join(f"a = {n}" for n in range(150))
    assert to_sql(parse_expression(text)) == text
