"""Java's regular expressions as those of Polars, where both find the same."""

import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.columns.computing import values_of
from tests.searching import searched
from tidemark.columns import NotInColumns
from tidemark.columns.regexps import as_of_polars
from tidemark.functions import java_regex


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("REGEXP_EXTRACT('a=1&id=x7&b', '(&|^)id=([^&]*)', 2)", "x7"),
        ("REGEXP_EXTRACT('a=1&xid=x7', '(&|^)id=([^&]*)', 2)", None),
        ("REGEXP_EXTRACT(s, 'b|bc')", "b"),
        ("REGEXP_EXTRACT(s, '(b)', 2)", None),
        ("REGEXP_EXTRACT(s, '(x)|b', 1)", None),
        ("REGEXP_EXTRACT(s, '(x*)b', 1)", ""),
        ("REGEXP_EXTRACT(s, CAST(NULL AS STRING))", None),
        ("REGEXP_EXTRACT(CAST(NULL AS STRING), 'a')", None),
        ("REGEXP('١', '\\d')", False),  # a digit of Arabic
        ("REGEXP('a\u2028b', 'a.b')", False),
        ("REGEXP(s, '')", False),
        ("REGEXP(s, '^[a-c]+$')", True),
        ("REGEXP(s, 'b$')", False),
        ("REGEXP_EXTRACT(s, '^(a)|x$', 1)", "a"),
        ("REGEXP(CAST(NULL AS STRING), '')", None),
        ("REGEXP(s, CAST(NULL AS STRING))", None),
        ("REGEXP_REPLACE('a.b.c', '[.]', '$0')", "a$0b$0c"),
    ],
)
def test_matches_are_those_of_java(expression, expected):
    assert values_of(expression, {"s STRING": ["abc"]}) == [expected]


@pytest.mark.parametrize(
    "pattern",
    [
        *(
            "a$b",
            "(a$)",
            "[^a]$",
            r"\bword",
            "(a*)*",
            "((a)|b)+",
            "(?:a|)+",
            "(a)?+",
            "a++",
            "a*+",
            "(?=a)",
            "(?<n>a)",
            r"\z",
            r"\h",
        ),
        *(r"[\D]", r"[\S]", "(?:a{1000}b){1000}"),
    ],
)
def test_what_differs_is_refused(pattern):
    assert java_regex.read(pattern) is not None
    assert as_of_polars(pattern) is None
    with pytest.raises(NotInColumns):
        values_of(f"REGEXP(s, '{pattern}')", {"s STRING": ["a"]})


@pytest.mark.parametrize(
    "expression",
    ["REGEXP(s, s)", "REGEXP_REPLACE(s, 'a', s)", "REGEXP_REPLACE(s, 'a*', 'b')", "REGEXP(s, '(')"],
)
def test_what_is_not_known_in_advance_is_refused(expression):
    with pytest.raises(NotInColumns):
        values_of(expression, {"s STRING": ["a"]})


_PARTS = st.sampled_from(
    [
        *(
            "a",
            "b",
            "é",
            ".",
            "^",
            "|",
            "-",
            "&",
            r"\.",
            r"\d",
            r"\W",
            r"\s",
            r"\t",
            "[ab]",
            "[^a&-]",
        ),
        *(
            "[a-b0-9]",
            r"[\w.]",
            "(a|b)",
            "(?:a|)",
            "(?:a|bb)",
            "(é)",
            "*",
            "+",
            "?",
            "*?",
            "{1,2}",
            "{2}?",
            "(",
            ")",
        ),
    ]
)


@given(st.lists(_PARTS, max_size=6).map("".join), st.text("ab-é.&1\t\n ", max_size=8))
@searched(300)
def test_a_pattern_finds_what_one_of_python_does(pattern, text):
    if java_regex.read(pattern) is None or (translated := as_of_polars(pattern)) is None:
        return
    found = re.search(pattern, text, re.ASCII)
    groups = (
        [None] * (re.compile(pattern).groups + 1) if found is None else [found[0], *found.groups()]
    )

    series = pl.Series([text])
    assert [series.str.extract(translated, place).item() for place in range(len(groups))] == groups


@given(st.lists(_PARTS, max_size=6).map("".join), st.text("ab-é.&1\t\n ", max_size=8))
@searched(300)
def test_a_pattern_that_ends_a_string_finds_what_one_of_python_does(pattern, text):
    pattern += "$"
    if java_regex.read(pattern) is None:
        return
    if (translated := as_of_polars(pattern, whole=False)) is None:
        return
    found = re.search(pattern, text, re.ASCII)
    groups = [None] * re.compile(pattern).groups if found is None else [*found.groups()]

    series = pl.Series([text])
    assert series.str.contains(translated).item() == (found is not None)
    assert [series.str.extract(translated, 1 + at).item() for at in range(len(groups))] == groups


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *[("a", True), ("a\n", True), ("a\r", True), ("a\r\n", True), ("a\x85", True)],
        *[("a\u2028", True), ("a\n\n", False), ("a\n\r", False), ("a\x0b", False), ("ab", False)],
    ],
)
def test_a_string_ends_in_front_of_the_end_of_its_last_line_too(value, expected):
    assert values_of("REGEXP(s, 'a$')", {"s STRING": [value]}) == [expected]
