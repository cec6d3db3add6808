"""Decoders say how many records they had to read one by one, which is slow."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.formats.examples import NEVER, decoded, events

CHANGE = {"before": None, "after": {"id": 1}, "op": "c"}


@pytest.mark.parametrize(
    ("format_", "lines", "slow"),
    [
        ("json", ['{"id":1}'] * 9, 0),
        ("json", ['{"id":1}'] * 9 + ["", '[{"id":1},{"id":2}]'], 1),
        ("csv", ["1"] * 9, 0),
        ("csv", ["1"] * 9 + ['"2" '], 1),
        ("raw", ["x"] * 9, 0),
    ],
)
def test_the_records_that_took_the_exact_way_are_counted(
    format_: str, lines: list[str], slow: int
) -> None:
    columns = "id STRING" if format_ == "raw" else "id INT"

    assert decoded(format_, columns, "\n".join(lines).encode()).slow == slow


@pytest.mark.parametrize("format_", ["json", "csv"])
def test_all_records_of_a_small_block_take_the_exact_way(format_: str) -> None:
    block = b"1\n2\n" if format_ == "csv" else b'{"id":1}\n\n{"id":2}\n'

    assert decoded(format_, "id INT", block, few=NEVER).slow == 2


def test_records_that_are_skipped_count_as_slow() -> None:
    found = decoded("json", "id INT", b'{"id":1}\n' * 9 + b"x\n", json__ignore_parse_errors="true")

    assert (found.slow, found.skipped) == (1, 1)


@pytest.mark.parametrize(("odd", "slow"), [([], 0), ([json.dumps(CHANGE) + " more", ""], 1)])
def test_events_that_took_the_exact_way_are_counted(odd: list[Any], slow: int) -> None:
    assert events("debezium-json", "id INT", [CHANGE] * 9 + odd).slow == slow
