"""The page about PostgreSQL does what it says."""

from __future__ import annotations

import datetime as dt
import uuid
from pathlib import Path

from servers.postgres import Postgres
from tests.docs.examples import blocks_of
from tidemark import connect
from tidemark.session.result import JobResult

PAGE = Path(__file__).resolve().parents[2] / "docs" / "postgresql.md"


def test_the_page_about_postgresql_does_what_it_says(postgres: Postgres):
    database = f"shop{uuid.uuid4().hex[:8]}"
    postgres.run(f"CREATE DATABASE {database}")
    blocks = blocks_of(PAGE)
    [made] = [block.text for block in blocks if block.language == "postgresql"]
    postgres.run(made, database=database)

    for name in ("totals.sql", "catalog.sql"):
        [script] = [block.text for block in blocks if block.file_name == name]
        found = run(script.replace("jdbc:postgresql://localhost:5432", postgres.base_url), database)

    totals = postgres.rows("SELECT customer, orders, amount::text FROM totals ORDER BY 1", database)
    assert totals == [
        ("ann", 2, "20.00"),
        ("bob", 1, "99.00"),
        ("cem", 1, "20.00"),
        ("zoe", 3, "30.00"),
    ]
    assert all(f"{amount}" in PAGE.read_text() for _, _, amount in totals)
    assert found == {
        "ann": dt.datetime(2024, 5, 2, 10),
        "bob": dt.datetime(2024, 5, 1, 9, 30),
        "cem": dt.datetime(2024, 5, 2, 11),
    }


def run(script: str, database: str) -> dict[str, dt.datetime]:
    script = script.replace("/shop'", f"/{database}'")
    script = script.replace("'shop'", f"'{database}'").replace("'me'", "'postgres'")
    script = script.replace("'secret'", "'it''s a secret'")
    with connect(engine="local", options={"execution.runtime-mode": "batch"}) as session:
        *_, last = session.run(script)
        if isinstance(last, JobResult):
            last.wait()
            return {}
        return {row["customer"]: row["latest"] for row in last.rows()}
