"""How long nothing has come out although rows wait, and who holds them back."""

from __future__ import annotations

from tidemark.spark.source_watermarks import SourceProgress
from tidemark.spark.stalls import Stillness, slowest

AHEAD = SourceProgress("orders", "2024-01-01T10:00:09.000Z")
BEHIND = SourceProgress("rates", "2024-01-01T10:00:05.000Z")
SILENT = SourceProgress("rates")
ENDED = SourceProgress("rates", "9999-12-31T23:59:59.999Z")


def test_the_source_with_the_smallest_watermark_holds_the_others_back():
    assert slowest([AHEAD, BEHIND]) == BEHIND
    assert slowest([AHEAD, BEHIND, SILENT]) == SILENT
    assert slowest([AHEAD, ENDED]) == AHEAD
    assert slowest([ENDED]) is None


def test_rows_wait_since_the_last_one_came_out():
    now = 0.0
    stillness = Stillness(lambda: now)

    def seconds(rows_out: int, waiting: int) -> float | None:
        stall = stillness.stall(rows_out, {"window-1": 0, "join-1": waiting}, [AHEAD, BEHIND])
        if stall is None:
            return None
        assert (stall.operator, stall.waiting, stall.source) == ("join-1", waiting, BEHIND)
        return stall.seconds

    assert seconds(0, 0) is None
    now = 100.0
    assert seconds(0, 0) is None  # no rows wait
    now = 110.0
    assert seconds(0, 3) == 10
    now = 120.0
    assert seconds(0, 4) == 20
    assert seconds(1, 3) == 0
    now = 125.0
    assert seconds(1, 3) == 5
    assert seconds(1, 0) is None
