"""Rows out of nothing."""

import datetime as dt
import time

import pytest

from tests.connectors.tables import datagen, read, rows
from tests.connectors.test_filesystem import streamed
from tidemark.errors import PlanError


def sequence(column, start, end):
    return {
        f"fields__{column}__kind": "sequence",
        f"fields__{column}__start": start,
        f"fields__{column}__end": end,
    }


def test_the_shortest_sequence_ends_the_table(spark):
    table = datagen(
        "a INT, b STRING, c DECIMAL(5, 1)",
        **sequence("a", "1", "9"),
        **sequence("b", "7", "9"),
        **sequence("c", "0.5", "9"),
    )

    assert [(a, b, str(c)) for a, b, c in rows(read(spark, table))] == [
        (1, "7", "0.5"),
        (2, "8", "1.5"),
        (3, "9", "2.5"),
    ]


def test_values_lie_within_their_bounds(spark):
    table = datagen(
        "i INT, s SMALLINT, b BIGINT, d DOUBLE, m DECIMAL(10, 2), r ROW<x INT>",
        number_of_rows="500",
        **{f"fields__{c}__min": "-2" for c in ("i", "s", "b", "d", "m", "r__x")},
        **{f"fields__{c}__max": "3" for c in ("i", "s", "b", "d", "m", "r__x")},
    )
    found = rows(read(spark, table))

    assert {row[0] for row in found} == {-2, -1, 0, 1, 2, 3} == {row[5][0] for row in found}
    assert all(-2 <= value <= 3 for row in found for value in row[:5])
    assert len({row[3] for row in found}) == 500


def test_wide_ranges_are_filled_without_overflow(spark):
    low, high = str(-(2**63)), str(2**63 - 2)
    table = datagen("b BIGINT", number_of_rows="200", fields__b__min=low, fields__b__max=high)
    found = [row[0] for row in rows(read(spark, table))]

    assert min(found) < -(2**61) and max(found) > 2**61


def test_texts_have_the_lengths_asked_for(spark):
    table = datagen(
        "s STRING, l STRING, c CHAR(4), v VARCHAR(7), y BYTES, w VARCHAR(9)",
        number_of_rows="50", fields__l__length="300", fields__y__length="5", fields__w__var_len="true",
    )  # fmt: skip
    found = rows(read(spark, table))

    assert {tuple(len(x) for x in row[:5]) for row in found} == {(100, 300, 4, 7, 5)}
    assert {len(row[5]) for row in found} == set(range(1, 10))


def test_nulls_come_at_their_rate(spark):
    table = datagen(
        "a INT, b INT", number_of_rows="1000", fields__a__null_rate="0.3", fields__b__null_rate="1"
    )
    found = rows(read(spark, table))

    assert 230 < sum(row[0] is None for row in found) < 370
    assert all(row[1] is None for row in found)


def test_times_lie_in_the_past_asked_for(spark):
    table = datagen(
        "t TIMESTAMP(3), n TIMESTAMP(3)", number_of_rows="50", fields__t__max_past="1 h"
    )
    ago = [dt.datetime.now() - row[0] for row in rows(read(spark, table, zone=time_zone()))]

    assert max(ago) < dt.timedelta(hours=1, minutes=5) and max(ago) > dt.timedelta(minutes=30)


def time_zone():
    offset = time.strftime("%z")
    return f"{offset[:3]}:{offset[3:]}"


def test_collections_have_no_double_keys(spark):
    table = datagen(
        "m MAP<BOOLEAN, INT>, s MULTISET<BOOLEAN>, a ARRAY<INT>",
        number_of_rows="20",
        fields__a__length="2",
    )
    found = rows(read(spark, table))

    assert all(1 <= len(m) <= 2 and len(a) == 2 for m, _, a in found)
    assert all(1 <= count <= 10 for _, s, _ in found for count in s.values())


def test_a_stream_has_the_same_rows_as_a_batch_and_ends(spark):
    table = datagen("a INT, b STRING, c DOUBLE", number_of_rows="5")
    as_stream = streamed(spark, read(spark, table, streaming=True))

    assert rows(as_stream) == rows(read(spark, table))


def test_a_stream_without_end_keeps_its_pace(spark):
    frame = read(spark, datagen("a INT", rows_per_second="20"), streaming=True)
    query = frame.writeStream.format("memory").queryName("pace").start()
    started = time.monotonic()
    time.sleep(4)
    query.stop()
    seconds = time.monotonic() - started

    assert 0 < spark.table("pace").count() <= 20 * (seconds + 1)


def test_a_table_without_end_is_no_batch(spark):
    with pytest.raises(PlanError, match="has no end"):
        read(spark, datagen("a INT"))


def test_no_rows_can_be_asked_for(spark):
    assert rows(read(spark, datagen("a INT", number_of_rows="0"))) == []
