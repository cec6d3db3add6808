"""Lookup joins: what they mean as a plan, and what is refused, with the caret at the guilty SQL."""

from __future__ import annotations

import pytest

from tests.plan.marked import plan, refused, root, world
from tidemark.catalog.tables import Changelog
from tidemark.errors import NotSupported, PlanError
from tidemark.plan.looked_up import LookedUp
from tidemark.plan.nodes import LookupJoin, TemporalJoin, is_stateful, walk
from tidemark.plan.words import words
from tidemark.session.workspace import Workspace

DDL = """
CREATE TABLE o (id INT, cust BIGINT, ts TIMESTAMP(3), pt AS PROCTIME(),
  WATERMARK FOR ts AS ts) WITH ('connector' = 'fake', 'bounded' = 'false');
CREATE TABLE d (id BIGINT, small INT, name STRING, loud AS UPPER(name), ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts)
  WITH ('connector' = 'fake', 'lookup' = 'keys', 'readable' = 'false', 'bounded' = 'false');
CREATE TABLE files (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'fake', 'lookup' = 'whole');
CREATE TABLE bounded (id BIGINT, name STRING) WITH ('connector' = 'fake');
CREATE TABLE live (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'fake', 'bounded' = 'false');
CREATE TABLE changing (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'fake', 'changelog' = 'RETRACT', 'lookup' = 'whole');
"""


@pytest.fixture
def tables() -> Workspace:
    return world(DDL)


def lookup(sql: str, tables: Workspace) -> LookupJoin:
    [join] = [node for node in walk(root(sql, tables)) if isinstance(node, LookupJoin)]
    return join


def joined(table: str, on: str, *, how: str = "", select: str = "o.id, r.name") -> str:
    return f"SELECT {select} FROM o {how} JOIN {table} FOR SYSTEM_TIME AS OF o.pt AS r ON {on}"


@pytest.mark.parametrize(
    ("table", "by"),
    [("d", "keys"), ("files", "whole"), ("bounded", "once"), ("changing", "once")],
)
def test_the_table_decides_how_it_is_looked_up(tables, table, by):
    assert lookup(joined(table, "o.cust = r.id"), tables).by == by


def test_it_keeps_no_state_and_the_times_of_the_left_side(tables):
    plan_ = root(joined("d", "o.cust = r.id", select="o.ts, r.ts AS other, o.pt"), tables)

    assert not is_stateful(plan_)
    assert [column.time for column in plan_.edge.columns] == ["event", None, "processing"]


def test_only_columns_that_are_read_are_looked_up(tables):
    join = lookup(joined("d", "o.cust = r.id", select="r.loud"), tables)
    table = LookedUp.of(join.right)

    assert table is not None
    assert table.scan.names_read == {"id", "name"}


def test_comparisons_with_constants_are_passed_on(tables):
    on = "o.cust = r.id AND r.small IN (1, 2) AND r.name = 'x' AND r.small > o.id"
    join = lookup(joined("d", on, how="LEFT"), tables)
    table = LookedUp.of(join.right)

    assert table is not None
    assert [words(each) for each in table.conditions] == ["small IN (1, 2)", "(name = 'x')"]
    assert words(join.condition) == "(small > id)"


@pytest.mark.parametrize("table", ["d", "files"])
def test_constants_are_keys_where_no_value_of_the_left_side_is_one(tables, table):
    join = lookup(joined(table, "7 = r.id AND r.name = 'x' AND o.id > 1"), tables)
    keys = [join.left.edge.columns[place].type for place in join.left_keys]

    assert [join.right.edge.names[place] for place in join.right_keys] == ["id", "name"]
    assert [str(type_) for type_ in keys] == ["BIGINT NOT NULL", "STRING NOT NULL"]


def test_a_unique_row_keeps_the_keys_of_the_left_side(tables):
    grouped = "(SELECT cust, COUNT(*) AS n, PROCTIME() AS pt FROM o GROUP BY cust) AS o"
    on = "FOR SYSTEM_TIME AS OF o.pt AS r ON o.cust = r.id"
    unique, several = (
        lookup(f"SELECT o.cust, o.n, r.name FROM {grouped} JOIN {table} {on}", tables).edge
        for table in ("files", "bounded")
    )

    assert (unique.keys, several.keys) == ((("cust",),), ())
    assert unique.changelog is Changelog.RETRACT


def test_with_a_load_phase_left_rows_wait_for_a_table(tables):
    tables.plan_script("SET 'tidemark.temporal-join.load-phase' = '1 s'")
    kinds = [
        [type(n) for n in walk(root(joined(t, "o.cust = r.id"), tables)) if _is_join(n)]
        for t in ("files", "d")
    ]

    assert kinds == [[TemporalJoin], [LookupJoin]]


def _is_join(node: object) -> bool:
    return isinstance(node, LookupJoin | TemporalJoin)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (
            "SELECT o.id FROM o JOIN live FOR SYSTEM_TIME AS OF «o.pt» AS r ON o.cust = r.id",
            "a processing-time temporal join with a stream is not supported",
        ),
        (
            "SELECT o.id FROM o «RIGHT JOIN files FOR SYSTEM_TIME AS OF o.pt AS r ON o.cust = r.id»",
            "RIGHT temporal joins are not supported",
        ),
    ],
)
def test_what_cannot_be_looked_up_is_refused_by_name(tables, sql, message):
    assert message in refused(sql, NotSupported, at=tables).message


@pytest.mark.parametrize(
    ("on", "compared"),
    [
        ("o.cust > r.id", None),
        ("o.cust IS NOT DISTINCT FROM r.id", "cust = id"),
        ("o.cust = r.small", "cust = small"),
        ("o.cust = r.id + 1", "cust = (id + 1)"),
        ("r.id = 1.5", None),
    ],
)
def test_a_key_must_be_a_column_in_its_own_type(tables, on, compared):
    with pytest.raises(PlanError, match="a lookup join requires a column") as caught:
        plan(joined("d", on), tables)

    assert caught.value.notes.get("compared") == compared


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        ("«LOOKUP('async'='true')»", "requires the option 'table'"),
        ("«LOOKUP('table'='x')»", "is for `x`, which is not in FROM"),
        ("LOOKUP('table'='r', «'asnyc'='true'»)", "unknown option 'asnyc'"),
        ("LOOKUP('table'='r', «'output-mode'='any'»)", "expected ordered or allow_unordered"),
        ("LOOKUP('table'='r', «'capacity'='0'»)", "expected a positive integer"),
        (
            "«LOOKUP('table'='r', 'max-attempts'='3', 'fixed-delay'='1 s')»",
            "retry options of the LOOKUP hint must be set together",
        ),
    ],
)
def test_a_wrong_hint_is_refused(tables, hint, message):
    sql = joined("d", "o.cust = r.id").replace("SELECT", f"SELECT /*+ {hint} */", 1)

    assert message in refused(sql, at=tables).message


def test_a_retry_has_no_effect_on_a_table_in_memory(tables):
    retry = (
        "/*+ LOOKUP('table'='r', 'retry-predicate'='lookup_miss', 'retry-strategy'='fixed_delay', "
        "'fixed-delay'='10 s', 'max-attempts'='3') */"
    )
    by_key, whole = (
        plan(joined(table, "o.cust = r.id").replace("SELECT", f"SELECT {retry}", 1), tables)
        for table in ("d", "files")
    )

    assert not by_key.warnings
    assert "the whole table is in memory" in whole.warnings[0]


def test_a_table_that_is_only_looked_up_cannot_be_read(tables):
    with pytest.raises(PlanError, match="table `d` can only be looked up"):
        plan("SELECT id FROM d", tables)
