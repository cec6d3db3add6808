"""Strings in columns: functions, patterns, and casts to and from them."""

import math
from datetime import date, datetime, time
from decimal import Decimal

import pytest

from tests.columns.computing import values_of
from tidemark.columns import NotInColumns
from tidemark.errors import DataError


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("SUBSTRING(s, -5, 3)", ""),
        ("SUBSTRING(s, -2)", "bc"),
        ("SUBSTRING(s, 2, -1)", None),
        ("OVERLAY('abcdef' PLACING 'X' FROM 2 FOR 0)", "aX"),
        ("LPAD(s, 5, 'xy')", "xyabc"),
        ("LPAD(s, 5, '')", None),
        ("RPAD(s, 2, 'x')", "ab"),
        ("INSTR('abcabc', 'c')", 3),
        ("POSITION('é' IN '😀é')", 2),
        ("REPLACE('a.b', '.', '$0')", "a$0b"),
        ("TRANSLATE(s, 'aab', 'xyz')", "xzc"),
        ("INITCAP('élan o''neil 1ST')", "éLan O'Neil 1st"),
        ("REVERSE('a😀é')", "é😀a"),
        ("ASCII('é')", -61),
        ("CHR(353)", "a"),
        ("ELT(5, s)", None),
        ("SPLIT_INDEX('a.b', '.', 1)", "b"),
        ("CONCAT_WS('-', s, CAST(NULL AS STRING), '')", "abc-"),
        ("CONCAT_WS('-')", ""),
        ("s || CAST(NULL AS STRING)", None),
        ("'a\\c' LIKE 'a\\_'", True),
        ("'100%' LIKE '100!%' ESCAPE '!'", True),
        ("'a\nb' LIKE 'a_b'", True),
        ("'abc' SIMILAR TO '(a|x)[a-c]*'", True),
        ("'a\nb' SIMILAR TO 'a%'", True),
        ("'a\nb' SIMILAR TO 'a_b'", False),
        ("IS_DIGIT('12')", True),
        ("HEX('é')", "C3A9"),
    ],
)
def test_strings_are_sequences_of_characters(expression, expected):
    assert values_of(expression, {"s STRING": ["abc"]}) == [expected]


@pytest.mark.parametrize(
    ("type_", "value", "text"),
    [
        ("BOOLEAN", True, "TRUE"),
        ("DOUBLE", 1e10, "1.0E10"),
        ("DOUBLE", 9999999.0, "9999999.0"),
        ("DOUBLE", -0.00012345, "-1.2345E-4"),
        ("DOUBLE", 5e-324, "4.9E-324"),
        ("DOUBLE", -math.inf, "-Infinity"),
        ("FLOAT", 3.4e38, "3.4E38"),
        ("DECIMAL(10, 8)", Decimal("-0.0000001"), "-0.00000010"),
        ("DATE", date(5, 1, 2), "0005-01-02"),
        ("TIME(3)", time(1, 2, 3, 120_000), "01:02:03.12"),
        ("TIMESTAMP(0)", datetime(2024, 1, 1, 10), "2024-01-01 10:00:00"),
        ("TIMESTAMP(3)", datetime(2024, 1, 1, 10), "2024-01-01 10:00:00.000"),
        ("TIMESTAMP_LTZ(3)", datetime(2024, 7, 1, 10), "2024-07-01 12:00:00.000"),
        ("ARRAY<INT>", [1, None], "[1, NULL]"),
        ("ROW<x INT, y STRING>", {"x": 1, "y": None}, "(1, NULL)"),
        ("BYTES", b"a\xff", "a\ufffd"),
    ],
)
def test_values_are_printed_as_in_flink(type_, value, text):
    printed = values_of("CAST(x AS STRING)", {f"x {type_}": [value, None]}, "Europe/Berlin")

    assert printed == [text, None]


def test_intervals_are_printed_with_their_sign():
    columns = {"n INT": [-1, 1]}

    assert values_of("CAST(INTERVAL '93784.5' SECOND * n AS STRING)", columns) == [
        "-1 02:03:04.500",
        "+1 02:03:04.500",
    ]
    assert values_of("CAST(INTERVAL '14' MONTH * n AS STRING)", columns) == ["-1-02", "+1-02"]


@pytest.mark.parametrize(
    ("type_", "valid", "invalid"),
    [
        ("BOOLEAN", {"tRue": True, "no": False}, ["2", " t"]),
        ("INT", {" 12.9 ": 12, "+5": 5}, ["1e3", "2147483648", ""]),
        ("DOUBLE", {"1e3": 1000.0, ".5d": 0.5, "-Infinity": -math.inf}, ["1_0", "e1"]),
        ("DECIMAL(4, 1)", {"1.25": Decimal("1.3"), "1e2": Decimal(100)}, ["1000", "x"]),
        ("DATE", {"2024": date(2024, 1, 1), "24-2-3 x": date(24, 2, 3)}, ["2024-02-30", "1/2/3"]),
        ("TIME(0)", {"7": time(7), "1:2": time(1, 2)}, ["24:00:00", "T12:30", "1:30 PM"]),
        (
            "TIMESTAMP(3)",
            {"2024-02-29 1:2:3.1239": datetime(2024, 2, 29, 1, 2, 3, 123_000)},
            ["2024-02-29 01:02", "2024-02-29T01:02:03"],
        ),
    ],
)
def test_strings_are_read_as_in_flink(type_, valid, invalid):
    columns = {"s STRING": [*valid, *invalid]}

    assert values_of(f"TRY_CAST(s AS {type_})", columns) == [
        *valid.values(),
        *([None] * len(invalid)),
    ]


def test_string_that_is_not_valid_fails_with_its_text():
    with pytest.raises(DataError, match="cannot cast 'abc' to INT"):
        values_of("CAST(s AS INT)", {"s STRING": ["1", "abc", "def"]})


def test_strings_that_are_not_cast_do_not_fail():
    columns = {"s STRING": ["1", "abc", None]}

    assert values_of("CASE WHEN s = 'abc' THEN 0 ELSE CAST(s AS INT) END", columns) == [1, 0, None]


def test_the_pairs_of_a_string_are_a_map():
    strings = ["a=1&b=2", "a=1&a=3=4&&b&", "&&", "", None]

    assert [
        None if entries is None else dict(entries)
        for entries in values_of("STR_TO_MAP(s, '&', '=')", {"s STRING": strings})
    ] == [{"a": "1", "b": "2"}, {"a": "3=4", "": None, "b": None}, {}, {}, None]
    assert values_of(r"STR_TO_MAP(s, '\|', ':')['b']", {"s STRING": ["a:1|b:2"]}) == ["2"]


def test_patterns_from_columns_are_those_of_each_row():
    rows = {"s STRING": ["ab", "a.b", "ab", None, "a"], "p STRING": ["a_", "a.%", None, "a", "A"]}

    assert values_of("s LIKE p", rows) == [True, True, None, None, False]


def test_pattern_with_an_escape_that_is_not_constant_is_refused():
    with pytest.raises(NotInColumns, match="LIKE with ESCAPE and a pattern that is not constant"):
        values_of("s LIKE s ESCAPE '!'", {"s STRING": ["a"]})
