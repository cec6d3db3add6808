"""LATERAL SNAPSHOT on Spark, one row after another, over restarts; and as a batch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tidemark
from tests.session.stories import Story, goes_as_told
from tidemark.session.verify import verify

DDL = """
CREATE TABLE orders (id INT, k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/orders' {more});
CREATE TABLE rates (k STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/rates' {more});
"""
JOIN = """
SELECT o.id, o.k, s.rate FROM orders AS o LEFT JOIN LATERAL SNAPSHOT(
  input => TABLE rates, on_time => DESCRIPTOR(ts){until}) AS s ON o.k = s.k
"""
UNTIL = ", load_completed_time => TIMESTAMP '2024-01-01 00:00:10'"
MONITORED = ", 'source.monitor-interval' = '1'"

# Orders are far ahead of the rates, and behind: only the rates' watermark counts.
STORY = """
row         | what         | comes out
----------- | ------------ | -----------------------
orders      | 1 EUR 50     |
rates       | EUR 110 2    |
restart     |              |
orders      | 2 YEN 1      |
rates       | EUR 115 9    |
rates       | USD 100 11   | 1 EUR 110, 1 EUR 115, 2 YEN -
orders      | 3 USD 0      | 3 USD -
restart     |              |
orders      | 4 EUR 99     | 4 EUR 110, 4 EUR 115
rates       | YEN 1 14     |
orders      | 5 USD 3      | 5 USD 100
orders      | 6 YEN 3      | 6 YEN -
"""


def row(text: str) -> dict[str, Any]:
    """An order, `id k second`, or a rate, `k rate second`."""
    one, other, second = text.split()
    ts = f"2024-01-01 00:00:{int(second) % 60:02}"
    if one.isdigit():
        return {"id": int(one), "k": other, "ts": ts}
    return {"k": one, "rate": int(other), "ts": ts}


@pytest.mark.slow
def test_orders_wait_for_the_rates_and_then_for_nothing(spark, tmp_path):
    script = DDL.replace("{more}", MONITORED) + JOIN.replace("{until}", UNTIL)

    goes_as_told(Story(spark, tmp_path, ("orders", "rates")), script, STORY, row)


def put(folder: Path, table: str, *texts: str) -> None:
    (folder / table).mkdir()
    lines = [json.dumps(row(text)) for text in texts]
    (folder / table / "rows.json").write_text("\n".join(lines) + "\n")


@pytest.mark.thorough
def test_a_stream_of_bounded_tables_has_the_rows_of_a_batch(spark, tmp_path):
    put(tmp_path, "orders", "1 EUR 1", "2 YEN 2", "3 USD 30")
    put(tmp_path, "rates", "EUR 110 2", "EUR 115 9", "USD 100 11")
    session = tidemark.connect(spark)
    session.sql(DDL.format(folder=tmp_path, more=""))
    query = JOIN.format(until="")

    [outcome] = verify(session, query)

    assert outcome.equal
    expected = [(1, 110), (1, 115), (2, None), (3, 100)]
    rows = session.sql(query).rows()
    assert sorted((r["id"], r["rate"]) for r in rows) == expected
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    rows = session.sql(query).rows()
    assert sorted((r["id"], r["rate"]) for r in rows) == expected
    session.stop()


@pytest.mark.parametrize(
    ("join", "expected"),
    [
        ("JOIN", [(101, 100), (111, 100), (111, 110)]),
        ("LEFT JOIN", [(101, 100), (111, 100), (111, 110), (91, None)]),
    ],
)
def test_without_an_equality_each_order_meets_all_rates(join, expected, tmp_path):
    put(tmp_path, "orders", "101 EUR 1", "111 YEN 2", "91 USD 30")
    put(tmp_path, "rates", "EUR 110 2", "USD 100 11")
    session = tidemark.connect(engine="local")
    session.sql(DDL.format(folder=tmp_path, more=""))

    rows = session.sql(
        f"SELECT o.id, s.rate FROM orders AS o {join} LATERAL SNAPSHOT("
        "input => TABLE rates, on_time => DESCRIPTOR(ts)) AS s ON s.rate < o.id"
    ).rows()

    assert sorted(((r["id"], r["rate"]) for r in rows), key=str) == sorted(expected, key=str)
    session.stop()
