"""JSON records as columns. Expected values were confirmed on Flink 2.3 unless a test says else."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from tests.formats.examples import ALWAYS, NEVER, decoded, rows
from tests.formats.hostile import BEFORE, COLUMNS, READ, REFUSED
from tidemark.errors import DataError
from tidemark.formats.json_trees import tree_text

IGNORE = {"json__ignore_parse_errors": "true"}
STAMP = dt.datetime(2024, 1, 1, 10)
MS = dt.timedelta(milliseconds=1)
UTC = dt.UTC

# A type, the option that spells its times, and values: JSON -> the value, NULL if it is not one.
VALUES: dict[str, dict[str, Any]] = {
    "INT": {
        "1": 1, "-0": 0, "1.9": 1, "-1.5": -1, "1e2": 100, '" 2 "': 2, '"+3"': 3, '"x"': None,
        "2147483647": 2147483647, "2147483648": None, "2147483647.9": None, "-2147483648.9": None, '""': None, "true": None, "[1]": None, "1e400": None,
    },
    "BIGINT": {"-9223372036854775808": -(2**63), "9223372036854775808": None, "1.5": 1, "9007199254740993.0": 9007199254740992},
    "TINYINT": {"1": 1, "128": None, "1.5": None, '"12"': 12},
    "DECIMAL(10, 2)": {
        "1.005": Decimal("1.01"), "-1.005": Decimal("-1.01"), '"9.999"': Decimal("10.00"), "1e2": Decimal("100.00"),
        "99999999.994": Decimal("99999999.99"), "99999999.995": None, "123456789.0": None, '"x"': None, '"1."': Decimal("1.00"),
        "0.0049999999999999999999999": Decimal("0.00"),
    },
    "DECIMAL(38, 9)": {"12345678901234567890.123456789": Decimal("12345678901234567890.123456789")},
    "DOUBLE": {"1": 1.0, "-0.0": -0.0, "1e400": float("inf"), '"1.5"': 1.5, '"1.5d"': 1.5, '"-Infinity"': -float("inf"), '"inf"': None, '"nan"': None, '"x"': None},
    "FLOAT": {"0.1": 0.10000000149011612, "16777217": 16777216.0, "1.00000017881393432617187499": 1.0000001192092896},
    "STRING": {
        "1.50": "1.50", "1e2": "1e2", "true": "true", '"a\\u0041"': "aA", "null": None, '{"a":1}': '{"a":1}', "[1,2]": "[1,2]",
        '"\\ud83d\\ude00"': "😀", '"\\ud800x"': "?x", '"é\t"': "é\t", '""': "",
    },
    "BOOLEAN": {"true": True, '" TRUE "': True, "1": False, '"yes"': False, "null": None},
    "TIMESTAMP(3)": {
        '"2024-01-01 10:00:00"': STAMP, '"2024-01-01 10:00:00.1239"': STAMP + 123 * MS, '"2024-01-01 10:00:00.1"': STAMP + 100 * MS,
        '"2024-01-01T10:00:00"': None, '"2024-01-01 10:00"': None, "1": None, '"2024-02-32 10:00:00"': None,
        '"2024-01-01 10:00:60"': None, '"2024-01-01 10:00:00Z"': None, '"0001-01-01 00:00:00"': dt.datetime(1, 1, 1),
    },
    "TIMESTAMP(6)": {'"2024-01-01 10:00:00.123456"': STAMP + 123.456 * MS, '"2024-01-01 10:00:00.123456789"': STAMP + 123.456 * MS},
    "TIMESTAMP_LTZ(3)": {
        '"2024-01-01 10:00:00.5Z"': (STAMP + 500 * MS).replace(tzinfo=UTC), '"2024-01-01 10:00:00"': None, '"2024-01-01T10:00:00Z"': None,
    },
    "DATE": {'"2024-02-29"': dt.date(2024, 2, 29), '"2024-1-1"': None, '"2023-02-29"': None, "1": None},
    "TIME(3)": {'"10:00:00.1234"': dt.time(10, 0, 0, 123000), '"24:00:00"': dt.time(0), '"10:00"': None, '"25:00:00"': None},
    "BYTES": {'"aGVsbG8="': b"hello", '" aGVs bG8="': b"hello", '"aGVsbG8"': None, '"aGVs=bG8="': None, '""': b"", '"%%"': None, '"a"': None},
    "ARRAY<INT>": {"[1, \"x\", null]": [1, None, None], "[]": [], "3": None, "null": None},
    "ROW<a INT, b ROW<c STRING>>": {
        '{"a":1,"b":{"c":"x"}}': {"a": 1, "b": {"c": "x"}}, '{"b":null}': {"a": None, "b": None}, "3": None, '{"a":"x","b":2}': {"a": None, "b": None},
    },
    "MAP<STRING, INT>": {'{"p":"x","q":1}': {"p": None, "q": 1}, "[]": None},
    "MULTISET<STRING>": {'{"p":2}': {"p": 2}},
}  # fmt: skip


@pytest.mark.parametrize("few", [ALWAYS, NEVER], ids=("quick", "exact"))
@pytest.mark.parametrize("type_", VALUES)
def test_values_are_those_of_flink(type_: str, few: int) -> None:
    values = VALUES[type_]
    block = "".join(f'{{"v": {value}}}\n' for value in values).encode()

    found = rows("json", f"v {type_}", block, few=few, **IGNORE)

    assert dict(zip(values, (row[0] for row in found), strict=True)) == values


@pytest.mark.parametrize("few", [ALWAYS, NEVER], ids=("quick", "exact"))
@pytest.mark.parametrize("type_", ["INT", "BIGINT", "ROW<a INT>"])
def test_a_number_in_quotes_is_not_truncated(type_: str, few: int) -> None:
    row = type_.startswith("ROW")
    values = ["1.9", '"1.9"', '"1e2"', "1e2", '"7"', "null"]
    written = [f'{{"a":{value}}}' if row else value for value in values]
    block = "".join(f'{{"v": {value}}}\n' for value in written).encode()

    found = [value for (value,) in rows("json", f"v {type_}", block, few=few, **IGNORE)]

    assert [each["a"] if row else each for each in found] == [1, None, None, 100, 7, None]
    with pytest.raises(DataError, match=r"f:2  cannot read `v` as"):
        rows("json", f"v {type_}", block, few=few)


# A string, and whether the option of times is ISO-8601: as TIMESTAMP(3), and as TIMESTAMP_LTZ(3).
LENIENT: dict[tuple[str, bool], tuple[str | None, str | None]] = {
    ("2024-02-30 10:00:00", False): ("2024-02-29 10:00", "2024-02-29 10:00"),
    ("2023-04-31 10:00:00", False): ("2023-04-30 10:00", "2023-04-30 10:00"),
    ("2024-12-31 24:00:00", False): ("2025-01-01 00:00", "2025-01-01 00:00"),
    ("2024-01-01 24:00:00.0", False): ("2024-01-02 00:00", "2024-01-02 00:00"),
    ("2024-01-01 24:00:00.5", False): (None, None),
    ("2024-01-01 10:00:00.", False): ("2024-01-01 10:00", "2024-01-01 10:00"),
    ("2024-02-30T10:00:00", True): (None, "2024-02-29 10:00"),
    ("2024-01-01T24:00", True): (None, "2024-01-02 00:00"),
    ("2024-01-01T10:00", True): ("2024-01-01 10:00", "2024-01-01 10:00"),
    ("2024-01-01t10:00:00", True): ("2024-01-01 10:00", "2024-01-01 10:00"),
}


@pytest.mark.parametrize("few", [ALWAYS, NEVER], ids=("quick", "exact"))
@pytest.mark.parametrize(("text", "iso"), LENIENT)
def test_days_and_hours_are_as_lenient_as_java(text: str, iso: bool, few: int) -> None:
    options = {**IGNORE, "json__timestamp_format__standard": "ISO-8601" if iso else "SQL"}
    block = f'{{"a":"{text}","b":"{text}Z"}}\n'.encode()

    ((a, b),) = rows("json", "a TIMESTAMP(3), b TIMESTAMP_LTZ(3)", block, few=few, **options)

    shown = tuple(None if each is None else f"{each:%Y-%m-%d %H:%M}" for each in (a, b))
    assert shown == LENIENT[text, iso]


@pytest.mark.parametrize("few", [ALWAYS, NEVER], ids=("quick", "exact"))
def test_objects_as_strings_are_written_by_flink(few: int) -> None:
    block = b"""{"v":[1, "a b",{ } , null]}
{"v":{"a":1,"b":true, "a":2}}
{"v":{"x":1.50,"y":1e5,"z":-0,"t":1e-7,"u":1e400,"w":-0.0, "n":12345678901234567890123}}
{"v":{"s":"\\u0041\\/\\n\\u0001\xc3\xa9\\ud83d\\ude00\\ud800 b"}}
"""
    shared = ['[1,"a b",{},null]', '{"a":2,"b":true}']
    string = '{"s":"A/\\n\\u0001é😀? b"}'
    doubles = '{"x":1.5,"y":100000.0,"z":0,"t":1.0E-7,"u":"Infinity","w":-0.0,"n":12345678901234567890123}'
    exact = '{"x":1.5,"y":1E+5,"z":0,"t":1E-7,"u":1E+400,"w":0,"n":12345678901234567890123}'

    found = rows("json", "v STRING", block, few=few)
    assert [row[0] for row in found] == [*shared, doubles, string]
    # A DECIMAL anywhere in the table keeps all numbers exact.
    found = rows("json", "v STRING, r ROW<d ARRAY<DECIMAL(5, 2)>>", block, few=few)
    assert [row[0] for row in found] == [*shared, exact, string]


@pytest.mark.parametrize("few", [ALWAYS, NEVER], ids=("quick", "exact"))
def test_iso_times_have_a_t(few: int) -> None:
    block = b'{"v":"2024-01-01T10:00:00"}\n{"v":"2024-01-01 10:00:00"}\n'
    options = {**IGNORE, "json__timestamp_format__standard": "ISO-8601"}

    assert rows("json", "v TIMESTAMP(3)", block, few=few, **options) == [(STAMP,), (None,)]


@pytest.mark.parametrize("options", [{}, IGNORE], ids=("failing", "ignoring"))
@pytest.mark.parametrize("name", READ)
def test_unusual_files_are_read(name: str, options: dict[str, str]) -> None:
    content, expected = READ[name]

    assert [row[0] for row in rows("json", COLUMNS, content, **options)] == expected


@pytest.mark.parametrize("name", REFUSED)
def test_a_record_is_refused_with_its_place_and_the_reason(name: str) -> None:
    record, reason = REFUSED[name]

    with pytest.raises(DataError) as caught:
        rows("json", COLUMNS, BEFORE + record + b"\n" + BEFORE)

    assert caught.value.message == "f:2  cannot read the record as JSON"
    assert reason in str(caught.value.notes["why"])
    assert caught.value.hint == "'json.ignore-parse-errors' = 'true' skips such records"
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("name", [name for name in REFUSED if name != "a number for a row"])
def test_a_refused_record_is_left_out_and_counted_if_errors_are_ignored(name: str) -> None:
    found = decoded("json", COLUMNS, REFUSED[name][0] + b"\n" + BEFORE, **IGNORE)

    assert found.rows["a"].to_list() == [1]
    assert found.record.to_list() == [2]
    assert (found.skipped, found.records) == (1, 2)


def test_a_bad_value_names_file_record_value_and_option() -> None:
    with pytest.raises(DataError) as caught:
        rows(
            "json",
            "id INT, seen TIMESTAMP(3)",
            b'{"id":1}\n{"id":2,"seen":"2024-01-01T10:00:00"}\n',
        )

    assert caught.value.message == "f:2  cannot read `seen` as TIMESTAMP(3)"
    assert caught.value.notes == {
        "why": "the value is not a valid TIMESTAMP(3)",
        "value": "'2024-01-01T10:00:00'",
        "record": '{"id":2,"seen":"2024-01-01T10:00:00"}',
    }
    assert caught.value.hint == "'json.timestamp-format.standard' = 'ISO-8601' reads times with a T"


def test_the_first_bad_record_is_reported() -> None:
    block = b'{"v":1}\n' * 100 + b'{"v":"x"}\nbroken\n'

    with pytest.raises(DataError, match=r"f:101  cannot read `v` as INT"):
        rows("json", "v INT", block)


def test_a_bad_value_inside_a_row_names_its_own_type() -> None:
    with pytest.raises(DataError, match=r"f:1  cannot read `r` as INT"):
        rows("json", "r ROW<a ARRAY<INT>>", b'{"r":{"a":["x"]}}')


@pytest.mark.parametrize("few", [ALWAYS, NEVER], ids=("quick", "exact"))
def test_a_missing_field_is_an_error_if_the_option_is_set(few: int) -> None:
    options = {"json__fail_on_missing_field": "true"}

    assert (
        rows("json", "v INT, s STRING", b'{"v":1,"s":null}\n' * 2, few=few, **options)
        == [(1, None)] * 2
    )
    with pytest.raises(DataError, match=r"f:2  missing field `s` in the record"):
        rows("json", "v INT, s STRING", b'{"v":1,"s":null}\n{"v":1}\n', few=few, **options)


@pytest.mark.parametrize("few", [ALWAYS, NEVER], ids=("quick", "exact"))
@pytest.mark.parametrize(
    ("bad", "field"),
    [('{"r":{"i":1}}', "a"), ('{"a":[{}],"r":null}', "i"), ('{"a":[],"r":{"j":2}}', "i")],
)
def test_a_field_missing_inside_a_row_is_an_error_too(few: int, bad: str, field: str) -> None:
    options = {"json__fail_on_missing_field": "true"}
    columns = "a ARRAY<ROW<i INT>>, r ROW<i INT>"
    good = b'{"a":[{"i":null}],"r":null}\n' * 40

    assert rows("json", columns, good, few=few, **options)
    with pytest.raises(DataError, match=rf"f:41  missing field `{field}` in the record"):
        rows("json", columns, good + bad.encode(), few=few, **options)


def test_fields_are_found_by_their_exact_names() -> None:
    block = (
        '{"x.y `q\'": 1, "A": 2, "é z": 3, "_metadata": 4, "unknown": {"v": [5]}}\n'.encode() * 40
    )

    assert (
        rows("json", "`x.y ``q'` INT, a INT, `é z` INT, `_metadata` INT", block)
        == [(1, None, 3, 4)] * 40
    )


def test_rows_keep_the_order_of_their_records() -> None:
    records = [
        '{"v":1}',
        '[{"v":2},{"v":3}]',
        '{ "v" : 4 }',
        '{"w":0,"v":5}',
        "",
        '{"v":"6"}',
        '{"v":7.5}',
        "{}",
    ]

    found = decoded("json", "v INT", "\n".join(records).encode())

    assert found.rows["v"].to_list() == [1, 2, 3, 4, 5, 6, 7, None]
    assert found.record.to_list() == [1, 2, 2, 3, 4, 6, 7, 8]
    assert found.records == 8


def test_records_may_come_as_an_array_of_bytes() -> None:
    values = pa.array([b'{"v":1}', None, b'{"v":\n2}', b"", b'{"v":3}'], pa.binary())

    found = decoded("json", "v INT", values)

    assert found.rows["v"].to_list() == [1, 2, 3]
    assert found.record.to_list() == [1, 3, 5]


@pytest.mark.parametrize("block", [b"", b"\n\n", pa.array([], pa.binary())])
def test_a_block_without_records_has_columns_of_the_right_types(block: Any) -> None:
    found = decoded("json", "a INT, b ROW<`x y` TIMESTAMP_LTZ(3)>, c DECIMAL(5, 1)", block)

    assert found.rows.schema == {
        "a": pl.Int32(), "b": pl.Struct({"_tm_0": pl.Datetime("us", "UTC")}), "c": pl.Decimal(5, 1),
    }  # fmt: skip
    assert found.rows.height == found.record.len() == 0


@pytest.mark.parametrize("decimals", [False, True])
def test_numbers_of_objects_in_strings_are_written_alike_whatever_is_beside_them(decimals):
    chance = random.Random(5)
    numbers = ["0.0", "0.5", "1.50", "0.001", "0.00099", "9999999.5", "10000000.0", "-0.5", "1e3"]
    for _ in range(3000):
        fraction = "".join(chance.choices("0123456789", k=chance.randint(1, 10)))
        numbers.append(f"{chance.randrange(10 ** chance.randint(1, 9))}.{fraction}")

    for number in numbers:
        # What is escaped is not written the quick way.
        slow = tree_text(f'{{"a":"\\u0041","n":{number}}}', decimals=decimals)
        assert tree_text(f'{{"a":"A","n":{number}}}', decimals=decimals) == slow
