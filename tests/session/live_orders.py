"""A temporal join into files, fed step by step from outside the process that runs it.

Each step delivers rates and orders, and lets the orders out whose rate cannot change any more.
What comes out is known beforehand, however often a run is broken off and started again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.sink_files import written_rows
from tests.waiting import wait_until

# Few key groups: each is called in each micro-batch.
SCRIPT = """
SET 'pipeline.max-parallelism' = '6';
CREATE TABLE orders (
  id INT, currency STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/orders',
        'source.monitor-interval' = '1');
CREATE TABLE rates (
  currency STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts,
  PRIMARY KEY (currency) NOT ENFORCED
) WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/rates',
        'source.monitor-interval' = '1');
CREATE TABLE sink (id INT, currency STRING, rate INT) {partitions}
WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/out');
INSERT INTO sink
SELECT o.id, o.currency, r.rate FROM orders AS o
LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.currency = r.currency;
"""

STEP_SECONDS = 10
CURRENCIES = ("EUR", "USD", "YEN")


# Each order and its rate after three steps. YEN has no rate, USD none before 00:00:07; the last
# step's orders at seconds 26 and 28 still wait, because orders come up to 5 s late.
AFTER_THREE_STEPS = {
    0: 100, 1: None, 2: None, 3: 100,
    4: 101, 5: 200, 6: None, 7: 101,
    9: 201, 10: None,
}  # fmt: skip


class LiveOrders:
    """The job's script and folders, and what it has written so far."""

    def __init__(self, folder: Path, *, partitioned: bool = False) -> None:
        self._folder = folder
        self._steps = 0
        self.sink = folder / "out"
        self.checkpoint = folder / "checkpoint"
        for table in ("orders", "rates"):
            (folder / table).mkdir(parents=True)
        self.log = folder / "command.log"
        self.script = folder / "job.sql"
        partitions = "PARTITIONED BY (currency)" if partitioned else ""
        self.script.write_text(SCRIPT.format(folder=folder, partitions=partitions))

    def deliver(self) -> None:
        """The next step: a rate of EUR and USD, and four orders around it. YEN has none."""
        start = self._steps * STEP_SECONDS
        rates = [(100 + self._steps, "EUR", start + 2), (200 + self._steps, "USD", start + 7)]
        orders = [
            (4 * self._steps + place, CURRENCIES[place % 3], start + second)
            for place, second in enumerate((8, 1, 3, 6))
        ]
        self._write("rates", "rate", rates)
        self._write("orders", "id", orders)
        self._steps += 1

    def _write(self, table: str, key: str, rows: list[tuple[int, str, int]]) -> None:
        lines = [
            json.dumps({key: value, "currency": currency, "ts": _time(second)})
            for value, currency, second in rows
        ]
        hidden = self._folder / table / f".{self._steps:03}"
        hidden.write_text("\n".join(lines) + "\n")
        hidden.rename(self._folder / table / f"{self._steps:03}.json")

    def written(self) -> dict[int, int | None]:
        """Each order's rate, from the sink; an order that is there twice is an error."""
        rows = written_rows(self.sink)
        found = {row["id"]: row.get("rate") for row in rows}
        assert len(found) == len(rows), f"an order was written twice: {rows}"
        return found

    def commits(self) -> tuple[list[int], list[int]]:
        """The batches that have begun, and those that have ended, by the checkpoint's notes."""
        [query] = self.checkpoint.glob("*/spark")
        begun, ended = (
            sorted(int(note.name) for note in (query / log).glob("[0-9]*"))
            for log in ("offsets", "commits")
        )
        return begun, ended

    def due(self) -> int:
        """How many orders have a rate that cannot change any more: orders come up to 5 s late."""
        return 4 * self._steps - 2 if self._steps else 0

    def wait_until_out(self, alive: Callable[[], bool] = lambda: True) -> None:
        """Until all orders are written that are due."""
        wait_until(lambda: len(self.written()) >= self.due(), self._seen, alive, every=0.05)

    def wait_for_staged_files(self, alive: Callable[[], bool]) -> None:
        """Until a batch writes, which is over soon."""
        wait_until(lambda: any(self.sink.glob(".staging-*")), self._seen, alive, every=0.001)

    def _seen(self) -> str:
        log = self.log.read_text("utf-8") if self.log.exists() else ""
        return f"{self.written()}, and {log[-3000:]}"


def _time(second: int) -> str:
    return f"2024-01-01 00:{second // 60:02}:{second % 60:02}"
