"""Changes of PostgreSQL in jobs on Spark; how jobs resume is in the test of their page."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import TYPE_CHECKING

import tidemark
from servers.postgres import Postgres
from tests.connectors.postgres_cdc.streams import captured, options
from tests.waiting import wait_until
from tidemark.session.result import JobResult

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_each_row_gets_the_version_of_its_time(
    spark: SparkSession, postgres: Postgres, tmp_path: Path
):
    # The snapshot holds since 1970, and the change since its commit.
    rates = captured(postgres, "currency text primary key, rate int", "('EUR', 1)", "('YEN', 9)")
    postgres.run(f"ALTER TABLE {rates} REPLICA IDENTITY DEFAULT")
    rated = postgres.table("id int, rate int")
    orders = tmp_path / "orders"
    orders.mkdir()

    def order(id_: int, at: dt.datetime) -> None:
        hidden = orders / f".{id_}"
        time = at.astimezone(dt.UTC).isoformat(" ", "milliseconds").replace("+00:00", "Z")
        hidden.write_text(json.dumps({"id": id_, "currency": "EUR", "ts": time}))
        hidden.rename(orders / f"{id_}.json")

    order(1, dt.datetime(2000, 1, 1, tzinfo=dt.UTC))
    with tidemark.connect(spark, checkpoint=tmp_path / "state") as session:
        *_, result = session.run(
            f"""
            CREATE TABLE rates (
              currency STRING, rate INT, changed TIMESTAMP_LTZ(3) METADATA FROM 'op_ts' VIRTUAL,
              WATERMARK FOR changed AS changed, PRIMARY KEY (currency) NOT ENFORCED
            ) {options(postgres, rates, changelog_mode="upsert")};
            CREATE TABLE orders (
              id INT, currency STRING, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts
            ) WITH ('connector' = 'filesystem', 'path' = '{orders}', 'format' = 'json',
              'source.monitor-interval' = '10 ms');
            CREATE TABLE rated (id INT, rate INT) {postgres.options(rated)};
            INSERT INTO rated SELECT o.id, r.rate FROM orders AS o
            JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.currency = r.currency;
            """
        )
        assert isinstance(result, JobResult)
        wait_until(lambda: [*(tmp_path / "state").rglob("start.json")])
        postgres.run(f"UPDATE {rates} SET rate = 2 WHERE currency = 'EUR'")
        [(now,)] = postgres.rows("SELECT clock_timestamp() + interval '1 ms'")
        order(2, now)
        wait_until(lambda: postgres.rows("SELECT clock_timestamp()") > [(now,)])
        postgres.run(f"DELETE FROM {rates} WHERE currency = 'YEN'")
        found = f"SELECT id, rate FROM {rated} ORDER BY id"
        wait_until(
            lambda: postgres.rows(found) == [(1, 1), (2, 2)],
            lambda: postgres.rows(found),
            lambda: result.job.state == "running",
        )
