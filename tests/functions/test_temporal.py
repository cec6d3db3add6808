"""Temporal functions: units, patterns and zones as they are planned; no Spark needed."""

import pytest

from tidemark import functions
from tidemark import types as t
from tidemark.functions.date_patterns import format_clock, is_numeric, pieces, read_clock
from tidemark.functions.moments import never_shifts
from tidemark.functions.registry import UNKNOWN, Argument, SignatureMismatch
from tidemark.functions.spark_text import string


def unit(name):
    return t.KeywordType(nullable=False), name


def result(name, *arguments):
    given = [
        Argument(*(argument if isinstance(argument, tuple) else (argument, UNKNOWN)))
        for argument in arguments
    ]
    return functions.BUILT_IN[name].resolve(given).result


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("EXTRACT", (unit("DAY"), t.Date()), t.BigInt()),
        ("EXTRACT", (unit("MILLISECOND"), t.Time(0)), t.BigInt()),
        ("YEAR", (t.Timestamp(3, nullable=False),), t.BigInt(nullable=False)),
        ("FLOOR", (t.Timestamp(3), unit("WEEK")), t.Timestamp(3)),
        ("FLOOR", (t.Decimal(5, 2),), t.Decimal(5, 0)),
        ("CEIL", (t.Double(),), t.Double()),
        ("TIMESTAMPADD", (unit("DAY"), t.Int(), t.Date()), t.Date()),
        ("TIMESTAMPADD", (unit("HOUR"), t.Int(), t.Date()), t.Timestamp(6)),
        ("TIMESTAMPDIFF", (unit("MONTH"), t.Date(), t.Timestamp(3)), t.Int()),
        ("TO_TIMESTAMP", (t.STRING,), t.Timestamp(3)),
        ("TO_TIMESTAMP_LTZ", (t.BigInt(), (t.Int(), 6)), t.TimestampLtz(6)),
        ("TO_TIMESTAMP_LTZ", (t.BigInt(), (t.Int(), 0)), t.TimestampLtz(3)),
        ("NOW", (), t.TimestampLtz(3, nullable=False)),
        ("UNIX_TIMESTAMP", (), t.BigInt(nullable=False)),
    ],
    ids=str,
)
def test_temporal_functions_give_flinks_types(name, arguments, expected):
    assert result(name, *arguments) == expected


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("EXTRACT", (unit("MINUT"), t.Timestamp(3)), "did you mean `MINUTE`"),
        ("EXTRACT", (unit("YEAR"), t.Time(0)), "YEAR is not allowed here"),
        ("FLOOR", (t.Time(0), unit("DAY")), "DAY is not allowed here"),
        ("TIMESTAMPDIFF", (unit("DAY"), t.Timestamp(3), t.TimestampLtz(3)), "TIMESTAMP_LTZ"),
        ("TO_TIMESTAMP_LTZ", (t.BigInt(), (t.Int(), 9)), "from 0 to 6"),
        ("DATE_FORMAT", (t.Timestamp(3), (t.Char(3), "bad")), "unknown letter b"),
        ("DATE_FORMAT", (t.TimestampLtz(3), (t.Char(1), "z")), "needs a time zone"),
        ("DATE_FORMAT", (t.Timestamp(3), (t.Char(2), "'T")), "unclosed quote"),
        ("ROUND", (t.Double(), t.Int()), "must be a literal"),
    ],
    ids=str,
)
def test_what_cannot_be_planned_says_why(name, arguments, says):
    with pytest.raises(SignatureMismatch, match=says):
        result(name, *arguments)


def test_a_pattern_is_parsed_into_runs_of_letters_and_literals():
    found = [(piece.letter, piece.text) for piece in pieces("yyyy-MM'T'''H")]

    assert found == [("y", "yyyy"), ("", "-"), ("M", "MM"), ("", "T'"), ("H", "H")]


def test_spark_formats_what_it_can_in_one_piece():
    assert format_clock("x", "yyyy-MM HH", shifts=False).count("date_format") == 1
    assert "hour(x)" in format_clock("x", "yyyy-MM HH", shifts=True)
    assert format_clock("x", "", shifts=False) == "if(x IS NULL, NULL, '')"


def test_texts_that_follow_each_other_are_quoted_together():
    joined = format_clock("x", "'of' yyyy", shifts=False)

    pattern = string("'of 'yyyy")
    assert joined == f"date_format(x, {pattern})"


def test_only_plain_numbers_are_read_by_a_regular_expression():
    assert is_numeric("yyyyMMddHHmmssSSS") and is_numeric("dd/MM/yy")
    assert not is_numeric("MMM yyyy")
    assert not is_numeric("dd MMM yyyy hh a")
    assert not is_numeric("'only text'")
    assert read_clock("`x`", "HH:mm").count("`x`") == 2


@pytest.mark.parametrize("zone", ["UTC", "GMT", "+08:00", "GMT-3", "Z"])
def test_zones_without_summer_time_never_shift(zone):
    assert never_shifts(zone)
    assert not never_shifts("Europe/Berlin")
