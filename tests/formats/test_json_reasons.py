"""The parser's limits, found in a record that it has refused."""

import pytest

from tidemark.formats.json_reasons import beyond_limits, why_unreadable


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ("[" * 1_001, "it is nested more than 1,000 deep"),
        ('{"a":' * 5_000, "it is nested more than 1,000 deep"),
        ('{"n": -' + "1" * 1_001 + "}", "a number has 1,002 characters; 1,000 is the limit"),
        ('{"' + "n" * 50_001 + '" :1}', "a name has 50,001 characters; 50,000 is the limit"),
        ('["' + "s" * 20_000_001 + '"]', "a string has 20,000,001 characters; 20,000,000 is the limit"),
    ],
    ids=("arrays", "objects", "number", "name", "string"),
)  # fmt: skip
def test_what_is_beyond_a_limit_is_named(record: str, reason: str) -> None:
    assert why_unreadable(record) == reason


@pytest.mark.parametrize(
    "record",
    [
        "[" * 1_000 + "]" * 1_000,
        "[" + "[]," * 5_000 + "[]]",
        '{"s": "' + "[" * 2_000 + '"}',
        '{"s": "\\"' + "[{" * 2_000 + "1" * 2_000 + '"}',
        '["' + "s" * 60_000 + '", ":"]',
    ],
    ids=("deep", "wide", "in a string", "after a quote", "not a name"),
)
def test_what_is_within_the_limits_is_not(record: str) -> None:
    assert beyond_limits(record) is None


def test_a_deep_record_of_the_wrong_shape_does_not_exhaust_the_stack() -> None:
    assert "type of its column" in why_unreadable('{"a":' * 999 + "1" + "}" * 999)
