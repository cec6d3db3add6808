"""The spellings of types."""

from __future__ import annotations

import pytest

from tidemark import types as t
from tidemark.dialect import parse_type


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("int", t.Int()),
        ("INTEGER not null", t.Int(nullable=False)),
        ("BIGINT NULL", t.BigInt()),
        ("DEC", t.Decimal(10, 0)),
        ("NUMERIC(5)", t.Decimal(5, 0)),
        ("DECIMAL(38, 38)", t.Decimal(38, 38)),
        ("DOUBLE PRECISION", t.Double()),
        ("FLOAT", t.Float()),
        ("CHAR", t.Char(1)),
        ("CHARACTER(3)", t.Char(3)),
        ("CHARACTER VARYING(3)", t.VarChar(3)),
        ("VARCHAR", t.STRING),
        ("VARCHAR(3) CHARACTER SET `UTF-16LE` NOT NULL", t.VarChar(3, nullable=False)),
        ("CHAR CHARACTER SET utf8", t.Char(1)),
        ("STRING", t.STRING),
        ("BINARY", t.Binary(1)),
        ("VARBINARY(3)", t.VarBinary(3)),
        ("BINARY VARYING", t.BYTES),
        ("BYTES", t.BYTES),
        ("DATE", t.Date()),
        ("TIME", t.Time(0)),
        ("TIME(3) WITHOUT TIME ZONE", t.Time(3)),
        ("TIMESTAMP", t.Timestamp(6)),
        ("TIMESTAMP(3) WITHOUT TIME ZONE", t.Timestamp(3)),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", t.TimestampLtz(3)),
        ("TIMESTAMP_LTZ(9)", t.TimestampLtz(9)),
        ("INTERVAL DAY(2) TO SECOND(3)", t.DayTimeInterval()),
        ("INTERVAL MINUTES", t.DayTimeInterval(first="MINUTE", last="MINUTE")),
        ("INTERVAL YEAR TO MONTH", t.YearMonthInterval()),
        ("ARRAY<INT NOT NULL>", t.Array(t.Int(nullable=False))),
        ("INT ARRAY", t.Array(t.Int())),
        ("INT NOT NULL ARRAY NOT NULL", t.Array(t.Int(nullable=False), nullable=False)),
        ("MULTISET<INT>", t.Multiset(t.Int())),
        ("INT MULTISET", t.Multiset(t.Int())),
        ("MAP<STRING, ARRAY<INT>>", t.Map(t.STRING, t.Array(t.Int()))),
        ("ROW<a INT 'c'>", t.Row((t.Field("a", t.Int(), "c"),))),
        ("ROW(`a b` INT)", t.Row((t.Field("a b", t.Int()),))),
        ("ROW<>", t.Row()),
        ("ARRAY<ROW<>>", t.Array(t.Row())),
    ],
)
def test_types_are_read_and_print_back(text, type_):
    assert parse_type(text) == type_
    assert parse_type(str(type_)) == type_
