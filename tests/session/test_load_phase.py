"""Joining with what is there now: left rows wait until the right side's beginning has been read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import tidemark
from tests.sink_files import written_rows
from tests.waiting import wait_until
from tidemark import Session
from tidemark.session.verify import verify

DDL = """
SET 'tidemark.temporal-join.load-phase' = '{silence}';
CREATE TABLE orders (id INT, k STRING, ts TIMESTAMP(3), proctime AS PROCTIME(), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/orders' {more});
CREATE TABLE rates (k STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts,
  PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/rates' {more});
CREATE TABLE sink (id INT, rate INT)
WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/out');
"""
JOIN = """
SELECT o.id, r.rate FROM orders AS o
LEFT JOIN rates FOR SYSTEM_TIME AS OF o.proctime AS r ON o.k = r.k
"""


@pytest.fixture
def session(spark) -> Iterator[Session]:
    session = tidemark.connect(spark)
    yield session
    session.stop()


def put(folder: Path, table: str, name: str, *rows: dict[str, object]) -> None:
    (folder / table).mkdir(exist_ok=True)
    lines = [json.dumps({**row, "ts": "2024-01-01 00:00:00"}) for row in rows]
    (folder / table / f".{name}").write_text("\n".join(lines) + "\n")
    (folder / table / f".{name}").rename(folder / table / f"{name}.json")


def written(folder: Path) -> dict[int, int | None]:
    return {row["id"]: row.get("rate") for row in written_rows(folder / "out")}


def test_orders_wait_for_all_rates_of_a_bounded_table_as_a_stream_and_as_a_batch(session, tmp_path):
    put(tmp_path, "orders", "a", {"id": 1, "k": "EUR"}, {"id": 2, "k": "YEN"})
    put(tmp_path, "rates", "a", {"k": "EUR", "rate": 110})
    put(tmp_path, "rates", "b", {"k": "EUR", "rate": 120})
    session.sql(DDL.format(folder=tmp_path, silence="1 h", more=""))

    [outcome] = verify(session, JOIN)

    assert outcome.equal
    rows = session.sql(JOIN).rows()
    assert {row["id"]: row["rate"] for row in rows} == {1: 120, 2: None}


@pytest.mark.thorough
@pytest.mark.slow
def test_an_idle_right_side_counts_as_loaded_after_a_while(session, tmp_path):
    (tmp_path / "rates").mkdir()
    put(tmp_path, "orders", "a", {"id": 1, "k": "EUR"})
    monitored = ", 'source.monitor-interval' = '1'"
    session.sql(DDL.format(folder=tmp_path, silence="1 s", more=monitored))
    job = session.sql(f"INSERT INTO sink {JOIN}").job

    def wait_for(happened) -> None:
        wait_until(happened, lambda: written(tmp_path), lambda: job.state == "running")

    try:
        wait_for(lambda: written(tmp_path) == {1: None})
        put(tmp_path, "rates", "a", {"k": "EUR", "rate": 110})
        wait_for(lambda: sum(join.rows_in[1] for join in job.progress().operators) == 1)
        put(tmp_path, "orders", "b", {"id": 2, "k": "EUR"})
        wait_for(lambda: written(tmp_path) == {1: None, 2: 110})
    finally:
        job.stop()
