"""What a sink's upkeep learns about a query between its batches."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tidemark.spark.upkeep import Keeper, Moment, QueryWatermark, Upkeep


def report(batch: int, idle: bool = False, watermark: str | None = None, **maxima: int) -> Any:
    return {
        "batchId": batch,
        "timestamp": f"{batch}-{idle}",
        "durationMs": {} if idle else {"addBatch": 1},
        "eventTime": {} if watermark is None else {"watermark": watermark},
        "observedMetrics": {name: {"ms": ms} for name, ms in maxima.items()},
    }


def test_a_watermark_is_the_least_of_its_sources() -> None:
    watermark = QueryWatermark(["a", "b"])

    watermark.take(report(0, a=5))
    assert watermark.value is None
    watermark.take(report(1, b=3))
    assert watermark.value == 3
    watermark.take(report(2, a=4, b=9))
    assert (watermark.batch, watermark.value) == (2, 5)


def test_operators_report_their_own_watermark() -> None:
    watermark = QueryWatermark([])

    watermark.take(report(0, watermark="1970-01-01T00:00:00.000Z"))
    assert watermark.value is None
    watermark.take(report(1, watermark="2024-01-01T00:00:00.000Z"))
    assert watermark.value == 1_704_067_200_000


def test_an_idle_report_is_of_the_batch_that_is_yet_to_run() -> None:
    watermark = QueryWatermark(["a"])

    watermark.take(report(4, idle=True))
    assert watermark.batch == 3
    watermark.take(report(4, a=1))
    assert (watermark.batch, watermark.value) == (4, 1)


class Report(dict[str, Any]):
    @property
    def json(self) -> str:
        return json.dumps(self)


class Query:
    """A query that has ended, with these reports."""

    id = "query"
    isActive = False  # noqa: N815

    def __init__(self, *reports: Any) -> None:
        self.recentProgress = [Report(said) for said in reports]
        self.stopped = False

    @property
    def lastProgress(self) -> Report | None:  # noqa: N802
        return self.recentProgress[-1] if self.recentProgress else None

    def stop(self) -> None:
        self.stopped = True


def moments(query: Any, ended: bool = True) -> list[Moment]:
    taken: list[Moment] = []
    keeper = Keeper(Upkeep(lambda _, moment: taken.append(moment)), query, ["a"])
    keeper.start(lambda: ended)
    assert keeper.ended.wait(10)
    return taken


def test_the_end_of_the_input_is_announced_last() -> None:
    assert moments(Query(report(0, a=1), report(1, a=2))) == [
        Moment(1, 2),
        Moment(1, 2, ended=True),
    ]


def test_a_query_that_was_stopped_has_not_ended() -> None:
    assert moments(Query(report(0, a=1)), ended=False) == [Moment(0, 1)]


def test_nothing_is_done_before_a_batch_has_been_reported() -> None:
    assert moments(Query(), ended=False) == []


def test_upkeep_that_fails_stops_the_query() -> None:
    def fail(_: str, __: Moment) -> None:
        raise OSError("no room")

    query: Any = Query(report(0))
    keeper = Keeper(Upkeep(fail), query, [])
    keeper.start(lambda: True)

    assert keeper.ended.wait(10) and query.stopped
    with pytest.raises(OSError, match="no room"):
        raise keeper.problem or AssertionError
