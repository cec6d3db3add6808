"""What happens on the demo's market, moment by moment."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

# Times are within 10:00. Each paragraph arrives at once, after the one before it.
MOMENTS = """
rate :00 EUR 1.07
rate :00 GBP 1.26

order :02 101  20 EUR
order :03 102 100 GBP

rate :05 EUR 1.08
order :06 103  50 EUR

# Placed before the rate changed, and late.
order :04 104  50 EUR
order :09 105  10 CHF
rate :08 GBP 1.25

# No rates for a while: nobody can know what these orders are worth.
order :11 106  40 GBP
order :13 107  80 EUR

order :16 108  30 EUR

# They come after all, one of them with a time that orders have passed.
rate :12 EUR 1.09
rate :15 GBP 1.24

order :20 109  70 GBP
rate :21 EUR 1.10
"""


@dataclass(frozen=True)
class Rate:
    currency: str
    rate: Decimal
    valid_from: str

    table = "rates"


@dataclass(frozen=True)
class Order:
    id: int
    amount: int
    currency: str
    placed_at: str

    table = "orders"


Event = Rate | Order


def moments() -> Iterator[list[Event]]:
    """The events that arrive together, in order."""
    for paragraph in MOMENTS.strip().split("\n\n"):
        yield [_event(line) for line in paragraph.splitlines() if not line.startswith("#")]


def _event(line: str) -> Event:
    what, time, *values = line.split()
    if what == "rate":
        return Rate(values[0], Decimal(values[1]), f"10:00{time}")
    return Order(int(values[0]), int(values[1]), values[2], f"10:00{time}")


def deliver(events: list[Event], folder: Path, number: int) -> None:
    """Put the events into their tables' folders: each file appears at once, complete."""
    for table in ("orders", "rates"):
        lines = [_json(event) for event in events if event.table == table]
        if lines:
            hidden = folder / table / f".{number:03}"
            hidden.write_text("\n".join(lines) + "\n")
            hidden.rename(folder / table / f"{number:03}.json")


def _json(event: Event) -> str:
    values = dict(vars(event))
    for name, value in values.items():
        if isinstance(value, Decimal):
            values[name] = str(value)
        elif name in ("placed_at", "valid_from"):
            values[name] = f"2024-05-01 {value}"
    return json.dumps(values)
