"""The page about Kafka does what it says. Its job runs over a bounded topic here; how a job follows
a topic and resumes is in `tests/session/test_kafka.py`.
"""

from __future__ import annotations

import json
from pathlib import Path

import tidemark
from servers.kafka import Broker
from tests.docs.examples import blocks_of
from tidemark.session.result import JobResult, Result

PAGE = Path(__file__).resolve().parents[2] / "docs" / "kafka.md"
_BOUND = "/*+ OPTIONS('scan.bounded.mode' = 'latest-offset') */"


def test_the_page_about_kafka_does_what_it_says(kafka: Broker):
    orders, totals = kafka.topic(), kafka.topic()
    scripts = {block.file_name: block.text for block in blocks_of(PAGE) if block.file_name}
    tables = scripts["tables.sql"].replace("localhost:9092", kafka.address)
    tables = tables.replace("'topic' = 'orders'", f"'topic' = '{orders}'")
    tables = tables.replace("'topic' = 'totals'", f"'topic' = '{totals}'")
    once = scripts["exactly_once.sql"].replace("localhost:9092", kafka.address)
    once = once.replace("'topic' = 'totals'", f"'topic' = '{kafka.topic()}'")

    with tidemark.connect(engine="local") as session:
        finished(session, tables + scripts["orders.sql"])
        found = finished(session, scripts["look.sql"]).rows()
        finished(session, scripts["totals.sql"].replace("FROM orders", f"FROM orders {_BOUND}"))
        finished(session, once)

    assert kafka.read(orders)[0].value().decode() in PAGE.read_text()
    columns = ("customer", "amount", "part", "place")
    assert [[str(row[column]) for column in columns] for row in found] == table_with(*columns)
    newest = {str(message.key()): json.loads(message.value()) for message in kafka.read(totals)}
    assert sorted(newest.values(), key=lambda record: str(record["customer"])) == [
        {"customer": customer, "orders": int(count), "amount": float(amount)}
        for customer, count, amount in table_with("customer", "orders", "amount")
    ]


def finished(session: tidemark.Session, script: str) -> Result:
    *_, last = session.run(script)
    if isinstance(last, JobResult):
        last.wait()
    return last


def table_with(*columns: str) -> list[list[str]]:
    """The rows of the page's table with these columns."""
    _, _, after = PAGE.read_text().partition(f"| {' | '.join(columns)} |\n")
    rows = after.partition("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
