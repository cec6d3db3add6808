"""The market and the screen of `make demo-live`, with servers that only note what they get."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from rich.console import Console

from examples.demo_live import market as live
from examples.demo_live.market import Market
from examples.demo_live.screen import Screen


class Noting:
    """Stands in for a broker and for a database."""

    def __init__(self) -> None:
        self.orders: list[dict[str, Any]] = []
        self.statements: list[str] = []

    def send(self, _topic: str, order: str) -> None:
        self.orders.append(json.loads(order))

    def run(self, statement: str) -> None:
        self.statements.append(statement)


@pytest.fixture
def market(monkeypatch: pytest.MonkeyPatch) -> Market:
    monkeypatch.setattr(live, "ORDER_SECONDS", 0)
    monkeypatch.setattr(live, "RATE_SECONDS", 0)
    servers: Any = Noting()
    return Market(servers, "orders", servers, "rates")


def shown(screen: Screen, waiting: int) -> str:
    console = Console(width=120)
    with console.capture() as capture:
        console.print(screen.shown(waiting))
    return capture.get()


def test_orders_arrive_and_rates_change(market: Market) -> None:
    for _ in range(5):
        market.go_on()

    servers: Any = market.kafka
    assert [order["id"] for order in servers.orders] == [1, 2, 3, 4, 5]
    assert len(servers.statements) == market.changes == 5
    watermark = market.watermark_of_orders()
    assert watermark is not None
    assert watermark < datetime.now(UTC)


def test_no_rate_changes_while_the_market_is_silent(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "SILENT_SECONDS", live.ROUND_SECONDS + 1)
    market.go_on()
    assert (market.orders, market.changes) == (1, 0)


def test_the_screen_says_why_orders_wait(market: Market) -> None:
    screen = Screen(market)
    market.orders = 5
    market.newest_rate = datetime(2024, 5, 1, 10, 0, 5, tzinfo=UTC)
    market.newest_order = datetime(2024, 5, 1, 10, 0, 9, tzinfo=UTC)
    placed = {"placed_at": datetime(2024, 5, 1, 10, 0, 1, tzinfo=UTC), "currency": "EUR"}
    unknown = {"rate": None, "dollars": None}
    screen.are_final(
        [
            {"id": 2, "amount": 20, **placed, **unknown},
            {"id": 1, "amount": 10, **placed, "rate": Decimal("1.1"), "dollars": Decimal("11.0")},
        ]
    )

    text = shown(screen, waiting=3)
    assert "watermark of orders 10:00:07, of rates 10:00:05" in text
    assert "2 orders are final, 3 wait: the rates are behind" in text
    assert text.index("11.00") < text.index("none")

    market.newest_rate = market.newest_order
    assert "3 wait: the watermarks must pass them" in shown(screen, waiting=3)
    assert "none waits" in shown(screen, waiting=0)
