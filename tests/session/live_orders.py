"""A temporal join, fed step by step from outside the process that runs it.

Each step delivers rates and orders, and lets the orders out whose rate cannot change any more.
What comes out is known beforehand, however often a run is broken off and started again.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from servers.kafka import Broker, Record
from tests.sink_files import written_rows
from tests.waiting import wait_until

# Few key groups: each is called in each micro-batch.
SCRIPT = """
SET 'pipeline.max-parallelism' = '6';
CREATE TABLE orders (
  id INT, currency STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ({orders});
CREATE TABLE rates (
  currency STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts,
  PRIMARY KEY (currency) NOT ENFORCED
) WITH ({rates});
CREATE TABLE sink (id INT, currency STRING, rate INT) {partitions} WITH ({sink});
INSERT INTO sink
SELECT o.id, o.currency, r.rate FROM orders AS o
LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.currency = r.currency;
"""

Row: TypeAlias = dict[str, Any]

STEP_SECONDS = 10
CURRENCIES = ("EUR", "USD", "YEN")


def rates_after(steps: int) -> dict[int, int | None]:
    """Each order and its rate. YEN has no rate, USD none before 00:00:07; the last step's orders at
    seconds 6 and 8 still wait, because orders come up to 5 s late."""
    rates: dict[int, int | None] = {}
    for step in range(steps):
        order = 4 * step
        rates |= {order: 100 + step, order + 1: 199 + step, order + 2: None, order + 3: 100 + step}
    rates[1] = None
    for place in (0, 3):
        del rates[4 * (steps - 1) + place]
    return rates


class Orders(ABC):
    """The job's script, and what it has written so far."""

    def __init__(
        self, folder: Path, checkpoint: Path | str, tables: Mapping[str, str], partitions: str = ""
    ) -> None:
        self._steps = 0
        self.checkpoint = checkpoint
        self.log = folder / "command.log"
        self.script = folder / "job.sql"
        self.script.write_text(SCRIPT.format(**tables, partitions=partitions))

    def deliver(self) -> None:
        """The next step: a rate of EUR and USD, and four orders around it. YEN has none."""
        start = self._steps * STEP_SECONDS
        rates = [(100 + self._steps, "EUR", start + 2), (200 + self._steps, "USD", start + 7)]
        orders = [
            (4 * self._steps + place, CURRENCIES[place % 3], start + second)
            for place, second in enumerate((8, 1, 3, 6))
        ]
        self._write("rates", [_row("rate", *rate) for rate in rates])
        self._write("orders", [_row("id", *order) for order in orders])
        self._steps += 1

    def expected(self) -> dict[int, int | None]:
        """What is to be written after these steps."""
        return rates_after(self._steps)

    @abstractmethod
    def _write(self, table: str, rows: list[Row]) -> None:
        """Add rows to a table."""

    @abstractmethod
    def _rows(self) -> list[Row]:
        """What there is in the sink."""

    def written(self) -> dict[int, int | None]:
        """Each order's rate, from the sink; an order that is there twice is an error."""
        rows = self._rows()
        found = {row["id"]: row.get("rate") for row in rows}
        assert len(found) == len(rows), f"an order was written twice: {rows}"
        return found

    def due(self) -> int:
        """How many orders have a rate that cannot change any more: orders come up to 5 s late."""
        return 4 * self._steps - 2 if self._steps else 0

    def wait_until_out(self, alive: Callable[[], bool] = lambda: True) -> None:
        """Until all orders are written that are due."""
        wait_until(lambda: len(self.written()) >= self.due(), self._seen, alive, every=0.05)

    def _seen(self) -> str:
        log = self.log.read_text("utf-8") if self.log.exists() else ""
        return f"{self.written()}, and {log[-3000:]}"


class LiveOrders(Orders):
    """In files, and the sink too."""

    def __init__(self, folder: Path, *, partitioned: bool = False) -> None:
        self._folder = folder
        self.sink = folder / "out"
        for table in ("orders", "rates"):
            (folder / table).mkdir(parents=True)
        files = f"'connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/"
        tables = {
            "orders": f"{files}orders', 'source.monitor-interval' = '1'",
            "rates": f"{files}rates', 'source.monitor-interval' = '1'",
            "sink": f"{files}out'",
        }
        self.folder = folder / "checkpoint"
        super().__init__(
            folder, self.folder, tables, "PARTITIONED BY (currency)" if partitioned else ""
        )

    def _write(self, table: str, rows: list[Row]) -> None:
        hidden = self._folder / table / f".{self._steps:03}"
        hidden.write_text("".join(json.dumps(row) + "\n" for row in rows))
        hidden.rename(self._folder / table / f"{self._steps:03}.json")

    def _rows(self) -> list[Row]:
        return written_rows(self.sink)

    def commits(self) -> tuple[list[int], list[int]]:
        """The batches that have begun, and those that have ended, by the checkpoint's notes."""
        [query] = self.folder.glob("*/spark")
        begun, ended = (
            sorted(int(note.name) for note in (query / log).glob("[0-9]*"))
            for log in ("offsets", "commits")
        )
        return begun, ended

    def wait_for_staged_files(self, alive: Callable[[], bool]) -> None:
        """Until a batch writes, which is over soon."""
        wait_until(lambda: any(self.sink.glob(".staging-*")), self._seen, alive, every=0.001)


class OrdersInTopics(Orders):
    """In topics of one partition each; the sink gets each row exactly once."""

    def __init__(self, folder: Path, kafka: Broker, checkpoint: str) -> None:
        self._kafka = kafka
        self._topics = {name: kafka.topic() for name in ("orders", "rates", "sink")}
        broker = f"'properties.bootstrap.servers' = '{kafka.address}', 'topic' = "
        once = "'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'x'"
        options = {
            "orders": "'connector' = 'kafka', 'format' = 'json',"
            " 'scan.startup.mode' = 'earliest-offset'",
            "rates": "'connector' = 'upsert-kafka', 'key.format' = 'json', 'value.format' = 'json'",
            "sink": f"'connector' = 'kafka', 'format' = 'json', {once}",
        }
        tables = {name: f"{broker}'{self._topics[name]}', {more}" for name, more in options.items()}
        super().__init__(folder, checkpoint, tables)

    def _write(self, table: str, rows: list[Row]) -> None:
        key = "currency"
        records = (Record(json.dumps(row), json.dumps({key: row[key]})) for row in rows)
        self._kafka.send(self._topics[table], *records)

    def _rows(self) -> list[Row]:
        return [json.loads(message.value()) for message in self._kafka.read(self._topics["sink"])]


def _row(key: str, value: int, currency: str, second: int) -> Row:
    return {key: value, "currency": currency, "ts": _time(second)}


def _time(second: int) -> str:
    return f"2024-01-01 00:{second // 60:02}:{second % 60:02}"
