"""Runs the live demo until Ctrl-C: `python -m examples.demo_live`, or `... SECONDS`."""

from __future__ import annotations

import queue
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.live import Live

import tidemark
from examples.demo_live.market import Market, first_rates
from examples.demo_live.screen import Screen
from servers.connect import Connect, debezium
from servers.kafka import broker
from servers.missing import Missing
from servers.postgres import server
from tidemark import Result, TidemarkError
from tidemark.cli.output_log import spark_output_to_log
from tidemark.cli.terminal import Terminal
from tidemark.spark.progress import Progress

SCRIPT = Path(__file__).with_name("live.sql")
SPARK = {"spark.master": "local[2]", "spark.sql.shuffle.partitions": "1"}
RATES = "currency text PRIMARY KEY, rate numeric(10, 4), valid_from timestamptz(3)"


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else float("inf")
    # Whoever ends it otherwise ends the servers, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    console = Console()
    try:
        with suppress(KeyboardInterrupt), started(console) as (market, source):
            play(console, market, source, seconds)
    except Missing as missing:
        sys.exit(f"make demo-live: {missing}")
    console.print("All servers are stopped.")


@contextmanager
def started(console: Console) -> Iterator[tuple[Market, Connect]]:
    """The servers, with the first rates in the database and an empty topic for orders."""
    with ExitStack() as servers:
        folder = Path(servers.enter_context(tempfile.TemporaryDirectory(prefix="tidemark-live-")))
        for name in ("kafka", "connect"):
            (folder / name).mkdir()
        console.print("Kafka starts; the first time, its jars are fetched.")
        kafka = servers.enter_context(broker(folder / "kafka", own_group=True))
        console.print("PostgreSQL starts.")
        postgres = servers.enter_context(server(own_group=True))
        rates = postgres.table(RATES, *first_rates())
        postgres.run(f"ALTER TABLE {rates} REPLICA IDENTITY FULL")
        console.print("Debezium starts.")
        tables = f"public.{rates}"
        source = servers.enter_context(
            debezium(folder / "connect", kafka, postgres, tables, own_group=True)
        )
        try:
            yield Market(kafka, kafka.topic(), postgres, rates), source
        finally:
            console.print("\nStopping.")


def play(console: Console, market: Market, source: Connect, seconds: float) -> None:
    """Show what happens while the market goes on."""
    script = SCRIPT.read_text().format(
        kafka=market.kafka.address,
        orders=market.orders_topic,
        rates=source.topic(market.rates_table),
    )
    screen = Screen(market)
    ends = time.monotonic() + seconds
    with spark_output_to_log(Terminal()), tidemark.connect(spark_config=SPARK) as session:
        result = Following(session.sql(script))
        with Live(console=console, refresh_per_second=4, transient=False) as live:
            while time.monotonic() < ends:
                # While Spark starts, the market would only pile up orders.
                if result.is_under_way():
                    market.go_on()
                screen.are_final(result.new_rows())
                live.update(screen.shown(result.waiting()))
                time.sleep(0.1)


class Following:
    """The rows of a query, read on a thread of their own."""

    def __init__(self, result: Result) -> None:
        self._result = result
        self._rows: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with suppress(TidemarkError):  # the job reports it when it is asked
            for change in self._result.changes():
                self._rows.put(change.row)

    def new_rows(self) -> Iterator[dict[str, Any]]:
        while not self._rows.empty():
            yield self._rows.get()

    def is_under_way(self) -> bool:
        """Whether the first rates have been read."""
        return self._progress().batches > 0

    def waiting(self) -> int:
        return sum(operator.waiting for operator in self._progress().operators)

    def _progress(self) -> Progress:
        job = self._result.job
        if job is None:
            return Progress()
        if job.failure is not None:
            raise job.failure
        return job.progress()


if __name__ == "__main__":
    main()
