"""What scans know of the filters above them."""

from __future__ import annotations

import pytest

from tests.physical.test_plans import physical, windows
from tidemark.plan.words import words

WINDOWED = (
    f"SELECT COUNT(*) FROM {windows('orders')} WHERE id > 1 GROUP BY window_start, window_end"
)


def asked(sql: str, *, streaming: bool = False) -> list[str]:
    """The conditions of all scans of a query."""
    return [
        words(each) for scan in physical(sql, streaming=streaming).scans for each in scan.conditions
    ]


@pytest.mark.parametrize(
    ("sql", "conditions"),
    [
        ("SELECT id FROM orders WHERE id > 1 AND currency = 'EUR'", ["(id > 1)", "(currency = 'EUR')"]),
        ("SELECT * FROM (SELECT id + 1 AS n FROM orders WHERE id > 1) WHERE n < 5", ["((id + 1) < 5)", "(id > 1)"]),
        ("SELECT id FROM orders WHERE id > 1 OR currency = 'EUR'", ["((id > 1) OR (currency = 'EUR'))"]),
        ("SELECT id FROM orders WHERE id > 1 AND RAND() < 0.5", ["(id > 1)"]),
        ("SELECT id FROM (SELECT id, RAND() AS r FROM orders) WHERE r < 0.5 AND id > 1", ["(id > 1)"]),
        ("SELECT COUNT(*) AS n FROM orders WHERE id > 1 GROUP BY currency HAVING COUNT(*) > 2", ["(id > 1)"]),
        ("SELECT id FROM orders WHERE id > 1 UNION ALL SELECT id FROM orders", ["(id > 1)"]),
    ],
)  # fmt: skip
def test_a_scan_knows_what_filters_above_it_ask(sql: str, conditions: list[str]):
    assert sorted(asked(sql)) == sorted(conditions)


def test_rows_that_advance_the_watermark_of_a_stream_are_not_left_out():
    stateless = "SELECT id FROM clocked WHERE id > 1"

    assert asked(stateless, streaming=True) == ["(id > 1)"]
    assert asked(WINDOWED) == ["(id > 1)"]
    assert asked(WINDOWED, streaming=True) == []
