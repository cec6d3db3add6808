"""Durations and sizes as Flink's options write them."""

import pytest

from tidemark.durations import parse_duration, parse_memory


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("5 s", 5_000),
        ("5s", 5_000),
        ("500 ms", 500),
        ("1 min", 60_000),
        ("2 H", 7_200_000),
        ("1 day", 86_400_000),
        ("250", 250),
        (" 10 seconds ", 10_000),
        ("1500 us", 1),
        ("999 ns", 0),
        ("PT5S", 5_000),
        ("PT1H30M", 5_400_000),
        ("P1DT0.25S", 86_400_250),
        ("pt1m", 60_000),
    ],
)
def test_a_duration_is_read_in_milliseconds(text, milliseconds):
    assert parse_duration(text) == milliseconds


@pytest.mark.parametrize(
    "text", ["", "s", "-5 s", "5 parsecs", "1.5 s", "5 s 3 ms", "P", "PT", "five"]
)
def test_an_invalid_duration_is_refused(text):
    with pytest.raises(ValueError, match="expected"):
        parse_duration(text)


def test_an_unknown_unit_is_named():
    with pytest.raises(ValueError, match="unknown unit 'parsecs'"):
        parse_duration("5 parsecs")


@pytest.mark.parametrize(
    ("text", "size"), [("1", 1), ("1 kb", 1024), ("64mb", 64 << 20), ("2 G", 2 << 30)]
)
def test_a_memory_size_is_read_in_bytes(text, size):
    assert parse_memory(text) == size
