"""What the demo prints, in color on a terminal."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from examples.demo.market import Event, Order, Rate
from tidemark.cli.terminal import Terminal

CLOCK = "%H:%M:%S"
LATE_SECONDS = 3  # the delay of the script's watermark

OPENING = """\
Orders arrive, and exchange rates change. Each order is converted at the rate that was valid when
it was placed, however late the order or the rate arrives. Flink SQL, as a live stream on Spark:
"""


@dataclass
class Screen:
    terminal: Terminal
    # What has arrived so far; it explains the results.
    orders: list[Order] = field(default_factory=list)
    rates: list[Rate] = field(default_factory=list)

    def open(self, script: str) -> None:
        query = script[script.rindex("SELECT") :].strip()
        self._say(OPENING)
        for line in query.splitlines():
            self._say(f"    {line}", "cyan")

    def next_moment(self) -> None:
        self._say("")

    def came_in(self, event: Event) -> None:
        if isinstance(event, Order):
            self.orders.append(event)
            text = f"order {event.id}  {event.amount:>4} {event.currency}"
            self._say(f"  {event.placed_at}  {text}")
        else:
            self.rates.append(event)
            self._say(
                f"  {event.valid_from}  rate       1 {event.currency} = {event.rate} USD", "dim"
            )

    def is_final(self, row: dict[str, Any]) -> None:
        order = f"order {row['id']}  {row['amount']:>4} {row['currency']}"
        if row["rate"] is None:
            worth, why = "has no rate", f"there is no rate for {row['currency']} yet"
        else:
            worth, why = f"x {row['rate']:.2f} = {row['dollars']:>6.2f} USD", self._passed_over(row)
        line = self.terminal.paint(f"      final  {order} {worth}", "bold green")
        self._say(line + (self.terminal.paint(f"  ({why})", "dim") if why else ""))

    def _passed_over(self, row: dict[str, Any]) -> str | None:
        """The newest rate, if joining with it would have been wrong."""
        placed = row["placed_at"].strftime(CLOCK)
        of_currency = [rate for rate in self.rates if rate.currency == row["currency"]]
        newest = max(of_currency, key=lambda rate: rate.valid_from)
        if newest.valid_from <= placed:
            return None
        return f"not {newest.rate}, which is valid from {newest.valid_from}"

    def waits(self, waiting: int) -> None:
        if waiting:
            who = "1 order waits" if waiting == 1 else f"{waiting} orders wait"
            self._say(f"             {who}: {self._reason()}", "yellow")

    def _reason(self) -> str:
        if self._held_back_by_rates():
            return f"the watermark is at {self.watermark()}; waiting for newer rates"
        return f"the watermark is at {self.watermark()}; orders may be up to {LATE_SECONDS} s late"

    def _held_back_by_rates(self) -> bool:
        return self.watermark() == max(rate.valid_from for rate in self.rates)

    def watermark(self) -> str | None:
        """The lower watermark of both tables; None before the first."""
        if not self.orders or not self.rates:
            return None
        newest = datetime.strptime(max(order.placed_at for order in self.orders), CLOCK)
        of_orders = (newest - timedelta(seconds=LATE_SECONDS)).strftime(CLOCK)
        return min(of_orders, max(rate.valid_from for rate in self.rates))

    def close(self, final: int, waiting: int) -> None:
        came = f"{len(self.orders)} orders and {len(self.rates)} rates arrived."
        ended = f"{final} orders are final: no later row can change them"
        rest = f"; {waiting} would still be waiting, but the demo ends here" if waiting else ""
        self._say(f"\n{came} {ended}{rest}.", "bold")

    def _say(self, text: str, style: str | None = None) -> None:
        self.terminal.write((self.terminal.paint(text, style) if style else text) + "\n")
