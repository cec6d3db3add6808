"""What `make demo-live` shows: enriched orders, rates, watermarks and orders that wait, at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from examples.demo_live.market import Market

ROWS = 12


class Screen:
    def __init__(self, market: Market) -> None:
        self._market = market
        self._newest: deque[dict[str, Any]] = deque(maxlen=ROWS)
        self.final = 0

    def are_final(self, rows: Iterable[dict[str, Any]]) -> None:
        for row in sorted(rows, key=lambda row: row["id"]):
            self._newest.append(row)
            self.final += 1

    def shown(self, waiting: int) -> Group:
        return Group(self._rates(), self._orders(), self._watermarks(), self._waits(waiting))

    def _rates(self) -> Text:
        rates = "   ".join(
            f"1 {name} = {rate:.2f} USD" for name, rate in self._market.rates.items()
        )
        return Text(f"rates in PostgreSQL   {rates}\n", "cyan")

    def _orders(self) -> Table:
        table = Table("order", "placed at", "amount", "rate then", "dollars", expand=False)
        for row in self._newest:
            amount = f"{row['amount']:>3} {row['currency']}"
            rate = "none" if row["rate"] is None else f"{row['rate']:.2f}"
            dollars = "" if row["dollars"] is None else f"{row['dollars']:8.2f}"
            table.add_row(str(row["id"]), clock(row["placed_at"]), amount, rate, dollars)
        return table

    def _watermarks(self) -> Text:
        market = self._market
        return Text(
            f"it is {clock(datetime.now(UTC))}   watermark of orders "
            f"{clock(market.watermark_of_orders())}, of rates {clock(market.newest_rate)}"
        )

    def _waits(self, waiting: int) -> Text:
        counts = f"{self._market.orders} orders, {self._market.changes} changes of rates"
        line = f"{counts}, {self.final} orders are final"
        if not self._market.orders:
            return Text("Spark starts", "dim")
        if not waiting:
            return Text(f"{line}, none waits", "green")
        return Text(f"{line}, {waiting} wait: {self._why()}", "yellow")

    def _why(self) -> str:
        orders, rates = self._market.watermark_of_orders(), self._market.newest_rate
        if orders is not None and (rates is None or rates < orders):
            return "the rates are behind, and may have changed meanwhile"
        return "the watermarks must pass them"


def clock(time: datetime | None) -> str:
    return "none yet" if time is None else time.strftime("%H:%M:%S")
