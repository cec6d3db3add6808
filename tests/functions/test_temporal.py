"""Temporal functions: units, patterns and zones as they are planned; no Spark needed."""

import pytest

from tidemark import functions
from tidemark import types as t
from tidemark.functions.clocks_by_pattern import read_clock
from tidemark.functions.date_patterns import format_clock, pieces
from tidemark.functions.moments import never_shifts
from tidemark.functions.pattern_readings import fraction_digits, readings, without_sections
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
        ("FROM_UNIXTIME", (t.BigInt(), (t.Char(3), "UTC")), "unknown letter U in pattern UTC"),
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


@pytest.mark.parametrize(
    ("pattern", "exact", "numeric"),
    [
        ("yyyyMMddHHmmssSSS", False, True),
        ("dd/MM/yy", True, True),
        ("yyyy-MM-dd HH:mm[:ss[.SSS]]", True, True),
        ("yyyy [MM]", False, True),
        ("dd/MMM/yyyy:HH:mm:ss Z", True, False),
        ("EEE, d MMMM yyyy hh:mm a", True, False),
        ("yyyy-MM-dd'T'kk:mm:ssXXX", False, False),
    ],
)
def test_patterns_become_regular_expressions(pattern, exact, numeric):
    found = readings(pattern, exact=exact)

    assert found is not None
    assert all(reading.is_numeric == numeric for reading in found)


@pytest.mark.parametrize(
    "pattern",
    ["'only text'", "yyyy yyyy", "yyyy HH hh a", "yyyy hh", "yyyy a", "DDD", "MMMMM", "ZZZZ"],
)
def test_patterns_of_other_fields_are_left_to_spark(pattern):
    assert readings(pattern, exact=True) is None


def test_optional_sections_are_tried_with_and_without_them():
    sections = readings("yyyy[-MM[-dd]][ HH]", exact=True)

    assert sections is not None
    assert ["".join(reading.groups) for reading in sections] == [
        "yMdH", "yMd", "yMH", "yM", "yH", "y",
    ]  # fmt: skip
    assert without_sections("yyyy[-MM[-dd") == "yyyy-MM-dd"
    assert [fraction_digits(p) for p in ("HH:mm:ss.SSSSSS", "ss.SSSX", "ss[.SSS]")] == [6, 0, 0]


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("yyyy]", "`]` without `\\["),
        ("yyyy#", "must be quoted"),
        ("yyyy'T", "unclosed quote"),
        ("yyyy[]" * 6, "too many optional sections"),
        ("yyyy z", "pattern letter z is not supported"),
        ("yyyy ZZZZ", "pattern letter Z is not supported in yyyy ZZZZ"),
        ("yyyy DDD X", "pattern letter X is not supported"),
        ("bad", "unknown letter b"),
    ],
)
def test_what_no_string_can_be_read_by_says_why(pattern, says):
    with pytest.raises(SignatureMismatch, match=says):
        result("TO_TIMESTAMP", t.STRING, (t.VarChar(40), pattern))


def test_a_string_is_not_written_more_often_than_it_must():
    [numeric] = readings("HH:mm", exact=False)

    assert read_clock("`x`", [numeric], exact=False).count("`x`") == 2


@pytest.mark.parametrize("zone", ["UTC", "GMT", "+08:00", "GMT-3", "Z"])
def test_zones_without_summer_time_never_shift(zone):
    assert never_shifts(zone)
    assert not never_shifts("Europe/Berlin")
