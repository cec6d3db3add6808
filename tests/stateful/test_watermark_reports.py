"""The watermark and the end of a source, reported to key groups."""

from __future__ import annotations

from tidemark.kernels.columns import AFTER_ALL
from tidemark.runtime.partition_marks import COUNTED
from tidemark.spark.moments import END_MS, WATERMARK
from tidemark.spark.stateful.packing import BUCKET, INPUT, PAYLOAD, POSITION
from tidemark.spark.stateful.reports import Receiver, _of_partitions, reports


def test_each_key_group_of_each_receiver_gets_a_report(spark):
    receivers = [Receiver(0, (12, 6), {"use": 1}), Receiver(1, (5,), {"use": 2})]

    rows = reports(spark.range(1), 70, receivers).collect()

    assert sorted((row[BUCKET], row[INPUT], row["use"]) for row in rows) == [
        (5, 1, 2),
        (6, 0, 1),
        (12, 0, 1),
    ]
    assert {(row[POSITION], row[PAYLOAD]) for row in rows} == {(70, None)}


def test_the_watermark_of_partitions_is_reported_with_those_of_all_that_count(spark):
    marks = spark.sql(
        f"SELECT timestamp_millis(ms) AS {WATERMARK}, '{{}}' AS marks"
        f" FROM VALUES (1234L), ({END_MS}L) AS t (ms)"
    )

    made = _of_partitions(marks, [Receiver(3, (12, 6))])

    found = made.selectExpr(BUCKET, POSITION, f"unix_millis({WATERMARK}) AS ms").collect()
    assert sorted(map(tuple, found)) == [
        (6, 1234, 1234),
        (6, AFTER_ALL, END_MS),
        (12, 1234, 1234),
        (12, AFTER_ALL, END_MS),
    ]
    assert {(row[INPUT], bytes(row[PAYLOAD])) for row in made.collect()} == {(COUNTED + 3, b"{}")}
