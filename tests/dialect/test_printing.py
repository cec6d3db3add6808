"""What is read prints back: before/after pairs, the seeds, and every conformance script."""

from __future__ import annotations

import pytest

from tests.dialect.samples import pairs, round_trip, seeds
from tidemark.dialect import parse_query, parse_script, parse_type, to_sql

PAIRS = pairs()


@pytest.mark.parametrize("title", PAIRS)
def test_text_becomes_its_canonical_form(title):
    before, after = PAIRS[title]
    assert to_sql(parse_script(before)).removesuffix(";") == after


@pytest.mark.parametrize("title", PAIRS)
def test_both_statements_of_a_pair_mean_the_same_and_survive_printing(title):
    before, after = PAIRS[title]
    assert round_trip(before).statements == round_trip(after).statements


@pytest.mark.parametrize("name", seeds())
def test_every_statement_of_the_seeds_is_read_and_prints_back(name):
    assert round_trip(seeds()[name]).statements


def test_line_breaks_inside_strings_are_not_indented():
    query = parse_query("select * from (select * from (select 'a\n  b' as x))")
    assert "'a\n  b' AS x" in to_sql(query)


def test_a_scalar_expression_prints_on_one_line_even_around_a_query():
    query = parse_query("select a in (select b from t where c = 1) from u")
    assert to_sql(query.expressions[0]) == "a IN (SELECT b FROM t WHERE c = 1)"


def test_names_of_called_functions_that_begin_something_else_keep_their_quotes():
    script = round_trip("select `cast`(a), `from`(a), `my fn`(a), count(a), d.`select`(a)")
    assert to_sql(script).startswith(
        "SELECT `cast`(a), `from`(a), `my fn`(a), count(a), d.`select`(a)"
    )


def test_types_print_as_flink_writes_them():
    text = "row<a int not null 'it''s', b array<map<string, decimal(3, 1)>>> not null"
    printed = to_sql(parse_type(text))
    assert (
        printed == "ROW<`a` INT NOT NULL 'it''s', `b` ARRAY<MAP<STRING, DECIMAL(3, 1)>>> NOT NULL"
    )
    assert parse_type(printed) == parse_type(text)
