"""How far a watermark is behind event time, if that is constant."""

from __future__ import annotations

import pytest

from tests.plan.marked import root, world
from tidemark.physical.watermarks import behind_ms

DDL = """CREATE TABLE w (k STRING, ts TIMESTAMP(3), made TIMESTAMP(3), WATERMARK FOR ts AS {})
WITH ('connector' = 'datagen')"""


@pytest.mark.parametrize(
    ("watermark", "behind"),
    [
        ("ts", 0),
        ("ts - INTERVAL '5' SECOND", 5000),
        ("made", None),
        ("made - INTERVAL '5' SECOND", None),
        ("ts - INTERVAL '1' MONTH", None),
        ("CASE WHEN k = 'a' THEN ts ELSE made END", None),
    ],
)
def test_only_a_fixed_distance_from_the_rows_own_time_is_one(watermark, behind):
    assert behind_ms(root("SELECT ts, k FROM w", world(DDL.format(watermark)))) == behind


def test_the_time_of_a_window_runs_ahead_of_the_watermark():
    windows = "TABLE(TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '10' SECOND))"

    assert behind_ms(root(f"SELECT k, window_time FROM {windows}", world(DDL.format("ts")))) is None
