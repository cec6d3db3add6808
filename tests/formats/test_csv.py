"""CSV records as columns. Expected values were confirmed on Flink 2.3 unless a test says else."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.formats.csv_examples import BAD, COMMENTED, PLAIN, READ, SHORT, SINGLE, STYLES, Rows
from tests.formats.examples import ALWAYS, NEVER, decoded, fields_of, rows
from tests.searching import searched
from tidemark.errors import DataError
from tidemark.formats.csv_quick import QuickCsv
from tidemark.formats.csv_style import Style

IGNORE = {"csv__ignore_parse_errors": "true"}
TABLE = "id INT, s STRING"
WAYS = pytest.mark.parametrize("few", [ALWAYS, NEVER], ids=("quick", "exact"))


LENIENT: dict[str, dict[str, Any]] = {
    "DATE": {"2024-02-30": dt.date(2024, 3, 1), "2023-04-31": dt.date(2023, 5, 1), "2024-01-32": None},
    "TIMESTAMP(3)": {
        "2024-02-30 10:00:00": dt.datetime(2024, 2, 29, 10), " 2024-01-01 10:00:00 ": dt.datetime(2024, 1, 1, 10),
        "2024-01-01 24:00:00": dt.datetime(2024, 1, 2), "2024-01-01 10:00:00.": dt.datetime(2024, 1, 1, 10), "2024-13-01 10:00:00": None,
    },
    "INT": {" 1": 1, "1 ": 1, "+1": 1, "1.0": None},
    "DECIMAL(5, 2)": {"1": Decimal("1.00"), " 1": None, "1 ": None, "+1.555": Decimal("1.56")},
    "DOUBLE": {"NaN": float("nan"), "-NaN": float("nan"), " -Infinity": -float("inf"), "inf": None, "nan": None, "INFINITY": None},
    "BYTES": {"aGVsbG8=": b"hello", "aGVs bG8=": b"hello", "aGVsbG8": None, "aG==aG==": b"hh"},
}  # fmt: skip


@WAYS
@pytest.mark.parametrize("type_", LENIENT)
def test_values_are_as_lenient_as_java(type_: str, few: int) -> None:
    values = LENIENT[type_]

    found = rows("csv", f"v {type_}", "\n".join(values).encode(), few=few, **IGNORE)

    assert repr([row[0] for row in found]) == repr(list(values.values()))


@WAYS
def test_null_literal_is_null_inside_arrays_and_rows_too(few: int) -> None:
    columns, text = "a ARRAY<STRING>, b ARRAY<INT>, r ROW<x INT, y STRING>", "n/a;p,1;n/a,n/a;n/a\n"

    found = rows("csv", columns, text.encode(), few=few, csv__null_literal="n/a")

    assert found == [([None, "p"], [1, None], {"x": None, "y": None})]


@WAYS
def test_null_literal_is_not_null_for_a_whole_array_or_row(few: int) -> None:
    columns = "a ARRAY<STRING>, b ARRAY<INT>, r ROW<x INT, y STRING>"

    def read(text: bytes, null: str) -> list[Any]:
        return rows("csv", columns, text, few=few, csv__null_literal=null, **IGNORE)

    assert read(b"n/a,n/a,n/a\n", "n/a") == [([None], [None], {"x": None, "y": None})]
    assert read(b",,\n;,1;,1;\n", "") == [
        ([], [], None),
        ([None, None], [1, None], {"x": 1, "y": None}),
    ]


@WAYS
@pytest.mark.parametrize("extra", ["", " ", "\t ", '""', '" "', "\x01", '"\n"'])
def test_one_extra_field_may_be_blank(extra: str, few: int) -> None:
    assert rows("csv", TABLE, f"1,a,{extra}\n2,b\n".encode(), few=few) == [(1, "a"), (2, "b")]


@WAYS
@pytest.mark.parametrize("extra", ["x", "\xa0", ",", " , ", ' ""'])
def test_other_extra_fields_are_errors(extra: str, few: int) -> None:
    with pytest.raises(DataError):
        rows("csv", TABLE, f"1,a,{extra}\n".encode(), few=few)


@pytest.mark.parametrize("written", ["\x01", "\\u0001", "\\1", "\\001"])
def test_delimiter_may_be_written_as_in_java(written: str) -> None:
    assert rows("csv", TABLE, b"1\x01a\n", csv__field_delimiter=written) == [(1, "a")]


@WAYS
@pytest.mark.parametrize("text", PLAIN)
def test_records_are_taken_apart(text: str, few: int) -> None:
    assert rows("csv", TABLE, text.encode(), few=few) == PLAIN[text]


@WAYS
@pytest.mark.parametrize(("text", "options", "expected"), STYLES)
def test_options_change_how_records_are_taken_apart(
    text: str, options: dict[str, str], expected: Rows, few: int
) -> None:
    assert rows("csv", TABLE, text.encode(), few=few, **options) == expected


@WAYS
@pytest.mark.parametrize(("text", "ignoring", "reason"), BAD)
def test_bad_records_are_errors_or_skipped(
    text: str, ignoring: Rows, reason: str, few: int
) -> None:
    assert rows("csv", TABLE, text.encode(), few=few, **IGNORE) == ignoring
    with pytest.raises(DataError) as caught:
        rows("csv", TABLE, text.encode(), few=few)
    assert caught.value.message == "f:1  cannot read the record as CSV"
    assert reason in str(caught.value.notes["why"])
    assert caught.value.hint == "'csv.ignore-parse-errors' = 'true' skips such records"


@WAYS
@pytest.mark.parametrize("text", SHORT)
def test_an_empty_line_is_a_record_that_lacks_fields(text: str, few: int) -> None:
    columns = "s STRING, id INT"

    assert rows("csv", columns, text.encode(), few=few, **IGNORE) == SHORT[text]
    with pytest.raises(DataError) as caught:
        rows("csv", columns, text.encode(), few=few)
    assert caught.value.notes["why"] == "expected 2 fields, found 1"


@WAYS
@pytest.mark.parametrize("text", SINGLE)
def test_an_empty_line_of_a_single_column_is_an_empty_string(text: str, few: int) -> None:
    assert rows("csv", "s STRING", text.encode(), few=few) == SINGLE[text]


@WAYS
@pytest.mark.parametrize("quote", ["true", "false"])
@pytest.mark.parametrize(("text", "expected"), COMMENTED.items())
def test_where_comments_are_allowed_they_are_skipped_with_empty_lines_and_spaces(
    text: str, expected: Rows, quote: str, few: int
) -> None:
    options = {"csv__allow_comments": "true", "csv__disable_quote_character": quote}

    if quote == "false" or '"' not in text:
        assert rows("csv", "s STRING, t STRING", text.encode(), few=few, **options) == expected


@WAYS
@pytest.mark.parametrize(("text", "read", "expected"), READ)
def test_only_fields_that_are_read_must_be_there_and_valid(
    text: str, read: str, expected: Rows | None, few: int
) -> None:
    def found() -> Rows:
        return rows("csv", "a INT, b INT, s STRING", text.encode(), few=few, read=read.split())

    if expected is None:
        with pytest.raises(DataError):
            found()
    else:
        assert found() == expected


def test_skipped_records_are_counted() -> None:
    found = decoded("csv", TABLE, b'1,a,b,c\n2,b\n3,"c"x\n4\n', **IGNORE)

    assert found.rows.rows() == [(2, "b"), (4, None)]
    assert found.record.to_list() == [2, 4]
    assert (found.skipped, found.records) == (2, 4)


@WAYS
def test_a_bad_value_names_file_line_value_and_record(few: int) -> None:
    with pytest.raises(DataError) as caught:
        rows("csv", TABLE, b'1,"a\nb"\nx,b\n', few=few)

    assert caught.value.message == "f:3  cannot read `id` as INT"
    assert caught.value.notes == {
        "why": "the value is not a valid INT", "value": "'x'", "record": "x,b",
    }  # fmt: skip
    assert caught.value.hint == "'csv.ignore-parse-errors' = 'true' reads such fields as NULL"


def test_csv_has_one_spelling_of_times() -> None:
    with pytest.raises(DataError) as caught:
        rows("csv", "seen TIMESTAMP(3)", b"2024-01-01T00:00:01\n")

    assert caught.value.hint == "write a space between date and time: 2024-01-01 00:00:01"


def test_lines_inside_quotes_are_not_records() -> None:
    block = b'1,"a\n2,b\n3,c"\n4,d\n'

    found = decoded("csv", TABLE, block)

    assert found.rows.rows() == [(1, "a\n2,b\n3,c"), (4, "d")]
    assert found.record.to_list() == [1, 4]


@WAYS
def test_values_are_converted_as_csv_does(few: int) -> None:
    columns = "d DATE, e DATE, o TIME(3), p TIMESTAMP(3), b BOOLEAN, y BYTES, n DECIMAL(4, 1)"
    block = b"2024-1-1,2024-01-01,10:00,2024-01-01 10:00:00.1239,TRUE,aGVsbG8=,1.25\n"

    assert rows("csv", columns, block, few=few) == [
        (
            dt.date(2024, 1, 1),
            dt.date(2024, 1, 1),
            dt.time(10, 0),
            dt.datetime(2024, 1, 1, 10, 0, 0, 123000),
            True,
            b"hello",
            Decimal("1.3"),
        )
    ]


def test_arrays_and_rows_are_split_at_their_delimiter() -> None:
    columns, block = "l ARRAY<INT>, r ROW<a INT, b STRING>", b"1;2;;3,1;x\n ,1;;2\n ,  \n"

    assert rows("csv", columns, block) == [
        ([1, 2, None, 3], {"a": 1, "b": "x"}),
        ([], {"a": 1, "b": ""}),
        ([], None),
    ]


@WAYS
def test_a_row_lacks_fields_only_if_errors_are_ignored(few: int) -> None:
    columns, block = "id INT, r ROW<a INT, b STRING>", b"1,2\n"

    assert rows("csv", columns, block, few=few, **IGNORE) == [(1, {"a": 2, "b": None})]
    with pytest.raises(DataError, match="cannot read `r` as ROW<`a` INT, `b` STRING>"):
        rows("csv", columns, block, few=few)


def test_an_empty_field_is_not_a_number() -> None:
    with pytest.raises(DataError):
        rows("csv", "id INT, n INT", b"1,\n")
    assert rows("csv", "id INT, n INT", b"1,\n", **IGNORE) == [(1, None)]


def test_a_byte_order_mark_begins_the_file() -> None:
    assert rows("csv", TABLE, b"\xef\xbb\xbf1,a\n") == [(1, "a")]


COLUMNS = "i INT, s STRING, d DECIMAL(6, 2), ts TIMESTAMP(3), c TIME(0), dy DATE"
NESTED = "i INT, a ARRAY<INT>, b ARRAY<STRING>, r ROW<x INT, y STRING>, s STRING, d ARRAY<DATE>"
pieces = st.sampled_from(
    ["1", "-7", "+3", " 4", "1.255", "x", "", "a b", '"', '""', '"a"', '"a,b"', '"a\nb"', ",", ",,", "\n", "\r\n", "\\", "#",
     "2024-01-01", "2024-1-1", "2024-01-01 10:00:00.5", "10:00", "10:00:00.123", "é", "null", ";", " ",
     "1;2", "1;;x", ";", '"a;b"', "# a", '# "a', '#,"', ' "b"', "a\\nb", '\\"', '"a\\"b"', '"a""b', 'a"b"']
)  # fmt: skip
good = st.builds(
    "{},{},{}.5,2024-05-01 10:00:0{},10:00:00,2024-01-0{}\n".format,
    st.integers(-5, 5), st.sampled_from(["a", '"b"', '"c ""d"""', '"e\nf"', '"e\r\n\nf"', '"e\n1,a,2.5,2024-05-01 10:00:00,10:00:00,2024-01-01\nf"', 'a"', ""]), st.integers(0, 9),
    st.integers(0, 9), st.integers(0, 9),
)  # fmt: skip
empty = st.sampled_from(["\n", "\r\n", "  \n"])
wild = st.lists(pieces, max_size=14).map(",".join) | st.lists(pieces, max_size=14).map("".join)


def outcome(
    columns: str, block: bytes, few: int, read: list[str] | None, options: dict[str, str]
) -> Any:
    try:
        found = decoded("csv", columns, block, few=few, read=read, **options)
    except DataError as error:
        return str(error)
    return found.rows.rows(), found.record.to_list(), found.records, found.skipped


@searched(150, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from([COLUMNS, COLUMNS, NESTED, "s STRING"]),
    st.lists(good | wild | wild.map(lambda line: line + "\n") | empty, max_size=8),
    st.none() | st.lists(st.sampled_from("isadb"), min_size=1),
    st.sampled_from(
        [{}, IGNORE, {**IGNORE, "csv__escape_character": "\\"}, {**IGNORE, "csv__allow_comments": "true"},
         {**IGNORE, "csv__disable_quote_character": "true"}, {**IGNORE, "csv__null_literal": "null"}, {"csv__null_literal": ""},
         {"csv__escape_character": "\\"}, {"csv__allow_comments": "true"}, {"csv__allow_comments": "true", **IGNORE, "csv__escape_character": "\\"}, {**IGNORE, "csv__array_element_delimiter": "a"}]
    ),
)  # fmt: skip
def test_random_files_are_read_alike_both_ways(
    columns: str, parts: list[str], read: list[str] | None, options: dict[str, str]
) -> None:
    block = "".join(parts).encode()
    read = None if read is None or columns == "s STRING" else [*read, "i"]
    assert repr(outcome(columns, block, ALWAYS, read, options)) == repr(
        outcome(columns, block, NEVER, read, options)
    )


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ('1,"a ""b"" c",x', {}),
        ('1,"a\nb,""\nc",x', {}),
        ('1,a"b,x', {}),
        ('1,"a\\"b",x\\,y', {"csv__escape_character": "\\"}),
        (
            '# "comments, and',
            {"csv__allow_comments": "true", "csv__disable_quote_character": "true"},
        ),
        ("# comments, and", {"csv__allow_comments": "true"}),
        ("", IGNORE),
        ("  ", IGNORE),
        (" 1 ,a,x", {}),
        ("1", IGNORE),
        ("x,,", IGNORE),
    ],
)
def test_records_of_any_style_take_the_quick_way(line: str, options: dict[str, str]) -> None:
    block = f"{line}\n2,b,y\n".encode() * 40

    found = decoded("csv", "id INT, s STRING, t STRING", block, **options)

    assert found.slow == 0
    assert found.rows.equals(
        decoded("csv", "id INT, s STRING, t STRING", block, few=NEVER, **options).rows
    )


def test_a_stray_quote_does_not_slow_the_records_after_it_down() -> None:
    found = decoded("csv", TABLE, b'1,"a"x\n' + b"2,b\n" * 99, **IGNORE)

    assert (found.slow, found.skipped) == (1, 1)


def test_the_records_of_common_files_take_the_quick_way() -> None:
    lines = [f'{i},"n, {i}",{i}.{i % 100:02d},2024-05-01 10:00:00.{i},é {i}\n' for i in range(500)]
    fields = fields_of("id BIGINT, name STRING, price DECIMAL(10, 2), seen TIMESTAMP(3), s STRING")

    found = QuickCsv(fields, Style(), range(5)).read(pl.Series(lines))

    assert found is not None
    assert found.done.all()


def test_what_is_read_of_a_record_that_goes_on_and_on_are_no_records(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    block = b'1,"a\n' + b"2,b\n" * 99 + b'"\n3,c\n'
    monkeypatch.setattr("tidemark.formats.csv._LARGE", len(block) - 1)

    found = decoded("csv", TABLE, block)

    assert found.rows.rows() == [(1, "a\n" + "2,b\n" * 99), (3, "c")]
    assert (found.slow, found.records) == (2, 102)
    with pytest.raises(DataError, match="f:1  cannot read the record as CSV"):
        decoded("csv", TABLE, block.replace(b'"\n3', b"\n3"))
