"""A market that goes on: rates change in the database, orders arrive in a topic."""

from __future__ import annotations

import json
import random
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from servers.kafka import Broker
    from servers.postgres import Postgres

FIRST_RATES = {"EUR": Decimal("1.0700"), "GBP": Decimal("1.2600"), "CHF": Decimal("1.1300")}
ORDER_SECONDS, RATE_SECONDS = 0.5, 1.5
# Now and then the rates do not change for a while, so that orders wait.
ROUND_SECONDS, SILENT_SECONDS = 24, 8
ORDERS_LATE_MS = 2000  # as the script says


@dataclass
class Market:
    kafka: Broker
    orders_topic: str
    postgres: Postgres
    rates_table: str
    rates: dict[str, Decimal] = field(default_factory=lambda: dict(FIRST_RATES))
    orders: int = 0
    changes: int = 0
    # The newest times: the watermarks follow from them.
    newest_order: datetime | None = None
    newest_rate: datetime | None = None
    _random: random.Random = field(default_factory=lambda: random.Random(7))
    _started: float = field(default_factory=time.monotonic)
    _next_order: float = 0
    _next_rate: float = 0

    @property
    def is_silent(self) -> bool:
        """Whether rates do not change now."""
        return self._seconds() % ROUND_SECONDS > ROUND_SECONDS - SILENT_SECONDS

    def go_on(self) -> None:
        """Do what is due."""
        if self._seconds() >= self._next_order:
            self._next_order = self._seconds() + ORDER_SECONDS
            self._order()
        if self._seconds() >= self._next_rate and not self.is_silent:
            self._next_rate = self._seconds() + RATE_SECONDS
            self._change_rate()

    def watermark_of_orders(self) -> datetime | None:
        if self.newest_order is None:
            return None
        return self.newest_order - timedelta(milliseconds=ORDERS_LATE_MS)

    def _order(self) -> None:
        self.orders += 1
        late = timedelta(milliseconds=self._random.randrange(ORDERS_LATE_MS))
        placed = datetime.now(UTC) - late
        order = {
            "id": self.orders,
            "amount": self._random.randrange(10, 100),
            "currency": self._random.choice([*self.rates]),
            "placed_at": placed.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }
        self.kafka.send(self.orders_topic, json.dumps(order))
        self.newest_order = max(placed, self.newest_order or placed)

    def _change_rate(self) -> None:
        currency = self._random.choice([*self.rates])
        self.rates[currency] += Decimal(self._random.choice([-2, -1, 1, 2])) / 100
        now = datetime.now(UTC)
        self.postgres.run(
            f"UPDATE {self.rates_table} SET rate = {self.rates[currency]}, "
            f"valid_from = '{now.isoformat()}' WHERE currency = '{currency}'"
        )
        self.changes += 1
        self.newest_rate = now

    def _seconds(self) -> float:
        return time.monotonic() - self._started


def first_rates() -> list[str]:
    """The rows of the table before anything changes; they are valid since a minute."""
    since = (datetime.now(UTC) - timedelta(minutes=1)).isoformat()
    return [f"('{currency}', {rate}, '{since}')" for currency, rate in FIRST_RATES.items()]
