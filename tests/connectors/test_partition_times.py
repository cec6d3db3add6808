"""The times of partitions, as Flink's default extractor finds them."""

from __future__ import annotations

from datetime import datetime

import pytest

from tidemark.connectors.filesystem.partition_times import NoTime, PartitionTimes, expression_of


@pytest.mark.parametrize(
    ("pattern", "formatter", "values", "expected"),
    [
        (None, None, {"dt": "2024-05-06"}, datetime(2024, 5, 6)),
        (None, None, {"dt": "2024-5-6 7:8:9"}, datetime(2024, 5, 6, 7, 8, 9)),
        (None, None, {"dt": "2024-01-32"}, datetime(2024, 2, 1)),
        ("$dt $hour:00:00", None, {"dt": "2024-05-06", "hour": "7"}, datetime(2024, 5, 6, 7)),
        ("$y-$m-$d", None, {"y": "2024", "m": "5", "d": "6"}, datetime(2024, 5, 6)),
        ("$y$m$d", "yyyyMMdd", {"y": "2024", "m": "05", "d": "06"}, datetime(2024, 5, 6)),
        (None, "yyyy-MM-dd'T'HH:mm", {"dt": "2024-05-06T07:08"}, datetime(2024, 5, 6, 7, 8)),
        (None, "dd.MM.uuuu HH:mm:ss.SSS", {"t": "06.05.2024 01:02:03.004"}, datetime(2024, 5, 6, 1, 2, 3, 4000)),
    ],
)  # fmt: skip
def test_a_partition_has_a_time(
    pattern: str | None, formatter: str | None, values: dict[str, str], expected: datetime
) -> None:
    assert PartitionTimes(pattern, formatter).time_of(values) == expected


@pytest.mark.parametrize("value", ["x", "2024", "__DEFAULT_PARTITION__", "99999999-01-01"])
def test_what_is_not_a_time_is_an_error(value: str) -> None:
    with pytest.raises(NoTime, match="is not a time"):
        PartitionTimes().time_of({"dt": value})


@pytest.mark.parametrize(
    ("formatter", "why"),
    [
        ("yyyyMMdd EEE", "letters 'EEE' are not supported"),
        ("yyyy'", "not closed"),
        ("HH:mm", "has no"),
        ("yyyyMMdd yyyy", "the year is there twice"),
    ],
)
def test_a_formatter_that_cannot_be_read_is_refused(formatter: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        expression_of(formatter)
