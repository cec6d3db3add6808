"""The queries of the benchmark Nexmark, over its own generator."""

from __future__ import annotations

from pathlib import Path

import pytest

import tidemark
from tidemark.connectors import registry
from tidemark.session.workspace import Workspace

EXAMPLES = Path(__file__).parents[2] / "examples" / "nexmark"
TABLES = (EXAMPLES / "tables.sql").read_text()
QUERIES = {path.stem: path.read_text() for path in sorted(EXAMPLES.glob("*[0-9].sql"))}


def test_all_queries_are_there():
    assert set(QUERIES) == {*(f"q{n}" for n in range(24)), *(f"cep{n}" for n in range(4))}


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_is_planned(name):
    at = Workspace(traits=registry.traits)
    at.plan_script(TABLES)
    at.plan_script(QUERIES[name])


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_runs_over_generated_events(name, tmp_path):
    tables = TABLES.replace("'100000'", "'2000'")
    query = QUERIES[name].replace("output/nexmark", str(tmp_path))

    with tidemark.connect(engine="local") as session:
        session.sql(tables)
        assert session.sql(query).wait()


def test_the_winning_prices_are_those_of_the_events():
    """Query 4 before its average, against a plain loop."""
    with tidemark.connect(engine="local") as session:
        session.sql(TABLES.replace("'100000'", "'2000', 'tidemark.base-time' = '2024-01-01'"))
        auctions = session.sql("SELECT id, `dateTime`, expires FROM auction").rows()
        bids = session.sql("SELECT auction, price, `dateTime` FROM bid").rows()
        found = session.sql(
            "SELECT A.id, MAX(B.price) AS price FROM auction A, bid B WHERE A.id = B.auction"
            " AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires GROUP BY A.id"
        ).rows()
    open_for = {a["id"]: (a["dateTime"], a["expires"]) for a in auctions}
    highest: dict[int, int] = {}
    for bid in bids:
        begin, end = open_for.get(bid["auction"], (None, None))
        if begin is not None and begin <= bid["dateTime"] <= end:
            highest[bid["auction"]] = max(bid["price"], highest.get(bid["auction"], 0))

    assert {row["id"]: row["price"] for row in found} == highest
    assert len(highest) > 50
