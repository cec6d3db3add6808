"""What is known of a Java regular expression before it runs, and how it is then written."""

import pytest

from tidemark import functions
from tidemark import types as t
from tidemark.functions import java_regex
from tidemark.functions.registry import UNKNOWN, Argument, SparkCall


def written(name: str, *values: object) -> str:
    """The Spark text of a call; a value is a literal, a name in angle brackets a column."""
    is_column = [isinstance(v, str) and v.startswith("<") for v in values]
    arguments = tuple(
        Argument(t.Int() if isinstance(v, int) else t.STRING, UNKNOWN if column else v)
        for v, column in zip(values, is_column, strict=True)
    )
    texts = tuple(
        v.strip("<>") if column and isinstance(v, str) else repr(v)
        for v, column in zip(values, is_column, strict=True)
    )
    function = functions.BUILT_IN[name]
    return function.write(SparkCall(texts, arguments, function.resolve(arguments).result, "UTC"))


@pytest.mark.parametrize(
    ("pattern", "always"),
    [
        ("abc", ()),
        ("(a)", (True,)),
        ("(a)(b)?", (True, False)),
        ("(a)|(b)", (False, False)),
        ("((a)|(b))(c)", (True, False, False, True)),
        ("(?:(a)(b))*", (False, False)),
        ("(?:(a)(b))+", (True, True)),
        ("(a){0,2}(b){1,2}", (False, True)),
        ("(?<year>[0-9]+)-(?<month>[0-9]+)", (True, True)),
        ("(?!(a))b", (False,)),
        ("(?=(a))a", (True,)),
        (r"\(a\)[(](b)", (True,)),
        ("^(.*?)([a-z]+)$", (True, True)),
    ],
)
def test_groups_are_classified_by_whether_every_match_has_them(pattern, always):
    known = java_regex.read(pattern)

    assert known is not None and known.always_matched == always


@pytest.mark.parametrize(
    "pattern",
    [
        *("(", ")", "a)", "*a", "a**", "x{2", "{", "[", "[]", "[z-a]", "[[]", "[a&&b]", "a]", "a}"),
        *("\\", r"\1", r"\p{L}", r"\x41", r"\Qa\E", "(?i)a", "(?P<a>b)", "(?<1>a)", "^*"),
    ],
)
def test_what_only_java_can_judge_is_left_to_java(pattern):
    assert java_regex.read(pattern) is None


def test_a_sound_pattern_costs_nothing_and_a_doubtful_one_is_compiled_first():
    assert java_regex.sound("p", "a+") == "p"
    assert "try_reflect" in java_regex.sound("p", "a**")
    assert "try_reflect" in java_regex.sound("p")


def test_a_group_that_may_be_absent_is_null_when_it_is_empty():
    assert written("REGEXP_EXTRACT", "<s>", "(a)(b)?", 2).startswith("nullif(")
    assert "nullif" not in written("REGEXP_EXTRACT", "<s>", "(a)(b)?", 1)


@pytest.mark.parametrize("group", [-1, 2])
def test_a_group_that_is_not_there_is_null(group):
    assert written("REGEXP_EXTRACT", "<s>", "(a)", group) == "CAST(NULL AS STRING)"
    assert written("REGEXP_EXTRACT_ALL", "<s>", "(a)", group) == "CAST(NULL AS ARRAY<STRING>)"


def test_regexp_extract_all_returns_the_whole_match_only_if_requested():
    assert written("REGEXP_EXTRACT_ALL", "<s>", "a") == "CAST(NULL AS ARRAY<STRING>)"
    assert written("REGEXP_EXTRACT_ALL", "<s>", "a", 0) == "regexp_extract_all(s, 'a', 0)"


def test_a_replacement_stands_for_itself():
    replacement = java_regex.quoted_replacement("r", "$1\\")

    assert bytes.fromhex(replacement.split("'")[1]).decode() == r"\$1\\"
