"""From folders to folders: a temporal join, windows, OVER and a pattern."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from chaos.data import Order, Rate, Step, time_of
from chaos.scenarios.played import Played
from chaos.sinks import csv_folder, json_folder
from chaos.world import World

_SCRIPT = """
SET 'pipeline.max-parallelism' = '4';
CREATE TABLE orders (
  id INT, k STRING, amount INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/in/orders',
        'source.monitor-interval' = '100 ms');
CREATE TABLE rates (
  k STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (k) NOT ENFORCED
) WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/in/rates',
        'source.monitor-interval' = '100 ms');
CREATE TABLE enriched (id INT, k STRING, rate INT)
WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/state/enriched');
CREATE TABLE windows (k STRING, opened TIMESTAMP(3), n BIGINT, total INT)
WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{folder}/state/windows');
CREATE TABLE sums (id INT, k STRING, total INT)
WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/state/sums');
CREATE TABLE rises (k STRING, low INT, high INT)
WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/state/rises');

EXECUTE STATEMENT SET BEGIN
INSERT INTO enriched
SELECT o.id, o.k, r.rate
FROM orders AS o LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.k = r.k;
INSERT INTO windows
SELECT k, window_start, COUNT(*), SUM(amount)
FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '20' SECOND))
GROUP BY k, window_start, window_end;
INSERT INTO sums
SELECT id, k, SUM(amount) OVER (
  PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '30' SECOND PRECEDING AND CURRENT ROW
) FROM orders;
INSERT INTO rises
SELECT k, low, high FROM orders MATCH_RECOGNIZE (
  PARTITION BY k ORDER BY ts MEASURES A.amount AS low, LAST(B.amount) AS high
  AFTER MATCH SKIP PAST LAST ROW PATTERN (A B) DEFINE B AS B.amount > A.amount
);
END;
"""


def files(world: World, folder: Path, ends: ExitStack) -> Played:
    for name in ("orders", "rates"):
        (folder / "in" / name).mkdir(parents=True)

    def feed(number: int, step: Step) -> None:
        _deliver(folder / "in" / "rates", number, map(_rate, step.rates))
        _deliver(folder / "in" / "orders", number, map(_order, step.orders))

    out = folder / "state"
    return Played(
        _SCRIPT.format(folder=folder),
        feed,
        {
            "enriched": json_folder(out / "enriched"),
            "windows": csv_folder(out / "windows", "k", "opened", "n", "total"),
            "sums": json_folder(out / "sums"),
            "rises": json_folder(out / "rises"),
        },
    )


def _order(order: Order) -> dict[str, Any]:
    return {"id": order.id, "k": order.k, "amount": order.amount, "ts": time_of(order.second)}


def _rate(rate: Rate) -> dict[str, Any]:
    return {"k": rate.k, "rate": rate.rate, "ts": time_of(rate.second)}


def _deliver(folder: Path, number: int, rows: Iterable[dict[str, Any]]) -> None:
    """A whole file at once."""
    hidden = folder / f".{number:03}"
    hidden.write_text("".join(json.dumps(row) + "\n" for row in rows))
    hidden.rename(folder / f"{number:03}.json")
