"""The page about Delta and Iceberg does what it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.docs.examples import blocks_of
from tidemark import connect
from tidemark.session.result import JobResult

PAGE = Path(__file__).resolve().parents[3] / "docs" / "lake.md"


def run(script: str) -> list[tuple[Any, ...]]:
    """The rows of the last statement."""
    with connect(engine="local", options={"execution.runtime-mode": "batch"}) as session:
        last = None
        for last in session.run(script):
            if isinstance(last, JobResult):
                last.wait()
        return [] if isinstance(last, JobResult) else [tuple(r.values()) for r in last.rows()]


def test_the_page_about_lake_tables_does_what_it_says(tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    scripts = {block.file_name: block.text for block in blocks_of(PAGE) if block.file_name}

    assert run(scripts["orders.sql"]) == []
    assert run(scripts["before.sql"]) == [(2,)]
    assert run(scripts["totals.sql"]) == []

    assert run(scripts["iceberg.sql"]) == []
    query = scripts["iceberg.sql"].split("INSERT")[0] + "SELECT * FROM totals;"
    assert sorted(run(query)) == [("ann", 2), ("bob", 1), ("cem", 1)]

    assert run(scripts["catalog.sql"]) == []
    assert sorted(run(scripts["catalog_query.sql"])) == [("ann", "home"), ("bob", "help")]

    query = scripts["totals.sql"].split("INSERT")[0] + "SELECT * FROM totals;"
    totals = [(c, n, str(amount)) for c, n, amount in sorted(run(query))]
    assert totals == [("ann", 2, "20.00"), ("bob", 1, "99.00"), ("cem", 1, "20.00")]
    assert all(amount in PAGE.read_text() for _, _, amount in totals)
