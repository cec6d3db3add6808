"""Records at a steady rate, and how long it takes until a reader has what became of them.

The time of an order is when it was sent. Readers see what is committed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from bench.contest import ROOT, Contestant
from bench.kafka.engines import connector_of
from bench.kafka.topics import send
from bench.kafka.workload import LIVE, PARTITIONS, Job
from bench.processes import whole
from bench.real_bytes.report import TIDEMARK
from bench.results import keep
from servers.kafka import Broker
from servers.waiting import wait_until

MOST_MEDIAN_MS, MOST_P99_MS = 1_000.0, 2_000.0
QUERIES = ("copy", "temporal-join")
_TICK_S = 0.02
# A tenth of them in turn has rates, so all have one after two seconds.
_ACCOUNTS = 1_000
_TIME = "%Y-%m-%d %H:%M:%S%.f"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--live", nargs="*", choices=QUERIES, default=QUERIES, help="queries")
    parser.add_argument("--rate", type=int, default=5_000, help="live records per second")
    parser.add_argument("--seconds", type=int, default=60, help="live seconds that count")
    parser.add_argument("--warmup", type=int, default=30, help="live seconds before them")


@dataclass(frozen=True)
class Latency:
    """The ages of results when they were read, and what an engine spent in that time."""

    query: str
    what: str
    median_ms: float
    p99_ms: float
    largest_ms: float
    rows: int
    cpu_seconds: float

    @property
    def good(self) -> bool:
        return self.median_ms <= MOST_MEDIAN_MS and self.p99_ms <= MOST_P99_MS


def run(
    arguments: argparse.Namespace, engines: Sequence[Contestant], here: Broker, console: Console
) -> bool:
    """Whether Tidemark is as quick as wanted."""
    found = []
    for query in arguments.live:
        for contestant in engines:
            with console.status(f"live {query}: {contestant.what}"):
                found.append(_measured(contestant, query, here, arguments))
    if found:
        console.print(_table(found, arguments.rate))
        keep("kafka_live", {"rate": arguments.rate, "measured": [asdict(one) for one in found]})
    missed = [one for one in found if one.what == TIDEMARK.what and not one.good]
    for one in missed:
        console.print(
            f"live {one.query}: a median of {one.median_ms:,.0f} ms and a 99th percentile of "
            f"{one.p99_ms:,.0f} ms (wanted: {MOST_MEDIAN_MS:,.0f} and {MOST_P99_MS:,.0f})."
        )
    return not missed


def _measured(
    contestant: Contestant, query: str, here: Broker, arguments: argparse.Namespace
) -> Latency:
    orders, rates, result = (here.topic(PARTITIONS) for _ in range(3))
    with TemporaryDirectory(prefix="bench-kafka-") as folder:
        job = Job(
            query, here.address, orders, rates, (result,), Path(folder), connector_of(contestant)
        )
        with (
            _running(contestant, job) as engine,
            _Sending(here, orders, rates, arguments.rate) as sending,
            _Reading(here, result) as reading,
        ):
            wait_until(lambda: reading.rows, engine.poll, lambda: engine.poll() is None, every=0.1)
            sending.pause(arguments.warmup)
            reading.ages.clear()
            _say(engine)
            sending.pause(arguments.seconds)
            ages = np.concatenate([*reading.ages])
            cpu = json.loads(_asked(engine))
    median, p99, largest = (float(age) for age in np.percentile(ages, (50, 99, 100)).round(1))
    spent = round(whole(cpu), 1)
    return Latency(query, contestant.what, median, p99, largest, len(ages), spent)


@contextmanager
def _running(contestant: Contestant, job: Job) -> Iterator[subprocess.Popen[str]]:
    """The process of an engine with a live job."""
    command = [contestant.python, "-m", contestant.module, LIVE, *job.arguments()]
    with (job.folder / "log").open("w") as log:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        yield process
        process.wait(60)
    except BaseException:
        process.kill()
        print((job.folder / "log").read_text()[-2000:])
        raise


def _say(engine: subprocess.Popen[str]) -> None:
    assert engine.stdin is not None
    engine.stdin.write("\n")
    engine.stdin.flush()


def _asked(engine: subprocess.Popen[str]) -> str:
    """The answer after the second line."""
    _say(engine)
    assert engine.stdout is not None
    return engine.stdout.readline()


class _Thread:
    """Something that goes on beside what is in a `with`."""

    def __init__(self) -> None:
        self._ended = threading.Event()
        self._failed: list[BaseException] = []
        self._thread = threading.Thread(target=self._guarded, daemon=True)

    def __enter__(self) -> Any:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        for problem in self._failed:
            raise problem

    def pause(self, seconds: float) -> None:
        """Let it go on for so long."""
        deadline = time.monotonic() + seconds
        while not self._failed and time.monotonic() < deadline:
            time.sleep(0.1)

    def _guarded(self) -> None:
        try:
            self.go()
        except BaseException as problem:
            self._failed.append(problem)

    def go(self) -> None:
        raise NotImplementedError


class _Sending(_Thread):
    """Sends nine orders to a rate."""

    def __init__(self, here: Broker, orders: str, rates: str, rate: int) -> None:
        super().__init__()
        self._client = here.producer({"linger.ms": 5})
        self._orders, self._rates, self._rate = orders, rates, rate

    def go(self) -> None:
        began, sent = time.monotonic(), 0
        while not self._ended.wait(_TICK_S):
            due = int((time.monotonic() - began) * self._rate)
            if due - sent >= 2 * PARTITIONS:
                self._send(sent, due)
                sent = due
        self._client.flush(60)

    def _send(self, first: int, end: int) -> None:
        n = pl.int_range(first, end, eager=True)
        now = pl.lit(int(time.time() * 1000)).cast(pl.Datetime("ms")).alias("ts")
        rows = pl.DataFrame({"id": n}).with_columns((pl.col("id") % _ACCOUNTS).alias("account"))
        is_rate = pl.col("id") % 10 == pl.col("id") // _ACCOUNTS % 10
        rates = rows.filter(is_rate).select("account", pl.col("id").alias("rate"), now)
        orders = rows.filter(~is_rate).select(
            "id",
            "account",
            (pl.col("id") % 1000).alias("amount"),
            pl.lit("paid").alias("status"),
            now,
        )
        send(self._client, self._rates, rates, "account")
        send(self._client, self._orders, orders, "id")


class _Reading(_Thread):
    """Reads results and notes how old they are."""

    def __init__(self, here: Broker, topic: str) -> None:
        super().__init__()
        self._here, self._topic = here, topic
        self.ages: list[Any] = []
        self.rows = 0

    def go(self) -> None:
        quick = {"fetch.wait.max.ms": 20, "enable.partition.eof": False}
        with self._here.consumer(self._topic, "read_committed", quick) as (consumer, _):
            while not self._ended.is_set():
                messages = consumer.consume(10_000, 0.01)
                if messages:
                    self._note([message.value() for message in messages], time.time() * 1000)

    def _note(self, values: list[bytes], now: float) -> None:
        times = pl.Series(values, dtype=pl.Binary).cast(pl.String).str.json_path_match("$.ts")
        sent = times.str.to_datetime(_TIME, time_unit="ms").dt.epoch("ms").to_numpy()
        self.ages.append(now - sent)
        self.rows += len(values)


def _table(found: Sequence[Latency], rate: int) -> Table:
    table = Table(title=f"From sending to reading, at {rate:,} records per second, exactly once")
    table.add_column("query")
    table.add_column("engine")
    for heading in ("median ms", "99th percentile ms", "largest ms", "rows", "CPU s"):
        table.add_column(heading, justify="right")
    for one in found:
        ages = (f"{value:,.0f}" for value in (one.median_ms, one.p99_ms, one.largest_ms))
        table.add_row(one.query, one.what, *ages, f"{one.rows:,}", f"{one.cpu_seconds:,.1f}")
    return table
