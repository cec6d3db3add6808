"""TO_CHANGELOG and FROM_CHANGELOG: their columns, what they need of their input, and mistakes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plan.marked import plan, refused, root, schema, world
from tidemark import types as t
from tidemark.catalog.tables import Changelog, UserFunction
from tidemark.dialect.statements import Name
from tidemark.errors import NotSupported
from tidemark.plan.nodes import (
    ChangelogNormalize,
    FromChangelog,
    GroupAggregate,
    Node,
    Scan,
    ToChangelog,
    walk,
)
from tidemark.session.workspace import Workspace

DDL = """
CREATE TABLE up (id INT, k STRING, v INT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'fake', 'changelog' = 'UPSERT');
CREATE TABLE log (op STRING, id INT, k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'fake');
CREATE VIEW counts AS SELECT b, COUNT(*) AS n FROM t GROUP BY b;
CREATE VIEW changes AS SELECT * FROM FROM_CHANGELOG(input => TABLE log);
"""


@pytest.fixture
def tables() -> Workspace:
    return world(DDL)


def found(kind: type[Any], node: Node) -> Any:
    [only] = [part for part in walk(node) if isinstance(part, kind)]
    return only


# --- columns -----------------------------------------------------------------------------------


def test_the_row_kind_comes_before_the_columns(tables):
    sql = "SELECT * FROM TO_CHANGELOG(input => TABLE cdc)"

    assert schema(sql, tables) == "op STRING, id INT NOT NULL, n INT"
    assert root(sql, tables).edge.changelog is Changelog.APPEND
    assert root(sql, tables).edge.keys == ()


def test_event_times_stay_and_on_time_adds_one(tables):
    named = "op => DESCRIPTOR(kind)"
    columns = "kind STRING, op STRING, id INT, k STRING, ts TIMESTAMP(3) *event*"

    assert schema(f"SELECT * FROM TO_CHANGELOG(input => TABLE log, {named})", tables) == columns
    assert (
        schema(
            f"SELECT * FROM TO_CHANGELOG(input => TABLE log, {named}, on_time => DESCRIPTOR(ts))",
            tables,
        )
        == f"{columns}, rowtime TIMESTAMP(3) NOT NULL *event*"
    )


def test_the_added_time_gets_a_number_if_its_name_is_taken(tables):
    assert schema(
        "SELECT * FROM TO_CHANGELOG(input => (SELECT ts AS rowtime FROM log), "
        "op => DESCRIPTOR(rowtime0), on_time => DESCRIPTOR(rowtime))",
        tables,
    ) == ("rowtime0 STRING, rowtime TIMESTAMP(3) *event*, rowtime1 TIMESTAMP(3) NOT NULL *event*")


def test_the_op_column_becomes_the_row_kind(tables):
    sql = "SELECT * FROM changes"

    assert schema(sql, tables) == "id INT, k STRING, ts TIMESTAMP(3) *event*"
    assert root(sql, tables).edge.changelog is Changelog.RETRACT


def test_they_can_be_named_joined_and_called_in_table_and_lateral(tables):
    call = "TO_CHANGELOG(input => TABLE cdc)"
    columns = "op STRING, id INT NOT NULL, n INT"

    assert schema(f"SELECT * FROM TABLE({call}) AS x", tables) == columns
    assert schema(f"SELECT x.op FROM {call} AS x (op, a, b)", tables) == "op STRING"
    for join in ("k, {}", "k, LATERAL TABLE({})", "k JOIN {} AS c ON k.id = c.id"):
        sql = f"SELECT op, n FROM {join.format(call)}"
        assert schema(sql, tables) == "op STRING, n INT"


def test_a_users_function_of_that_name_comes_first(tables):
    row = t.Row((t.Field("y", t.Int()),))
    made = UserFunction(
        "TO_CHANGELOG", (t.Int(),), row, table=True, implementation=lambda x: [(x,)]
    )
    tables.catalogs.put_function(Name(("to_changelog",)), made)

    assert schema("SELECT y FROM TABLE(TO_CHANGELOG(1))", tables) == "y INT"


# --- what they need ----------------------------------------------------------------------------


def test_changes_are_whole_whatever_is_read_of_them(tables):
    """A row that changes in a column that nothing above reads is a change, too."""
    planned = root("SELECT op FROM TO_CHANGELOG(input => TABLE up) WHERE id = 1", tables)

    below = found(ChangelogNormalize, planned)
    assert below.edge.names == ("id", "k", "v")
    assert not below.tests


def test_upserts_are_normalized_below_it(tables):
    planned = root("SELECT * FROM TO_CHANGELOG(input => TABLE up)", tables)

    assert found(ToChangelog, planned).input.edge.changelog is Changelog.RETRACT


def test_of_append_only_rows_only_what_is_used_is_read(tables):
    planned = root("SELECT id FROM TO_CHANGELOG(input => TABLE log, op => DESCRIPTOR(o))", tables)
    assert found(ToChangelog, planned).input.edge.names == ("id",)

    planned = root("SELECT id FROM changes", tables)
    assert found(FromChangelog, planned).input.edge.names == ("op", "id")
    assert found(Scan, planned).names_read == {"op", "id", "ts"}  # the watermark is of all rows


def test_a_filter_stays_above_from_changelog(tables):
    planned = root("SELECT id FROM changes WHERE id > 3", tables)

    assert found(FromChangelog, planned).input.edge.changelog is Changelog.APPEND


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM TO_CHANGELOG(input => TABLE counts)",
        "WITH g AS (SELECT b, COUNT(*) AS n FROM t GROUP BY b) "
        "SELECT * FROM TO_CHANGELOG(input => TABLE g)",
        "WITH t AS (SELECT * FROM t), g AS (SELECT b, COUNT(*) AS n FROM t GROUP BY b) "
        "SELECT * FROM (SELECT * FROM TO_CHANGELOG(input => TABLE g)) AS x",
        "SELECT * FROM TO_CHANGELOG(input => (SELECT b, COUNT(*) AS n FROM t GROUP BY b))",
    ],
)
def test_a_batch_has_the_changes_of_a_stream_below_it(sql, tables):
    tables.plan_script("SET 'execution.runtime-mode' = 'batch'")

    planned = root(sql, tables)
    assert not found(GroupAggregate, planned).at_end
    assert found(ToChangelog, planned).input.edge.changelog is Changelog.RETRACT
    assert plan(sql, tables).mode == "batch"


def test_a_batch_emits_groups_above_it_once(tables):
    tables.plan_script("SET 'execution.runtime-mode' = 'batch'")
    planned = root("SELECT k, COUNT(*) FROM changes GROUP BY k", tables)

    assert found(GroupAggregate, planned).at_end


# --- late rows ---------------------------------------------------------------------------------


def late(table: str, read: str) -> str:
    return (
        "CREATE TABLE s (n BIGINT) WITH ('connector' = 'fake');"
        "CREATE TABLE l (id INT) WITH ('connector' = 'fake');"
        "EXECUTE STATEMENT SET BEGIN "
        f"INSERT INTO s SELECT COUNT(*) FROM {table} GROUP BY TUMBLE(ts, INTERVAL '1' SECOND); "
        f"INSERT INTO l SELECT id FROM {read}; END;"
    )


def test_late_rows_are_those_of_a_view_over_it(tables):
    planned = plan(late("changes", "changes$late"), tables)
    assert len(planned.roots) == 2

    error = refused(late("changes", "«log$late»"), NotSupported, at=world(DDL))
    assert "TO_CHANGELOG and FROM_CHANGELOG" in error.message


# --- mistakes ----------------------------------------------------------------------------------

MISTAKES = [
    ("TO_CHANGELOG(input => TABLE cdc, «nothing => 1»)", "unknown argument `nothing`"),
    ("TO_CHANGELOG(input => TABLE cdc, «OP => DESCRIPTOR(x)»)", "unknown argument `OP`"),
    ("TO_CHANGELOG(input => TABLE cdc, «input => TABLE cdc»)", "there are two arguments `input`"),
    ("«TO_CHANGELOG(TABLE cdc, op => DESCRIPTOR(x))»", "must all be named"),
    ("«TO_CHANGELOG(TABLE cdc, NULL, NULL, NULL, NULL, NULL)»", "too many arguments"),
    ("«TO_CHANGELOG(op => DESCRIPTOR(x))»", "requires a table"),
    ("TO_CHANGELOG(input => «cdc»)", "requires a table"),
    ("TO_CHANGELOG(input => «TABLE cdc PARTITION BY id»)", "PARTITION BY is not allowed"),
    ("FROM_CHANGELOG(input => «TABLE log ORDER BY ts»)", "ORDER BY is not allowed"),
    ("TO_CHANGELOG(input => TABLE cdc, op => «DESCRIPTOR(a, b)»)", "exactly one column"),
    ("TO_CHANGELOG(input => TABLE cdc, op => «'kind'»)", "exactly one column"),
    ("TO_CHANGELOG(input => TABLE cdc, op => DESCRIPTOR(«id»))", "already has a column `id`"),
    ("TO_CHANGELOG(input => «TABLE log»)", "already has a column `op`"),
    ("TO_CHANGELOG(input => TABLE cdc, op_mapping => «MAP['INSERT', UPPER('i')]»)", "literals"),
    ("TO_CHANGELOG(input => TABLE cdc, op_mapping => «'INSERT'»)", "literals"),
    ("TO_CHANGELOG(input => TABLE cdc, op_mapping => MAP[«'insert'», 'i'])", "not a row kind"),
    ("TO_CHANGELOG(input => TABLE cdc, op_mapping => MAP['DELETE', 'a', «'INSERT, DELETE'», 'b'])",
     "row kind DELETE is in the mapping twice"),
    ("TO_CHANGELOG(input => TABLE cdc, on_time => «DESCRIPTOR(id)»)", "where rows change"),
    ("TO_CHANGELOG(input => TABLE u, on_time => DESCRIPTOR(«a»))", "not an event time"),
    ("TO_CHANGELOG(input => TABLE u, on_time => DESCRIPTOR(«b»))", "not found in the table"),
    ("TO_CHANGELOG(input => TABLE u, uid => «'a b'»)", "`uid` must be a string"),
    ("FROM_CHANGELOG(input => «TABLE u»)", "column `op` not found"),
    ("FROM_CHANGELOG(input => TABLE log, op => DESCRIPTOR(«OP»))", "column `OP` not found"),
    ("FROM_CHANGELOG(input => TABLE log, op => DESCRIPTOR(«id»))", "must be a STRING, not INT"),
    ("FROM_CHANGELOG(input => «TABLE cdc», op => DESCRIPTOR(id))", "append-only"),
    ("FROM_CHANGELOG(input => «(SELECT op FROM log)»)", "must have a column besides"),
    ("FROM_CHANGELOG(input => TABLE log, on_time => «DESCRIPTOR(ts)»)", "where rows change"),
    ("FROM_CHANGELOG(input => TABLE log, op_mapping => MAP['c', «'INSERTED'»])", "not a row kind"),
    ("FROM_CHANGELOG(input => TABLE log, op_mapping => MAP['c', 'INSERT', 'r', «'INSERT'»])",
     "row kind INSERT is in the mapping twice"),
    ("FROM_CHANGELOG(input => TABLE log, op_mapping => MAP['c', 'INSERT', «'d, c'», 'DELETE'])",
     "op code 'c' is in the mapping twice"),
    ("FROM_CHANGELOG(input => TABLE log, op_mapping => «MAP['c', 'INSERT', 'u', 'UPDATE_AFTER']»)",
     "must have UPDATE_BEFORE"),
]  # fmt: skip


@pytest.mark.parametrize(("marked", "message"), MISTAKES)
def test_mistakes_are_reported_at_their_place(marked, message, tables):
    assert message in refused(f"SELECT * FROM {marked}", at=tables).message


def test_default_and_null_are_as_good_as_no_argument(tables):
    columns = "op STRING, id INT NOT NULL, n INT"

    for arguments in (
        "TABLE cdc, DEFAULT, NULL",
        "input => TABLE cdc, op => NULL, op_mapping => DEFAULT, uid => 'a-1'",
    ):
        assert schema(f"SELECT * FROM TO_CHANGELOG({arguments})", tables) == columns
    refused(
        "SELECT * FROM TABLE(TUMBLE(TABLE u, «DEFAULT», INTERVAL '1' DAY))", NotSupported, at=tables
    )
