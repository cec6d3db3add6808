"""A steady stream of orders and versions: through Tidemark's join, or straight to the reader."""

from __future__ import annotations

import argparse
import json
import threading
import time
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

import tidemark
from bench.temporal_join_references import spark_session
from bench.temporal_join_tidemark import register
from bench.temporal_join_workload import JOIN

# Few enough that all have a version within a second or two.
ACCOUNTS = 1_000


@dataclass(frozen=True)
class Rate:
    """Rows per second, and for how many seconds."""

    rows: int = 5_000
    seconds: int = 60
    warmup: int = 20

    @property
    def versions(self) -> int:
        return self.rows // 10

    @property
    def orders(self) -> int:
        return self.rows - self.versions

    def arguments(self) -> list[str]:
        return [f"--{name}={value}" for name, value in asdict(self).items()]


@dataclass(frozen=True)
class Arrived:
    """The ages of rows when they reached the reader."""

    median_ms: float
    p99_ms: float
    largest_ms: float
    rows: int
    micro_batches: int


@dataclass
class Arrivals:
    """Collects the ages of rows as they arrive, once the warm-up is over."""

    rate: Rate
    ages: list[Any] = field(default_factory=list)
    started: float | None = None

    def take(self, times: pa.ChunkedArray) -> bool:
        """Add the event times of rows that have just arrived; returns whether more are wanted."""
        now = time.time()
        # The clock starts with the first rows, after the start of Spark and its workers.
        self.started = self.started or now
        since = now - self.started
        if since >= self.rate.warmup and len(times):
            microseconds = times.cast(pa.timestamp("us", "UTC")).cast(pa.int64()).to_numpy()
            self.ages.append(now * 1000 - microseconds / 1000)
        return since < self.rate.warmup + self.rate.seconds

    def read(self) -> Arrived:
        ages = np.concatenate(self.ages)
        median, p99, largest = (float(age) for age in np.percentile(ages, (50, 99, 100)).round(1))
        return Arrived(median, p99, largest, len(ages), len(self.ages))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("way")
    for name in asdict(Rate()):
        parser.add_argument(f"--{name}", type=int)
    arguments = vars(parser.parse_args())
    way = {"tidemark": by_tidemark, "spark": by_spark}[arguments.pop("way")]
    print(json.dumps(asdict(way(Rate(**arguments)).read())), flush=True)


def by_tidemark(rate: Rate) -> Arrivals:
    arrivals = Arrivals(rate)
    with tidemark.connect() as session:
        register(session, *streams(session.spark, rate))
        for rows in session.sql(JOIN).batches():
            if not arrivals.take(rows["order_time"]):
                break
    return arrivals


def by_spark(rate: Rate) -> Arrivals:
    arrivals, enough = Arrivals(rate), threading.Event()
    spark = spark_session()

    def consume(frame: Any, _: int) -> None:
        if not arrivals.take(frame.toArrow()["time"]):
            enough.set()

    orders, versions = streams(spark, rate)
    times = orders.selectExpr("order_time AS time").union(versions.selectExpr("valid_from"))
    query = times.writeStream.foreachBatch(consume).start()
    while query.isActive and not enough.wait(0.2):
        pass
    query.stop()
    spark.stop()
    return arrivals


def streams(spark: Any, rate: Rate) -> tuple[Any, Any]:
    """Orders and versions, with the source's own timestamp as event time."""
    orders, versions = (
        spark.readStream.format("rate").option("rowsPerSecond", rows).load()
        for rows in (rate.orders, rate.versions)
    )
    account = f"value % {ACCOUNTS} AS account"
    return (
        orders.selectExpr("value AS n", account, "timestamp AS order_time"),
        versions.selectExpr(account, "value AS version", "timestamp AS valid_from"),
    )


if __name__ == "__main__":
    main()
