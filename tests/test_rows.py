"""Values as JSON, as Flink's `print` writes them, and as cells of a table.

The lines of `PRINTED` and `CELLS` were confirmed on Flink 2.3.0 (print connector and
`TableResult.print`), session zone Asia/Tokyo.
"""

from __future__ import annotations

import json
import struct
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark import types as t
from tidemark.plan.nodes import Column
from tidemark.rows import Change, cell_text, flink_text, json_row, print_text, shortest_float

TOKYO = timezone(timedelta(hours=9))
PAIR = t.Row((t.Field("a", t.Int()), t.Field("b", t.STRING)))
NESTED = t.Row((t.Field("c", t.Timestamp(3)), t.Field("d", t.BYTES)))


def float32(value: float) -> float:
    return struct.unpack("f", struct.pack("f", value))[0]


PRINTED = [
    (t.Boolean(), True, "true"),
    (t.TinyInt(), 1, "1"),
    (t.Decimal(10, 3), Decimal("1.500"), "1.500"),
    (t.Decimal(38, 18), Decimal("0E-18"), "0E-18"),
    (t.Decimal(38, 18), Decimal("0.000000000000000001"), "1E-18"),
    (t.Decimal(20, 10), Decimal("0.0000000001"), "1E-10"),
    (t.Decimal(20, 0), Decimal("100000000000"), "100000000000"),
    (t.Double(), 1.0, "1.0"),
    (t.Double(), 1e7, "1.0E7"),
    (t.Double(), 12345678.5, "1.23456785E7"),
    (t.Double(), 0.001, "0.001"),
    (t.Double(), 0.0001, "1.0E-4"),
    (t.Double(), 0.1 + 0.2, "0.30000000000000004"),
    (t.Double(), 1.5e300, "1.5E300"),
    (t.Double(), -1e-300, "-1.0E-300"),
    (t.Double(), float("nan"), "NaN"),
    (t.Double(), float("inf"), "Infinity"),
    (t.Double(), float("-inf"), "-Infinity"),
    (t.Double(), 0.0, "0.0"),
    (t.Double(), 2e-323, "2.0E-323"),
    (t.Float(), float32(0.1), "0.1"),
    (t.Float(), float32(1e10), "1.0E10"),
    (t.Float(), 16777216.0, "1.6777216E7"),
    (t.Float(), float32(3.4028235e38), "3.4028235E38"),
    (t.Float(), float32(123456.789), "123456.79"),
    (t.Float(), float32(1.1e-5), "1.1E-5"),
    (t.STRING, 'it\'s "x", ünï\nn', 'it\'s "x", ünï\nn'),
    (t.STRING, None, "null"),
    (t.Char(5), "ab   ", "ab   "),
    (t.BYTES, b"\x00\xffa", "[0, -1, 97]"),
    (t.Binary(3), b"abc", "[97, 98, 99]"),
    (t.BYTES, b"", "[]"),
    (t.Date(), date(2024, 1, 1), "2024-01-01"),
    (t.Date(), date(99, 1, 1), "0099-01-01"),
    (t.Time(), time(10, 11, 12), "10:11:12"),
    (t.Time(3), time(10, 11, 12, 123000), "10:11:12.123"),
    (t.Time(), time(10), "10:00"),
    (t.Timestamp(3), datetime(2024, 1, 1, 0, 0, 1, 123000), "2024-01-01T00:00:01.123"),
    (t.Timestamp(3), datetime(2024, 1, 1), "2024-01-01T00:00"),
    (t.Timestamp(3), datetime(2024, 1, 1, 0, 0, 1), "2024-01-01T00:00:01"),
    (t.Timestamp(3), datetime(2024, 1, 1, 0, 0, 1, 100000), "2024-01-01T00:00:01.100"),
    (t.Timestamp(6), datetime(2024, 1, 1, 0, 0, 1, 100200), "2024-01-01T00:00:01.100200"),
    (t.Timestamp(0), datetime(2024, 1, 1, 10), "2024-01-01T10:00"),
    (
        t.TimestampLtz(3),
        datetime(2024, 1, 1, 9, 0, 1, 123000, TOKYO),
        "2024-01-01T00:00:01.123Z",
    ),
    (t.TimestampLtz(3), datetime(2024, 1, 1, 9, tzinfo=TOKYO), "2024-01-01T00:00:00Z"),
    (t.Array(t.Int()), [1, 2], "[1, 2]"),
    (t.Array(t.STRING), ["a", None], "[a, null]"),
    (t.Array(t.BYTES), [b"\x01\x02"], "[[1, 2]]"),
    (t.Array(t.Double()), [1.0], "[1.0]"),
    (t.Array(t.Array(t.Int())), [[1], [2, 3]], "[[1], [2, 3]]"),
    (t.Map(t.STRING, t.Int()), [("a", 1), ("b", 2)], "{a=1, b=2}"),
    (t.Map(t.STRING, t.Array(t.Int())), {"a": [1]}, "{a=[1]}"),
    (t.Multiset(t.STRING), {"a": 2, "b": 1}, "{a=2, b=1}"),
    (PAIR, {"a": 1, "b": "a"}, "+I[1, a]"),
    (PAIR, (1, "a"), "+I[1, a]"),
    (PAIR, None, "null"),
    (NESTED, {"c": datetime(2024, 1, 1, 0, 0, 1), "d": b"\x01"}, "+I[2024-01-01T00:00:01, [1]]"),
]


@pytest.mark.parametrize(("type_", "value", "text"), PRINTED)
def test_print_writes_what_flink_prints(type_, value, text):
    assert print_text(value, type_) == text


def test_a_printed_change_starts_with_its_kind():
    columns = [Column("id", t.STRING), Column("n", t.Int())]

    assert flink_text(Change("-U", {"id": "x", "n": None}), columns) == "-U[x, null]"


CELLS = [
    (t.BYTES, b"\x00\xffa", "x'00ff61'"),
    (t.Array(t.STRING), ["x", None], "[x, NULL]"),
    (t.Map(t.STRING, t.Int()), {"a": 1}, "{a=1}"),
    (t.Row((*PAIR.fields, t.Field("c", t.Int()))), (1, "a", None), "(1, a, NULL)"),
    (t.Double(), 1e10, "1.0E10"),
    (t.Float(), 5.0, "5.0"),
    (t.Decimal(20, 12), Decimal("1E-12"), "0.000000000001"),
    (
        t.TimestampLtz(3),
        datetime(2024, 1, 1, 9, 0, 1, 123000, TOKYO),
        "2024-01-01 09:00:01.123",
    ),
    (t.Timestamp(0), datetime(2024, 1, 1, 0, 0, 1), "2024-01-01 00:00:01"),
    (t.Timestamp(6), datetime(2024, 1, 1, 0, 0, 1), "2024-01-01 00:00:01.000000"),
    (t.Time(), time(10), "10:00:00"),
    (t.Boolean(), True, "TRUE"),
    (
        t.DayTimeInterval(),
        timedelta(days=1, hours=2, minutes=3, seconds=4, milliseconds=5),
        "+1 02:03:04.005",
    ),
    (t.DayTimeInterval(), -86_400_000, "-1 00:00:00.000"),
    (t.YearMonthInterval(), 14, "+1-02"),
    (t.YearMonthInterval(), -14, "-1-02"),
]


@pytest.mark.parametrize(("type_", "value", "text"), CELLS)
def test_a_cell_shows_the_value_cast_to_string(type_, value, text):
    assert cell_text(value, type_) == text


JSON = [
    (t.Timestamp(3), datetime(2024, 1, 1, 0, 0, 1), "2024-01-01 00:00:01.000"),
    (t.Timestamp(0), datetime(2024, 1, 1, 0, 0, 1), "2024-01-01 00:00:01.000"),
    (t.Timestamp(6), datetime(2024, 1, 1, 0, 0, 1, 5), "2024-01-01 00:00:01.000005"),
    (t.TimestampLtz(3), datetime(2024, 1, 1, 9, 0, 1, 0, TOKYO), "2024-01-01 09:00:01.000"),
    (t.Timestamp(3), datetime(99, 1, 1), "0099-01-01 00:00:00.000"),
    (t.Date(), date(2024, 1, 1), "2024-01-01"),
    (t.Time(), time(10), "10:00:00"),
    (t.Time(3), time(10, 0, 0, 120000), "10:00:00.120"),
    (t.Decimal(10, 3), Decimal("1.500"), "1.500"),
    (t.Decimal(38, 18), Decimal("0E-18"), "0.000000000000000000"),
    (t.BYTES, b"\x00\xff", "AP8="),
    (t.Double(), float("nan"), "NaN"),
    (t.Double(), float("-inf"), "-Infinity"),
    (t.Float(), float32(0.1), 0.1),
    (t.Double(), 1e300, 1e300),
    (t.Boolean(), False, False),
    (t.BigInt(), 2**62, 2**62),
    (PAIR, (1, None), {"a": 1, "b": None}),
    (t.Map(t.Int(), t.Decimal(3, 1)), [(1, Decimal("2.0"))], {"1": "2.0"}),
    (t.Map(t.Boolean(), t.STRING), [(True, None)], {"true": None}),
    (t.Map(t.Date(), t.Int()), [(date(2024, 1, 1), 1)], {"2024-01-01": 1}),
    (t.Multiset(t.STRING), [("a", 2)], {"a": 2}),
    (t.Array(t.Date()), [date(2024, 1, 1), None], ["2024-01-01", None]),
    (t.YearMonthInterval(), 14, "+1-02"),
    (t.STRING, None, None),
]


@pytest.mark.parametrize(("type_", "value", "expected"), JSON)
def test_json_holds_every_value_without_loss(type_, value, expected):
    row = json_row({"c": value}, [Column("c", type_)])

    assert row == {"c": expected}
    assert json.loads(json.dumps(row, allow_nan=False)) == row


def test_json_has_the_columns_in_their_order():
    columns = [Column("b", t.Int()), Column("a", t.Int())]

    assert list(json_row({"a": 1, "b": 2}, columns)) == ["b", "a"]


@given(st.floats(width=32, allow_nan=False))
def test_a_shortened_float_is_the_same_float(value):
    assert float32(float(shortest_float(value))) == value


@given(st.floats(allow_nan=False))
def test_a_printed_double_reads_back_as_the_same_double(value):
    assert float(print_text(value, t.Double()).replace("Infinity", "inf")) == value
