"""Rows as lines. Expected values were confirmed on Flink 2.3 unless a test says else."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.examples import fields_of, options_of, rows
from tidemark.formats.column_types import series
from tidemark.formats.encoders import bytes_of, encoded, messages

MOMENT = 1_500_000  # microseconds
NOON = 36_672_500_000


def lines_of(encoded_rows: pa.Array) -> list[str]:
    """Encoded rows, without the ends of lines."""
    text: str = bytes_of(encoded_rows).to_pybytes().decode()
    return text.splitlines()


def lines(format_: str, columns: str, *values: tuple[Any, ...], **options: str) -> str:
    fields = fields_of(columns)
    frame = pl.DataFrame(
        [series([row[i] for row in values], f.type, f.name) for i, f in enumerate(fields)]
    )
    return bytes_of(encoded(format_, frame, fields, options_of(options))).to_pybytes().decode()


def test_documents_are_written_as_flink_writes_them() -> None:
    columns = (
        "a BOOLEAN, g DOUBLE, h DECIMAL(10, 2), m BYTES, o TIME(3), p TIMESTAMP(3), "
        "q TIMESTAMP_LTZ(3), n INT"
    )
    row = (True, 1e10, Decimal("12.30"), b"\x00\xff", NOON, MOMENT, MOMENT, None)

    assert lines("json", columns, row) == (
        '{"a":true,"g":1.0E10,"h":12.3,"m":"AP8=","o":"10:11:12.5","p":"1970-01-01 00:00:01.5",'
        '"q":"1970-01-01 00:00:01.5Z","n":null}\n'
    )
    options = {
        "json__timestamp_format__standard": "ISO-8601",
        "json__encode__decimal_as_plain_number": "true",
        "json__encode__ignore_null_fields": "true",
    }
    assert lines("json", columns, row, **options) == (
        '{"a":true,"g":1.0E10,"h":12.30,"m":"AP8=","o":"10:11:12.5","p":"1970-01-01T00:00:01.5",'
        '"q":"1970-01-01T00:00:01.5Z"}\n'
    )


def test_nested_values_are_written_with_their_own_names() -> None:
    columns = "`a.b` INT, r ROW<`x y` INT, l ARRAY<ROW<s STRING>>>, m MAP<STRING, INT>, t MULTISET<STRING>"

    assert lines(
        "json", columns, (1, (2, [("p",), None]), [("k", 1), ("n", None)], [("e", 2)]), (None,) * 4
    ) == (
        '{"a.b":1,"r":{"x y":2,"l":[{"s":"p"},null]},"m":{"k":1,"n":null},"t":{"e":2}}\n'
        '{"a.b":null,"r":null,"m":null,"t":null}\n'
    )


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('q"q', '"q\\"q"'),
        ("a\\b", '"a\\\\b"'),
        ("\n\t\x01\x1f", '"\\n\\t\\u0001\\u001F"'),
        ("é/\x7f", '"é/\x7f"'),
    ],
)
def test_strings_are_escaped_only_where_they_must_be(text: str, written: str) -> None:
    assert lines("json", "s STRING", (text,)) == f'{{"s":{written}}}\n'
    assert rows("json", "s STRING", lines("json", "s STRING", (text,)).encode()) == [(text,)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"), (-0.0, "-0.0"), (1.0, "1.0"), (0.001, "0.001"), (0.00099, "9.9E-4"), (9999999.0, "9999999.0"), (1e7, "1.0E7"),
        (-12345678.5, "-1.23456785E7"), (1e300, "1.0E300"), (5e-324, "5.0E-324"), (1.5e-5, "1.5E-5"), (float("nan"), '"NaN"'),
        (float("-inf"), '"-Infinity"'),
    ],
)  # fmt: skip
def test_doubles_are_written_as_in_java(value: float, text: str) -> None:
    assert lines("json", "x DOUBLE", (value,)) == f'{{"x":{text}}}\n'


@pytest.mark.parametrize(
    ("value", "text", "plain"),
    [
        ("188410.000", "1.8841E+5", "188410.000"),
        ("0.000", "0", "0.000"),
        ("-10.000", "-1E+1", "-10.000"),
        ("12345678901234567890.000", "1.234567890123456789E+19", "12345678901234567890.000"),
        ("1.500", "1.5", "1.500"),
        ("-0.010", "-0.01", "-0.010"),
        ("101.000", "101", "101.000"),
        (None, "", ""),
    ],
)
def test_decimals_are_written_as_flink_2_3_writes_them(value, text, plain) -> None:
    decimal = None if value is None else Decimal(value)
    columns = "id INT, x DECIMAL(23, 3)"
    shown, as_plain = text or "null", plain or "null"

    assert lines("json", columns, (1, decimal)) == f'{{"id":1,"x":{shown}}}\n'
    assert lines("csv", columns, (1, decimal)) == f"1,{text}\n"
    option = {"json__encode__decimal_as_plain_number": "true"}
    assert lines("json", columns, (1, decimal), **option) == f'{{"id":1,"x":{as_plain}}}\n'
    assert rows("json", columns, lines("json", columns, (1, decimal)).encode()) == [(1, decimal)]
    if decimal is not None:
        assert rows("csv", columns, f"1,{text}\n".encode()) == [(1, decimal)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1E-7", "1E-7"), ("-0.00000123", "-0.00000123"), ("0.000001", "0.000001"), ("0.0000001230", "1.23E-7"),
        ("100000000000000000", "1E+17"), ("0", "0"), ("0.000000000000000001", "1E-18"), ("-1.000000000000000001", "-1.000000000000000001"),
    ],
)  # fmt: skip
def test_small_decimals_have_an_exponent(value: str, text: str) -> None:
    assert lines("json", "x DECIMAL(38, 18)", (Decimal(value),)) == f'{{"x":{text}}}\n'


@given(
    st.decimals(
        allow_nan=False, allow_infinity=False, places=9, min_value=-(10**12), max_value=10**12
    )
)
def test_decimals_are_written_as_java_writes_them_without_zeros_at_the_end(value: Decimal) -> None:
    # Python's notation of a normalized decimal is Java's, but for a zero.
    expected = "0" if value == 0 else str(value.normalize())

    assert lines("json", "x DECIMAL(38, 9)", (value,)) == f'{{"x":{expected}}}\n'


@pytest.mark.parametrize(
    ("value", "text"),
    [("100", "1E+2"), ("-12300", "-1.23E+4"), ("7", "7"), ("0", "0"), ("10", "1E+1")],
)
def test_decimals_without_a_fraction_have_an_exponent_for_zeros(value: str, text: str) -> None:
    assert lines("csv", "x DECIMAL(5, 0)", (Decimal(value),)) == f"{text}\n"


def test_floats_have_their_own_digits() -> None:
    assert lines("json", "x FLOAT", (0.1,), (1e10,)) == '{"x":0.1}\n{"x":1.0E10}\n'


def test_no_rows_are_no_bytes() -> None:
    assert lines("json", "x INT") == ""


def test_strings_are_quoted_where_flink_quotes_them() -> None:
    values = [
        "plain",
        "a b",
        'q"q',
        "a,b",
        "a\\b",
        "it's",
        "x;y",
        "#c",
        "-",
        "+",
        "",
        "null",
        "a-b_c.d:e/f",
        "é",
        "x" * 25,
    ]
    written = lines("csv", "a INT, s STRING", *((1, value) for value in values))

    assert written == (
        '1,plain\n1,"a b"\n1,"q""q"\n1,"a,b"\n1,"a\\b"\n1,"it\'s"\n1,x;y\n1,"#c"\n1,-\n1,"+"\n1,\n1,null\n'
        f'1,a-b_c.d:e/f\n1,é\n1,"{"x" * 25}"\n'
    )
    assert [row[1] for row in rows("csv", "a INT, s STRING", written.encode())] == values


@pytest.mark.parametrize(
    ("value", "text"),
    [("100", "100.000000"), ("-0.10", "-0.100000"), ("0.000001", "0.000001"), ("0", "0.000000")],
)
def test_decimals_may_be_written_without_exponents(value: str, text: str) -> None:
    for columns in ("x DECIMAL(12, 6)", "x ROW<y DECIMAL(12, 6)>"):
        row = Decimal(value) if "ROW" not in columns else (Decimal(value),)
        assert lines("csv", columns, (row,), **scientific("false")) == f"{text}\n"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "100.00,1.50"),
        ({"scientific": "false"}, "100.00,1.50"),
        ({"scientific": "true"}, "1E+2,1.5"),
    ],
)
def test_csv_messages_have_exponents_only_if_asked_for(options: dict[str, str], text: str) -> None:
    # As Flink 2.3 writes them to Kafka, in values and keys.
    fields = fields_of("a DECIMAL(5, 2), b DECIMAL(5, 2)")
    row = pl.DataFrame({"a": [Decimal("100.00")], "b": [Decimal("1.50")]})
    given = options_of(scientific(options["scientific"]) if options else {})

    assert messages("csv", row, fields, given).to_pylist() == [text.encode()]


def scientific(value: str) -> dict[str, str]:
    return {"csv__write_bigdecimal_in_scientific_notation": value}


def test_null_is_written_as_the_null_literal() -> None:
    assert lines("csv", "a INT, s STRING", (None, None), csv__null_literal="NULL") == "NULL,NULL\n"
    assert lines("csv", "a INT, s STRING", (None, None)) == ",\n"


def test_arrays_and_rows_are_written_with_their_delimiter() -> None:
    columns = "l ARRAY<INT>, r ROW<x INT, y STRING>, d DECIMAL(6, 3)"

    assert lines("csv", columns, ([1, None, 3], (1, "p"), Decimal("1.500"))) == "1;;3,1;p,1.5\n"


def test_arrays_are_quoted_like_strings() -> None:
    columns = "a INT, l ARRAY<STRING>"

    comma = lines("csv", columns, (1, ["p", "q"]), (2, ["p"]), csv__array_element_delimiter=",")
    assert comma == '1,"p,q"\n2,p\n'
    assert lines("csv", columns, (1, ["p q"]), (2, ['"'])) == '1,"p q"\n2,""""\n'
    assert lines("csv", columns, (1, ["x" * 12] * 2)) == f'1,"{"x" * 12};{"x" * 12}"\n'


def test_null_is_written_as_the_null_literal_inside_arrays_and_rows() -> None:
    columns = "l ARRAY<INT>, r ROW<x INT, y STRING>"

    written = lines("csv", columns, ([1, None], (None, "p")), (None, None), csv__null_literal="n/a")
    assert written == "1;n/a,n/a;p\nn/a,n/a\n"


@pytest.mark.parametrize(
    ("options", "written"),
    [
        ({}, ['"a\\b"', '"a!b"', "a~b"]),
        ({"csv__escape_character": "!"}, ["a\\b", '"a!!b"', "a~b"]),
        ({"csv__escape_character": "~"}, ["a\\b", '"a!b"', '"a~~b"']),
        ({"csv__escape_character": "\\"}, ['"a\\\\b"', '"a!b"', "a~b"]),
    ],
)
def test_strings_with_the_escape_character_are_quoted(
    options: dict[str, str], written: list[str]
) -> None:
    values = ["a\\b", "a!b", "a~b"]

    assert lines("csv", "s STRING", *((v,) for v in values), **options).splitlines() == written


def test_a_character_beyond_two_bytes_counts_twice_towards_a_long_string() -> None:
    assert lines("csv", "s STRING", ("😀" * 12,), ("😀" * 13,)) == f'{"😀" * 12}\n"{"😀" * 13}"\n'


@pytest.mark.parametrize("format_", ["json", "debezium-json"])
def test_json_escapes_characters_beyond_two_bytes(format_: str) -> None:
    columns = "s STRING, m MAP<STRING, STRING>, r ROW<l ARRAY<STRING>>"
    values = ("é😀x", [("𝄞", "ab")], (["😀"],))

    assert (
        '{"s":"é\\uD83D\\uDE00x","m":{"\\uD834\\uDD1E":"ab"},"r":{"l":["\\uD83D\\uDE00"]}}'
        in lines(format_, columns, values)
    )
    assert rows("json", columns, lines("json", columns, values).encode())[0][0] == "é😀x"


def test_what_is_written_is_read_again() -> None:
    columns = (
        "a TIMESTAMP(6), b TIMESTAMP_LTZ(3), c DATE, d DECIMAL(20, 4), e BYTES, f DOUBLE, g STRING"
    )
    values = [(MOMENT + 1, MOMENT, 19_000, Decimal("-1.2500"), b"\x00x", 1e-9, "é\n\"'\\")]

    for format_ in ("json", "csv"):
        found = rows(format_, columns, lines(format_, columns, *values).encode())
        start = dt.datetime(1970, 1, 1)
        assert found == [
            (
                start + dt.timedelta(microseconds=MOMENT + 1),
                (start + dt.timedelta(microseconds=MOMENT)).replace(tzinfo=dt.UTC),
                dt.date(1970, 1, 1) + dt.timedelta(days=19_000),
                Decimal("-1.2500"),
                b"\x00x",
                1e-9,
                "é\n\"'\\",
            )
        ]


EVENTS = {
    "canal-json": [
        '{"data":[{"id":1,"d":12.5}],"type":"INSERT"}',
        '{"data":[{"id":1,"d":null}],"type":"DELETE"}',
        '{"data":[{"id":1}],"type":"DELETE"}',
    ],
    "debezium-json": [
        '{"before":null,"after":{"id":1,"d":12.5},"op":"c"}',
        '{"before":{"id":1,"d":null},"after":null,"op":"d"}',
        '{"before":{"id":1},"op":"d"}',
    ],
    "maxwell-json": [
        '{"data":{"id":1,"d":12.5},"type":"insert"}',
        '{"data":{"id":1,"d":null},"type":"delete"}',
        '{"data":{"id":1},"type":"delete"}',
    ],
    "ogg-json": [
        '{"before":null,"after":{"id":1,"d":12.5},"op_type":"I"}',
        '{"before":{"id":1,"d":null},"after":null,"op_type":"D"}',
        '{"before":{"id":1},"op_type":"D"}',
    ],
}


@pytest.mark.parametrize("format_", EVENTS)
def test_changes_are_written_as_inserts_and_deletes(format_: str) -> None:
    fields = fields_of("id INT, d DECIMAL(5, 2)")
    frame = pl.DataFrame({"id": [1, 1, 1, 1], "d": [Decimal("12.50"), None, None, None]})
    frame = frame.with_columns(pl.col("d").cast(pl.Decimal(5, 2)), kind=pl.Series(["+I", "-U", "-D", "+U"]))  # fmt: skip
    inserted, deleted, without_null = EVENTS[format_]

    written = lines_of(encoded(format_, frame, fields, {}))
    assert written[:3] == [inserted, deleted, deleted]
    assert written[3] == inserted.replace("12.5", "null")
    # Rows that are all inserts have no row kinds.
    assert lines_of(encoded(format_, frame[:1, :2], fields, {})) == [inserted]

    options = {f"{format_}.encode.ignore-null-fields": True, f"{format_}.encode.decimal-as-plain-number": True}  # fmt: skip
    written = lines_of(encoded(format_, frame, fields, options))
    assert "12.50" in written[0]
    assert "null" not in written[0]
    assert written[1] == without_null
