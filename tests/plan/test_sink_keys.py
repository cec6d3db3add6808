"""Sinks whose primary key is not the key of the query."""

from __future__ import annotations

import pytest

from tests.plan.marked import plan, refused, root, world
from tidemark.catalog.tables import Changelog
from tidemark.plan.nodes import Node, SinkUpsertMaterializer, walk
from tidemark.session.workspace import Workspace

SINKS = """
CREATE TABLE sink_n (n INT, id INT, PRIMARY KEY (n) NOT ENFORCED)
  WITH ('connector' = 'fake', 'updates' = 'true', 'upserts' = 'true');
CREATE TABLE by_id (id BIGINT, n BIGINT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'fake', 'updates' = 'true', 'upserts' = 'true');
CREATE TABLE by_both (id INT, n INT, PRIMARY KEY (id, n) NOT ENFORCED)
  WITH ('connector' = 'fake', 'updates' = 'true', 'upserts' = 'true');
CREATE TABLE whole_changes (n INT, id INT, PRIMARY KEY (n) NOT ENFORCED)
  WITH ('connector' = 'fake', 'updates' = 'true');
CREATE TABLE no_key (n INT, id INT)
  WITH ('connector' = 'fake', 'updates' = 'true', 'upserts' = 'true');
CREATE TABLE other (id INT, x INT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'fake', 'changelog' = 'RETRACT');
"""


@pytest.fixture
def tables() -> Workspace:
    return world(SINKS)


def materializers(node: Node) -> list[SinkUpsertMaterializer]:
    return [part for part in walk(node) if isinstance(part, SinkUpsertMaterializer)]


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO sink_n SELECT n, id FROM cdc",
        "INSERT INTO sink_n SELECT MAX(n), id FROM cdc GROUP BY id",
        # The row of an id moves when its n changes, and the join exchanges rows by that.
        "INSERT INTO by_id SELECT cdc.id, other.x FROM cdc JOIN other ON cdc.n = other.id",
        "INSERT INTO by_id SELECT id, n FROM cdc WHERE n IN (SELECT x FROM other)",
        "INSERT INTO by_id SELECT id, n FROM cdc UNION ALL SELECT id, x FROM other",
        "INSERT INTO by_id SELECT id + 1, n FROM cdc",
        "INSERT INTO by_id SELECT id, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY n "
        "ORDER BY id) AS rn FROM cdc) WHERE rn <= 2",
    ],
)
def test_changes_by_another_key_are_materialized(sql: str, tables: Workspace):
    planned = root(sql, tables)

    [node] = materializers(planned)
    assert node.on_conflict == "DEDUPLICATE"
    assert planned.edge.changelog is Changelog.UPSERT
    assert planned.edge.keys == (tuple(node.edge.names[key] for key in node.keys),)


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO by_id SELECT id, n FROM cdc",
        "INSERT INTO by_id SELECT id, COUNT(*) FROM cdc GROUP BY id",
        "INSERT INTO by_id SELECT cdc.id, COUNT(*) FROM cdc JOIN other ON cdc.n = other.id "
        "GROUP BY cdc.id",
        "INSERT INTO by_id SELECT id, n FROM cdc WHERE id IN (SELECT x FROM other)",
        "INSERT INTO by_id SELECT n, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY n "
        "ORDER BY id) AS rn FROM cdc) WHERE rn = 1",
        "INSERT INTO by_both SELECT id, n FROM cdc",
        "INSERT INTO sink_n SELECT a, a FROM t",
        "INSERT INTO whole_changes SELECT n, id FROM cdc",
        "INSERT INTO no_key SELECT n, id FROM cdc",
    ],
)
def test_changes_that_come_in_order_of_the_sinks_key_are_not(sql: str, tables: Workspace):
    assert materializers(root(sql, tables)) == []


@pytest.mark.parametrize("action", ["ERROR", "NOTHING", "DEDUPLICATE"])
def test_a_clause_says_which_row_counts(action: str, tables: Workspace):
    [node] = materializers(
        root(f"INSERT INTO sink_n SELECT n, id FROM cdc ON CONFLICT DO {action}", tables)
    )
    assert node.on_conflict == action
    assert node.description.details[1] == f"conflictStrategy=[{action}]"


def test_a_clause_holds_for_inserts_too_unless_the_last_one_counts_anyway(tables: Workspace):
    insert = "INSERT INTO sink_n SELECT a, a FROM t ON CONFLICT DO"

    assert len(materializers(root(f"{insert} NOTHING", tables))) == 1
    assert materializers(root(f"{insert} DEDUPLICATE", tables)) == []
    assert (
        materializers(root("INSERT INTO by_id SELECT id, id FROM k ON CONFLICT DO NOTHING", tables))
        == []
    )


def test_rows_are_materialized_never_or_always_if_an_option_says_so():
    never = world(SINKS, "SET 'table.exec.sink.upsert-materialize' = 'NONE'")
    always = world(SINKS, "SET 'table.exec.sink.upsert-materialize' = 'FORCE'")

    assert materializers(root("INSERT INTO sink_n SELECT n, id FROM cdc", never)) == []
    for sql in ("INSERT INTO by_id SELECT id, n FROM cdc", "INSERT INTO sink_n SELECT a, a FROM t"):
        assert len(materializers(root(sql, always))) == 1


def test_a_clause_can_be_required_as_in_flink():
    strict = world(SINKS, "SET 'table.exec.sink.require-on-conflict' = 'true'")

    error = refused("INSERT INTO «sink_n» SELECT n, id FROM cdc", at=strict)
    assert error.message == "rows of the query may have the same primary key of `sink_n`"
    assert plan("INSERT INTO sink_n SELECT n, id FROM cdc ON CONFLICT DO ERROR", strict)
    assert plan("INSERT INTO by_id SELECT id, n FROM cdc", strict)


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ("no_key", "it has no primary key"),
        ("whole_changes", "its rows do not replace each other by the primary key"),
    ],
)
def test_a_clause_needs_a_sink_of_upserts(table: str, why: str, tables: Workspace):
    error = refused(
        f"INSERT INTO «{table}» SELECT n, id FROM cdc ON CONFLICT DO NOTHING", at=tables
    )
    assert error.message == f"ON CONFLICT has no meaning for table `{table}`"
    assert error.notes["why"] == why


def test_a_clause_without_materializing_is_an_error():
    never = world(SINKS, "SET 'table.exec.sink.upsert-materialize' = 'NONE'")

    error = refused("INSERT INTO «sink_n» SELECT n, id FROM cdc ON CONFLICT DO NOTHING", at=never)
    assert error.hint == "RESET 'table.exec.sink.upsert-materialize'"


def test_state_means_the_keys_and_columns_of_the_query(tables: Workspace):
    [node] = materializers(root("INSERT INTO sink_n SELECT n, id FROM cdc", tables))

    assert node.state is not None
    assert node.state.meaning["on conflict"] == "DEDUPLICATE"
    assert len(node.state.meaning["columns"]) == 2
