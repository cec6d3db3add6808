"""Event-time temporal joins from SQL to rows: as one batch, as a stream, across a restart."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import tidemark
from tests.sink_files import written_rows
from tidemark import Session
from tidemark.session.verify import verify

DDL = """
CREATE TABLE orders (
  id INT, currency STRING, ts TIMESTAMP(3), proctime AS PROCTIME(),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '{folder}/orders', 'format' = 'json');
CREATE TABLE rates (
  currency STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts,
  PRIMARY KEY (currency) NOT ENFORCED
) WITH ('connector' = 'filesystem', 'path' = '{folder}/rates', 'format' = 'json');
CREATE TABLE rate_history (currency STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '{folder}/rates', 'format' = 'json');
CREATE VIEW versioned_rates AS
SELECT currency, rate, ts FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY currency ORDER BY ts DESC) AS rn FROM rate_history
) WHERE rn = 1;
"""


def write(folder: Path, table: str, name: str, *rows: str) -> None:
    """Rows as "value currency second"; the value is an order's id or a rate. A currency may be null."""
    lines = []
    for row in rows:
        value, word, second = row.split()
        currency = None if word == "null" else word
        key = "id" if table == "orders" else "rate"
        at = f"2024-01-01 00:00:{int(second):02}"
        lines.append(json.dumps({key: int(value), "currency": currency, "ts": at}))
    (folder / table).mkdir(exist_ok=True)
    (folder / table / f"{name}.json").write_text("\n".join(lines) + "\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, "orders", "a", "1 EUR 5", "2 EUR 15", "3 XXX 15", "4 EUR 10", "5 USD 40")
    write(tmp_path, "rates", "a", "110 EUR 0", "120 EUR 10", "100 USD 30", "130 EUR 59")
    return tmp_path


@pytest.fixture
def session(spark, folder) -> Iterator[Session]:
    session = tidemark.connect(spark)
    session.sql(DDL.format(folder=folder))
    yield session
    session.stop()


JOIN = """
SELECT o.id, r.rate FROM orders AS o
{how} JOIN {table} FOR SYSTEM_TIME AS OF o.ts AS r ON o.currency = r.currency {more}
"""


def rates_of(session: Session, query: str) -> dict[int, int | None]:
    return {row["id"]: row["rate"] for row in session.sql(query).rows()}


def test_each_order_gets_the_rate_that_was_valid_at_its_time(session):
    query = JOIN.format(how="LEFT", table="rates", more="")

    assert rates_of(session, query) == {1: 110, 2: 120, 3: None, 4: 120, 5: 100}


def test_a_condition_that_fails_pads_a_left_join_and_drops_from_an_inner_one(session):
    more = "AND r.rate <> 120"

    padded = rates_of(session, JOIN.format(how="LEFT", table="rates", more=more))
    assert padded == {1: 110, 2: None, 3: None, 4: None, 5: 100}
    kept = rates_of(session, JOIN.format(how="", table="rates", more=more))
    assert kept == {1: 110, 5: 100}


def test_stream_and_batch_agree_over_tables_and_views(session):
    script = ";".join(
        JOIN.format(how="LEFT", table=table, more="") + " WHERE o.id <> 5"
        for table in ("rates", "versioned_rates")
    )

    first, second = verify(session, script)

    assert first.equal
    assert second.equal
    assert first.stream.rows == second.stream.rows == 4


@pytest.mark.thorough
def test_a_stream_that_forgets_idle_keys_ends_with_its_bounded_tables(session):
    session.sql("SET 'table.exec.state.ttl' = '1 h'")

    [outcome] = verify(session, JOIN.format(how="LEFT", table="rates", more=""))

    assert outcome.equal
    assert outcome.stream.rows == 5


def test_a_temporal_function_joins_by_event_time_and_by_processing_time(session):
    session.create_temporal_table_function(
        "rates_at", "rate_history", time_attribute="ts", primary_key="currency"
    )
    query = "SELECT o.id, r.rate FROM orders AS o, LATERAL TABLE(rates_at(o.{time})) AS r WHERE o.currency = r.currency"

    assert rates_of(session, query.format(time="ts")) == {1: 110, 2: 120, 4: 120, 5: 100}
    # The latest version that is there, whatever the time of the order.
    assert rates_of(session, query.format(time="proctime")) == {1: 130, 2: 130, 4: 130, 5: 100}


@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_null_matches_null_in_a_nullable_key(session, folder, mode):
    write(folder, "rates", "b", "70 null 1", "80 null 20")
    write(folder, "orders", "b", "6 null 5", "7 null 30")
    session.sql(f"SET 'execution.runtime-mode' = '{mode}'")

    joined = rates_of(session, JOIN.format(how="LEFT", table="versioned_rates", more=""))

    assert joined == {1: 110, 2: 120, 3: None, 4: 120, 5: 100, 6: 70, 7: 80}


def test_null_matches_null_in_a_key_that_where_compares(session, folder):
    write(folder, "rates", "b", "70 null 1")
    write(folder, "orders", "b", "6 null 5")

    joined = rates_of(
        session,
        "SELECT o.id, r.rate FROM orders AS o, versioned_rates FOR SYSTEM_TIME AS OF o.ts AS r "
        "WHERE o.currency = r.currency AND o.id > 4",
    )

    assert joined == {5: 100, 6: 70}


def test_a_stream_waits_for_the_watermark_and_resumes_after_a_restart(spark, tmp_path):
    """Orders 5 s late at most, rates in order: an order waits until both sides are past it."""
    sink = tmp_path / "out"
    monitored = DDL.replace("'format'", "'source.monitor-interval' = '1', 'format'")
    for table in ("orders", "rates"):
        (tmp_path / table).mkdir()

    def run_until(expected: dict[int, int]) -> None:
        session = tidemark.connect(spark, checkpoint=tmp_path / "checkpoint")
        session.sql(monitored.format(folder=tmp_path))
        session.sql(
            f"CREATE TABLE snk (id INT, rate INT) WITH ('connector' = 'filesystem', 'path' = '{sink}', 'format' = 'json')"
        )
        job = session.sql("INSERT INTO snk" + JOIN.format(how="", table="rates", more="")).job
        while written(sink) != expected:
            assert not job.wait(1), f"ended with {written(sink)}"
        job.stop()

    write(tmp_path, "rates", "a", "110 EUR 0", "120 EUR 10")
    write(tmp_path, "orders", "a", "1 EUR 5", "2 EUR 12", "3 EUR 16")
    run_until({1: 110})  # the watermark is 10, where the rates are
    write(tmp_path, "rates", "b", "130 EUR 20")
    write(tmp_path, "orders", "b", "4 EUR 30")
    run_until({1: 110, 2: 120, 3: 120})


def written(folder: Path) -> dict[int, int]:
    rows = written_rows(folder)
    assert len({row["id"] for row in rows}) == len(rows), "a row was written twice"
    return {row["id"]: row["rate"] for row in rows}


def test_dataframes_are_joined_by_the_same_plan(spark):
    def at(second: int) -> dt.datetime:
        return dt.datetime(2024, 1, 1, 0, 0, second)

    orders = spark.createDataFrame(
        [(1, "a", at(5)), (2, "a", at(9)), (3, "b", at(9))], ["id", "k", "ts"]
    )
    prices = spark.createDataFrame([("a", 10, at(1)), ("a", 20, at(7))], ["k", "price", "ts"])

    joined = tidemark.temporal_join(
        orders,
        prices,
        on="k",
        left_time="ts",
        right_time="ts",
        how="left",
        watermarks={"left": "5 seconds"},
    )

    assert joined.columns == ["id", "k", "ts", "price", "ts_right"]
    assert sorted((row.id, row.price) for row in joined.collect()) == [(1, 10), (2, 20), (3, None)]
