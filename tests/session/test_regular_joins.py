"""Regular joins from SQL to rows: over changelogs, as one batch, as a stream."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tidemark
from tidemark import Session
from tidemark.errors import TidemarkError
from tidemark.session.verify import verify

from .moving import MovingJob

DDL = """
CREATE TABLE orders (id INT, customer STRING, amount INT, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'filesystem', 'path' = '{folder}/orders.json', 'format' = 'debezium-json');
CREATE TABLE customers (name STRING, city STRING, PRIMARY KEY (name) NOT ENFORCED)
WITH ('connector' = 'filesystem', 'path' = '{folder}/customers.json', 'format' = 'debezium-json');
"""
FULL = """
SELECT o.id, o.amount, c.city FROM orders AS o FULL JOIN customers AS c ON o.customer = c.name"""


def order(id_: int, customer: str | None, amount: int) -> dict[str, Any]:
    return {"id": id_, "customer": customer, "amount": amount}


def customer(name: str, city: str) -> dict[str, Any]:
    return {"name": name, "city": city}


def write(path: Path, *changes: tuple[dict[str, Any] | None, dict[str, Any] | None]) -> None:
    """Changes as the row before and the row after."""
    kinds = {(True, False): "c", (False, False): "u", (False, True): "d"}
    lines = [
        json.dumps({"before": b, "after": a, "op": kinds[b is None, a is None]}) for b, a in changes
    ]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def session(spark, tmp_path: Path) -> Iterator[Session]:
    write(
        tmp_path / "orders.json",
        (None, order(1, "ann", 10)),
        (None, order(2, "bob", 20)),
        (order(2, "bob", 20), order(2, "cid", 25)),
        (None, order(3, "ann", 30)),
        (order(3, "ann", 30), None),
        (None, order(4, None, 40)),
    )
    write(
        tmp_path / "customers.json",
        (None, customer("ann", "Rome")),
        (customer("ann", "Rome"), customer("ann", "Oslo")),
        (None, customer("bob", "Bern")),
        (None, customer("dee", "Lima")),
        (customer("dee", "Lima"), None),
    )
    session = tidemark.connect(spark)
    session.sql(DDL.format(folder=tmp_path))
    yield session
    session.stop()


LEFT_OVER = {(1, 10, "Oslo"), (2, 25, None), (4, 40, None), (None, None, "Bern")}


def rows_of(session: Session, query: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in session.sql(query).rows()]


def test_a_stream_ends_with_the_result_of_a_batch(session):
    by_city = f"SELECT city, COUNT(*) AS n, SUM(amount) AS amount FROM ({FULL}) GROUP BY city"

    assert [found.equal for found in verify(session, f"{FULL};{by_city}")] == [True, True]


def test_state_with_a_ttl_is_kept_until_it_expires(session):
    session.sql("SET 'table.exec.state.ttl' = '1 h'")
    hint = "/*+ STATE_TTL('o' = '0', 'c' = '1 d') */"

    [outcome] = verify(session, FULL.replace("SELECT", f"SELECT {hint}", 1))

    assert outcome.equal
    assert outcome.stream.rows == len(LEFT_OVER)


def test_a_batch_emits_only_the_final_result(session):
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    result = session.sql(FULL)

    assert {(change.kind, *change.row.values()) for change in result.changes()} == {
        ("+I", *row) for row in LEFT_OVER
    }


@pytest.mark.parametrize(("test", "ids"), [("EXISTS", [1]), ("NOT EXISTS", [2, 4])])
def test_each_row_is_in_the_result_while_it_is_matched_or_while_it_is_unmatched(session, test, ids):
    query = f"SELECT id FROM orders AS o WHERE {test} (SELECT 1 FROM customers AS c WHERE c.name = o.customer)"

    assert sorted(row["id"] for row in session.sql(query).rows()) == ids


@pytest.mark.thorough
def test_subqueries_and_set_operations_over_changelogs_end_with_the_result_of_a_batch(session):
    queries = """
    SELECT customer FROM orders EXCEPT ALL SELECT name FROM customers;
    SELECT id, (SELECT COUNT(*) FROM customers AS c WHERE c.name = o.customer) AS n
    FROM orders AS o WHERE amount > (SELECT MIN(amount) FROM orders);
    """

    assert [found.equal for found in verify(session, queries)] == [True, True]


def test_more_than_one_row_in_place_of_a_value_fails_the_job(session):
    result = session.sql("SELECT name, (SELECT id FROM orders) AS id FROM customers")

    with pytest.raises(TidemarkError, match="a scalar subquery returned more than one row"):
        result.rows()


def test_a_join_without_keys_goes_on_after_a_restart(spark, tmp_path):
    job = MovingJob(spark, tmp_path, "SELECT k, v FROM a WHERE v NOT IN (SELECT v FROM b)")

    out = job.step(a=[(1, 10, 0), (2, 20, 0)], b=[(7, 20, 0)])
    assert +out == Counter([(1, 10)])

    out = job.step(a=[(3, 30, 1)], b=[(8, 10, 1)], partitions=3)
    assert +out == Counter([(3, 30)])
