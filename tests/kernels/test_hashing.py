"""Hashes made by workers are those that Spark makes: rows find their keys either way."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal

import pyarrow as pa
import pytest

from tidemark.kernels.hashing import can_hash, xxhash64

DAY = dt.datetime(2024, 2, 29, 23, 59, 59, 999999)


def strings(count: int) -> list[str | None]:
    """Of every length around the sizes that are hashed at a time, in one and more bytes."""
    chance = random.Random(7)
    letters = "abcXYZ 09é漢🌊"
    made = ["".join(chance.choices(letters, k=n % 75)) for n in range(count)]
    return [None, "", *made, "\0", "x" * 1000]


COLUMNS = {
    "BOOLEAN": (pa.bool_(), [True, False, None]),
    "TINYINT": (pa.int8(), [0, -1, 127, -128, None]),
    "SMALLINT": (pa.int16(), [0, -1, 32767, -32768, None]),
    "INT": (pa.int32(), [0, 1, -1, 2**31 - 1, -(2**31), None]),
    "BIGINT": (pa.int64(), [0, 1, -1, 2**63 - 1, -(2**63), None]),
    "FLOAT": (pa.float32(), [0.0, -0.0, 1.5, float("nan"), float("-inf"), None]),
    "DOUBLE": (pa.float64(), [0.0, -0.0, 1e300, float("nan"), float("inf"), None]),
    "DECIMAL(10, 2)": (pa.decimal128(10, 2), [Decimal("0.00"), Decimal("-1.25"), None]),
    "DECIMAL(18, 0)": (pa.decimal128(18, 0), [Decimal(10**18 - 1), Decimal(1 - 10**18), None]),
    "DATE": (pa.date32(), [dt.date(1969, 12, 31), dt.date(2024, 2, 29), None]),
    "TIMESTAMP_NTZ": (pa.timestamp("us"), [DAY, dt.datetime(1960, 1, 1), None]),
    "TIMESTAMP": (pa.timestamp("us", "UTC"), [DAY.replace(tzinfo=dt.UTC), None]),
    "INTERVAL DAY TO SECOND": (pa.duration("us"), [dt.timedelta(days=-1, microseconds=1), None]),
    "STRING": (pa.string(), strings(300)),
    "BINARY": (pa.binary(), [None, b"", b"\x00", bytes(range(256)), b"12345678", b"1234567"]),
}


@pytest.mark.spark
def test_workers_hash_as_spark_does(spark):
    from pyspark.sql.functions import xxhash64 as in_spark

    for name, (type_, values) in COLUMNS.items():
        table = pa.table({"v": pa.array(values, type_)})
        frame = spark.createDataFrame(table, f"v {name}")
        [theirs] = frame.select(in_spark("v").alias("h")).toArrow().to_pydict().values()
        assert xxhash64([table["v"].combine_chunks()]).tolist() == theirs, name


@pytest.mark.spark
def test_keys_of_several_columns_hash_as_in_spark(spark):
    from pyspark.sql.functions import xxhash64 as in_spark

    chance = random.Random(11)
    columns = {
        name: pa.array(chance.choices(values, k=500), type_)
        for name, (type_, values) in COLUMNS.items()
    }
    table = pa.table(columns).rename_columns([f"c{n}" for n in range(len(columns))])
    types = ", ".join(f"c{n} {name}" for n, name in enumerate(columns))
    frame = spark.createDataFrame(table, types)
    [theirs] = frame.select(in_spark(*frame.columns).alias("h")).toArrow().to_pydict().values()
    # A slice starts in the midst of its buffers.
    ours = xxhash64([column.combine_chunks().slice(3) for column in table.columns])
    assert ours.tolist() == theirs[3:]


@pytest.mark.parametrize("count", [0, 1, 3, 500])
def test_hash_of_a_row_does_not_depend_on_the_other_rows(count):
    chance = random.Random(count)
    types = chance.sample([*COLUMNS.values()], 6)
    columns = [
        pa.array([chance.choice(values)] * count, type_)
        if same
        else pa.array(chance.choices(values, k=count), type_)
        for same, (type_, values) in zip((True, True, False, True, False, True), types, strict=True)
    ]

    alone = [xxhash64([column.slice(row, 1) for column in columns]) for row in range(count)]
    assert xxhash64(columns).tolist() == [int(hash_) for [hash_] in alone]


def test_rows_that_are_the_same_have_one_hash():
    day, number = pa.array(["2024-05-01"] * 3), pa.array([7, 7, 7])
    once = xxhash64([day.slice(0, 1), number.slice(0, 1)]).tolist()
    assert xxhash64([day, number]).tolist() == once * 3


def test_known_hashes():
    assert xxhash64([pa.array(["Spark"])]).tolist() != xxhash64([pa.array(["spark"])]).tolist()
    assert xxhash64([pa.array([None], pa.int32())]).tolist() == [42]


@pytest.mark.parametrize(
    "type_", [pa.list_(pa.int32()), pa.decimal128(38, 2), pa.struct([("a", pa.int32())])]
)
def test_some_types_are_left_to_spark(type_):
    assert not can_hash(type_)
