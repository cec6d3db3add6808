"""Which casts exist, and what they write; no Spark needed."""

import pytest

from tidemark import types as t
from tidemark.errors import NotSupported
from tidemark.functions.casts import can_cast, can_cast_implicitly, refusal_hint, write_cast

KINDS = {
    "CHAR": t.Char(3),
    "STRING": t.STRING,
    "BOOLEAN": t.Boolean(),
    "BINARY": t.Binary(3),
    "BYTES": t.BYTES,
    "DECIMAL": t.Decimal(10, 2),
    "TINYINT": t.TinyInt(),
    "SMALLINT": t.SmallInt(),
    "INT": t.Int(),
    "BIGINT": t.BigInt(),
    "FLOAT": t.Float(),
    "DOUBLE": t.Double(),
    "DATE": t.Date(),
    "TIME": t.Time(0),
    "TIMESTAMP": t.Timestamp(3),
    "LTZ": t.TimestampLtz(3),
    "DAYS": t.DayTimeInterval(),
    "MONTHS": t.YearMonthInterval(),
}
NUMBERS = "DECIMAL TINYINT SMALLINT INT BIGINT FLOAT DOUBLE"

# What Flink 2.3 was seen to accept in CAST (numbers to single-unit intervals are left out).
EXPLICIT = {
    "CHAR": f"CHAR STRING BOOLEAN BINARY BYTES {NUMBERS} DATE TIME TIMESTAMP LTZ",
    "STRING": f"CHAR STRING BOOLEAN BINARY BYTES {NUMBERS} DATE TIME TIMESTAMP LTZ",
    "BOOLEAN": f"CHAR STRING BOOLEAN {NUMBERS}",
    "BINARY": "CHAR STRING BINARY BYTES",
    "BYTES": "CHAR STRING BINARY BYTES",
    **dict.fromkeys(NUMBERS.split(), f"CHAR STRING BOOLEAN {NUMBERS}"),
    "DATE": "CHAR STRING DATE TIMESTAMP LTZ",
    "TIME": "CHAR STRING TIME TIMESTAMP LTZ",
    "TIMESTAMP": "CHAR STRING DATE TIME TIMESTAMP LTZ",
    "LTZ": "CHAR STRING DATE TIME TIMESTAMP LTZ",
    "DAYS": "CHAR STRING DAYS",
    "MONTHS": "CHAR STRING MONTHS",
}

# LogicalTypeCasts.supportsImplicitCast of Flink 2.3.
IMPLICIT = {
    "CHAR": "CHAR STRING",
    "STRING": "STRING",
    "BOOLEAN": "BOOLEAN",
    "BINARY": "BINARY BYTES",
    "BYTES": "BYTES",
    "DECIMAL": "DECIMAL FLOAT DOUBLE",
    "TINYINT": "DECIMAL TINYINT SMALLINT INT BIGINT FLOAT DOUBLE",
    "SMALLINT": "DECIMAL SMALLINT INT BIGINT FLOAT DOUBLE",
    "INT": "DECIMAL INT BIGINT FLOAT DOUBLE",
    "BIGINT": "DECIMAL BIGINT FLOAT DOUBLE",
    "FLOAT": "DECIMAL FLOAT DOUBLE",
    "DOUBLE": "DECIMAL DOUBLE",
    "DATE": "DATE",
    "TIME": "TIME",
    "TIMESTAMP": "DATE TIME TIMESTAMP LTZ",
    "LTZ": "TIMESTAMP LTZ",
    "DAYS": "DAYS",
    "MONTHS": "MONTHS",
}


@pytest.mark.parametrize("source", KINDS)
def test_cast_exists_for_exactly_the_pairs_that_flink_casts(source):
    accepted = {target for target in KINDS if can_cast(KINDS[source], KINDS[target])}

    assert accepted == set(EXPLICIT[source].split())


@pytest.mark.parametrize("source", KINDS)
def test_implicit_conversions_are_exactly_flinks(source):
    accepted = {target for target in KINDS if can_cast_implicitly(KINDS[source], KINDS[target])}

    assert accepted == set(IMPLICIT[source].split())


@pytest.mark.parametrize("source", KINDS)
def test_every_cast_that_exists_can_be_written(source):
    for target in EXPLICIT[source].split():
        for safe in (False, True):
            assert "x" in write_cast("x", KINDS[source], KINDS[target], safe=safe, zone="UTC")


def test_collections_are_cast_part_by_part():
    rows = t.Row((t.Field("a", t.Int()), t.Field("b", t.STRING)))

    assert can_cast(t.Array(t.Int()), t.Array(t.STRING))
    assert not can_cast(t.Array(t.Int()), t.Array(t.Date()))
    assert not can_cast(rows, t.Row((t.Field("a", t.Int()),)))
    assert can_cast(rows, t.STRING)
    assert not can_cast(t.STRING, t.Array(t.STRING))
    assert can_cast_implicitly(t.Array(t.Int()), t.Array(t.BigInt()))
    assert not can_cast_implicitly(t.Array(t.BigInt()), t.Array(t.Int()))


def test_null_becomes_anything():
    assert can_cast(t.Null(), t.Array(t.Int())) and can_cast_implicitly(t.Null(), t.Date())
    assert write_cast("NULL", t.Null(), t.Date(), safe=False, zone="UTC") == "CAST(NULL AS DATE)"


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (t.Int(), t.Int(nullable=False)),
        (t.VarChar(3), t.VarChar(5)),
        (t.Char(3), t.STRING),
        (t.Timestamp(3), t.Timestamp(6)),
        (t.Binary(2), t.BYTES),
        (t.Array(t.Char(2)), t.Array(t.STRING)),
        (t.Map(t.Char(1), t.VarChar(1)), t.Map(t.STRING, t.STRING)),
        (t.DayTimeInterval("DAY", "DAY"), t.DayTimeInterval()),
    ],
    ids=str,
)
def test_a_cast_that_changes_nothing_writes_nothing(source, target):
    assert write_cast("x", source, target, safe=False, zone="UTC") == "x"


def test_a_long_operand_is_not_repeated():
    operand = "f(" + "x" * 200 + ")"

    written = write_cast(operand, t.STRING, t.Int(), safe=False, zone="UTC")

    assert written.count(operand) == 1
    assert len(write_cast(written, t.Int(), t.STRING, safe=False, zone="UTC")) < 2 * len(written)


def test_nested_collections_name_their_elements_apart():
    nested = t.Array(t.Array(t.Int()))

    written = write_cast("x", nested, t.Array(t.Array(t.STRING)), safe=False, zone="UTC")

    assert written == (
        "transform(x, _tm_e2 -> transform(_tm_e2, _tm_e1 -> CAST(_tm_e1 AS STRING)))"
    )


def test_nanoseconds_are_refused_by_name():
    with pytest.raises(NotSupported, match=r"TIMESTAMP\(9\)"):
        write_cast("x", t.STRING, t.Timestamp(9), safe=False, zone="UTC")


def test_a_refused_cast_says_what_to_write_instead():
    assert "TO_TIMESTAMP_LTZ" in (refusal_hint(t.BigInt(), t.TimestampLtz(3)) or "")
    assert refusal_hint(t.Int(), t.STRING) is None
