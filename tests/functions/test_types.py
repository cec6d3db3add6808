"""Types across the borders: Flink to Spark to Flink, Flink to Arrow to Flink."""

import pytest

from tidemark import types as t
from tidemark.errors import NotSupported
from tidemark.functions.arrow_types import from_arrow, to_arrow
from tidemark.spark.types import from_spark, spark_type, to_spark

EXACT = [
    t.Boolean(),
    t.TinyInt(),
    t.SmallInt(),
    t.Int(),
    t.BigInt(),
    t.Float(),
    t.Double(),
    t.Decimal(1, 0),
    t.Decimal(38, 38),
    t.STRING,
    t.BYTES,
    t.Date(),
    t.Time(6),
    t.Timestamp(6),
    t.TimestampLtz(6),
    t.DayTimeInterval(),
    t.YearMonthInterval(),
]

NESTED = [
    t.Array(t.Int(nullable=False)),
    t.Array(t.Array(t.Decimal(10, 2))),
    t.Map(t.VarChar(nullable=False), t.Timestamp(6, nullable=False)),
    t.Row((t.Field("a", t.Int(nullable=False)), t.Field("b", t.Array(t.STRING)))),
    t.Array(t.Row((t.Field("m", t.Map(t.BigInt(nullable=False), t.Double())),), nullable=False)),
]


@pytest.mark.parametrize("nullable", [True, False])
@pytest.mark.parametrize("type_", [*EXACT, *NESTED], ids=str)
def test_a_type_survives_a_round_trip_through_spark(type_, nullable):
    wanted = type_.with_nullable(nullable)

    assert from_spark(to_spark(wanted), nullable=nullable) == wanted


@pytest.mark.parametrize("nullable", [True, False])
@pytest.mark.parametrize("type_", [*EXACT, *NESTED], ids=str)
def test_a_type_survives_a_round_trip_through_arrow(type_, nullable):
    wanted = type_.with_nullable(nullable)

    assert from_arrow(to_arrow(wanted), nullable=nullable) == wanted


@pytest.mark.parametrize(
    ("flink", "spelling"),
    [
        (t.Char(3), "STRING"),
        (t.VarChar(3), "STRING"),
        (t.Binary(3), "BINARY"),
        (t.Time(0), "TIME(6)"),
        (t.Timestamp(3), "TIMESTAMP_NTZ"),
        (t.TimestampLtz(3), "TIMESTAMP"),
        (t.Decimal(5, 2), "DECIMAL(5, 2)"),
        (t.DayTimeInterval("DAY", "DAY"), "INTERVAL DAY TO SECOND"),
        (t.YearMonthInterval("MONTH", "MONTH"), "INTERVAL YEAR TO MONTH"),
        (t.Multiset(t.STRING), "MAP<STRING, INT>"),
        (
            t.Row((t.Field("a", t.Int()), t.Field("b c", t.STRING))),
            "STRUCT<`a`: INT, `_tm_1`: STRING>",
        ),
    ],
    ids=str,
)
def test_every_type_has_a_spark_spelling(flink, spelling):
    assert spark_type(flink) == spelling


@pytest.mark.parametrize("type_", [*EXACT, *NESTED, t.Multiset(t.Int()), t.Char(2)], ids=str)
def test_the_spelling_and_the_type_of_spark_are_the_same(type_):

    plain = to_spark(type_).simpleString().upper()

    assert plain == spark_type(type_).replace(", ", ",").replace(": ", ":").replace("`", "").upper()


def test_a_multiset_is_a_map_of_counts():
    assert from_spark(to_spark(t.Multiset(t.Date(nullable=False)))) == t.Map(
        t.Date(nullable=False), t.Int(nullable=False)
    )


@pytest.mark.parametrize("type_", [t.Timestamp(9), t.TimestampLtz(7), t.Array(t.Time(9))], ids=str)
def test_nanoseconds_are_refused_by_name(type_):
    inner = type_.element if isinstance(type_, t.Array) else type_

    for convert in (spark_type, to_spark, to_arrow):
        with pytest.raises(NotSupported) as refused:
            convert(type_)
        assert inner.text() in refused.value.message


def test_a_type_of_sparks_own_is_refused_by_name():
    from pyspark.sql.types import VariantType

    with pytest.raises(NotSupported, match="variant"):
        from_spark(VariantType())


def test_arrow_columns_made_elsewhere_are_read_too():
    import pyarrow as pa

    assert from_arrow(pa.dictionary(pa.int32(), pa.large_string())) == t.STRING
    assert from_arrow(pa.uint64()) == t.Decimal(20, 0)
    assert from_arrow(pa.timestamp("ms", tz="Europe/Berlin")) == t.TimestampLtz(3)
    assert from_arrow(pa.list_(pa.field("x", pa.int8(), nullable=False))) == t.Array(
        t.TinyInt(nullable=False)
    )
    with pytest.raises(NotSupported, match="date64"):
        from_arrow(pa.date64())
