"""The page about SQLite does what it says."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.connectors.jdbc_sinks import queried, run_locally
from tests.docs.examples import blocks_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sqlite.md"


def test_the_page_about_sqlite_does_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = blocks_of(PAGE)
    [made] = [block.text for block in blocks if block.language == "sqlite"]
    named = {block.file_name: block.text for block in blocks if block.file_name}
    [shown] = [block.text for block in blocks if "ann|2" in block.text]

    with closing(sqlite3.connect("shop.db")) as connection:
        connection.executescript(made)
        run_locally(named["totals.sql"])
        totals = connection.execute("SELECT * FROM totals ORDER BY customer").fetchall()

    assert ["|".join(map(str, row)) for row in totals] == shown.strip().splitlines()
    assert queried(named["lookup.sql"]) == [
        {"customer": "yan", "orders": None},
        {"customer": "zoe", "orders": 3},
    ]
