"""What is known of the rows between two operators: time, keys, kinds of changes, ends."""

import pytest

from tests.plan.marked import METADATA, edge, plan, refused, root, schema, world
from tidemark.catalog.tables import Changelog
from tidemark.errors import PlanError
from tidemark.plan.nodes import AssignWatermark, UnionAll, walk

# --- time attributes ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT ts FROM u", "ts TIMESTAMP(3) *event*"),
        ("SELECT (ts) AS x FROM u", "x TIMESTAMP(3) *event*"),
        ("SELECT x FROM (SELECT ts AS x FROM u) WHERE x IS NOT NULL", "x TIMESTAMP(3) *event*"),
        ("SELECT ts FROM u WHERE a > 1", "ts TIMESTAMP(3) *event*"),
        ("SELECT ts FROM u CROSS JOIN UNNEST(ARRAY[1]) AS z(e)", "ts TIMESTAMP(3) *event*"),
        ("SELECT ts FROM u UNION ALL SELECT ts FROM t", "ts TIMESTAMP(3) *event*"),
        ("SELECT ts FROM u UNION ALL SELECT CAST(ts AS TIMESTAMP(3)) FROM u", "ts TIMESTAMP(3)"),
        ("SELECT CAST(ts AS TIMESTAMP(3)) AS x FROM u", "x TIMESTAMP(3)"),
        ("SELECT ts + INTERVAL '1' SECOND AS x FROM u", "x TIMESTAMP(3)"),
        ("SELECT pt FROM t", "pt TIMESTAMP_LTZ(3) NOT NULL *processing*"),
        (
            "SELECT pt FROM t UNION ALL SELECT pt FROM t",
            "pt TIMESTAMP_LTZ(3) NOT NULL *processing*",
        ),
        (
            "SELECT PROCTIME() AS p, CURRENT_TIMESTAMP AS c",
            "p TIMESTAMP_LTZ(3) NOT NULL *processing*, c TIMESTAMP_LTZ(3) NOT NULL",
        ),
    ],
)
def test_time_attribute_survives_what_leaves_it_as_it_is(sql, expected):
    assert schema(sql) == expected


# --- keys --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "keys"),
    [
        ("SELECT * FROM k", (("id",),)),
        ("SELECT name, id AS other FROM k", (("other",),)),
        ("SELECT name FROM k", ()),
        ("SELECT id + 1 AS id FROM k", ()),
        ("SELECT id, id FROM k", (("id",),)),
        ("SELECT * FROM k WHERE id > 1", (("id",),)),
        ("SELECT k.id FROM k, UNNEST(ARRAY[1]) AS z(e)", ()),
        ("SELECT id FROM k UNION ALL SELECT id FROM k", ()),
        ("SELECT x FROM (SELECT id AS x, name FROM k) WHERE x > 1", (("x",),)),
    ],
)
def test_key_holds_as_long_as_its_columns_are_there(sql, keys):
    assert edge(sql).keys == keys


# --- changes and ends --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "changelog"),
    [
        ("SELECT id FROM cdc WHERE n > 1", Changelog.RETRACT),
        ("SELECT a FROM u", Changelog.APPEND),
        ("SELECT a FROM u UNION ALL SELECT id FROM cdc", Changelog.RETRACT),
        ("SELECT id FROM cdc UNION ALL SELECT a FROM u", Changelog.RETRACT),
        ("SELECT id, e FROM cdc, UNNEST(ARRAY[1]) AS z(e)", Changelog.RETRACT),
        ("VALUES (1)", Changelog.APPEND),
    ],
)
def test_kinds_of_changes_pass_through_on_every_edge(sql, changelog):
    assert edge(sql).changelog is changelog


def test_query_is_bounded_when_all_its_tables_are():
    assert edge("SELECT a FROM u").bounded
    assert not edge("SELECT a FROM endless").bounded
    assert not edge("SELECT a FROM u UNION ALL SELECT a + 1 FROM endless WHERE a > 1").bounded


def test_batch_mode_reads_only_tables_that_end():
    at = world("SET 'execution.runtime-mode' = 'batch'")
    assert plan("SELECT a FROM u", at).mode == "batch"
    error = refused("«SELECT a FROM u UNION ALL SELECT a FROM endless»", at=at)
    assert error.message == "table `endless` is unbounded and cannot be read in batch mode"
    assert "streaming" in error.hint


def test_union_of_unions_is_flat():
    node = root(
        "SELECT a FROM u UNION ALL SELECT a FROM u UNION ALL (SELECT a FROM u UNION ALL SELECT a FROM u)"
    )
    assert isinstance(node, UnionAll)
    assert len(node.inputs) == 4


# --- tables ------------------------------------------------------------------------------------


def test_columns_come_in_the_order_of_their_declaration():
    at = world(
        """CREATE TABLE m (
             at_ TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL, double_ AS a * 2, a INT,
             `offset` BIGINT METADATA, PRIMARY KEY (a) NOT ENFORCED
           ) WITH ('connector' = 'fake')"""
    )
    assert schema("SELECT * FROM m", at) == (
        "at_ TIMESTAMP_LTZ(3), double_ INT NOT NULL, a INT NOT NULL, offset BIGINT"
    )


def test_metadata_must_be_what_the_connector_has():
    text = "CREATE TABLE m (a INT, «b BIGINT METADATA FROM 'ofset'») WITH ('connector' = 'fake')"
    at = world(text.replace("«", "").replace("»", ""))
    error = refused("SELECT * FROM m", at=at, inside=text)
    assert error.hint == "did you mean `offset`?"
    assert error.notes == {"metadata": ", ".join(sorted(METADATA))}


def test_metadata_must_be_convertible_to_its_column():
    text = (
        "CREATE TABLE m (a INT, «b BOOLEAN METADATA FROM 'timestamp'») WITH ('connector' = 'fake')"
    )
    at = world(text.replace("«", "").replace("»", ""))
    refused("SELECT * FROM m", at=at, inside=text)


def test_sink_only_table_cannot_be_read():
    at = world("CREATE TABLE s (a INT) WITH ('connector' = 'fake', 'readable' = 'false')")
    with pytest.raises(PlanError, match="cannot read from"):
        plan("SELECT * FROM s", at)


# --- watermarks --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "columns",
    [
        "ts TIMESTAMP(3), WATERMARK FOR ts AS ts",
        "ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE",
        "s STRING, ts AS TO_TIMESTAMP(s), WATERMARK FOR ts AS ts",
        "ts TIMESTAMP(3), delay INT, WATERMARK FOR ts AS CASE WHEN delay > 1 THEN ts END",
        "ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', WATERMARK FOR ts AS ts",
        "ts TIMESTAMP(3), WATERMARK FOR ts AS withOffset(ts, 1500)",
    ],
)
def test_watermark_makes_a_column_event_time(columns):
    at = world(f"CREATE TABLE w ({columns}) WITH ('connector' = 'fake')")
    assert [c.name for c in edge("SELECT * FROM w", at).columns if c.time == "event"] == ["ts"]


def test_older_spelling_of_the_delay_is_the_same_watermark():
    at = world(
        "CREATE TABLE o (ts TIMESTAMP(3), WATERMARK FOR ts AS withOffset(ts, 1500)) WITH ('connector' = 'fake');"
        "CREATE TABLE n (ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1.5' SECOND) WITH ('connector' = 'fake')"
    )
    [old, new] = [
        next(n for n in walk(root(f"SELECT ts FROM {name}", at)) if isinstance(n, AssignWatermark))
        for name in ("o", "n")
    ]
    assert old.expression == new.expression


@pytest.mark.parametrize(
    ("marked", "part"),
    [
        (
            "CREATE TABLE w (a BIGINT, «WATERMARK FOR a AS a»)",
            "must be a TIMESTAMP or TIMESTAMP_LTZ",
        ),
        ("CREATE TABLE w (a TIMESTAMP(3), WATERMARK FOR a AS «1»)", "not INT"),
        (
            "CREATE TABLE w (a TIMESTAMP(3), WATERMARK FOR a AS «CAST(a AS TIMESTAMP_LTZ(3))»)",
            "like its column",
        ),
        ("CREATE TABLE w (a TIMESTAMP(3), WATERMARK FOR a AS «nope»)", "column `nope` not found"),
        ("CREATE TABLE w (r ROW<a TIMESTAMP(3)>, «WATERMARK FOR r.a AS r.a»)", "nested field"),
        ("CREATE TABLE w (p AS PROCTIME(), «WATERMARK FOR p AS p»)", "processing time"),
        (
            "CREATE TABLE w (a TIMESTAMP(3), WATERMARK FOR a AS «withOffset(a, 'x')»)",
            "number of milliseconds",
        ),
        (
            "CREATE TABLE w (a TIMESTAMP(3), WATERMARK FOR a AS «withOffset(a)»)",
            "number of milliseconds",
        ),
    ],
)
def test_invalid_watermark_is_refused(marked, part):
    assert part in refused(marked).message


def test_fine_event_times_warn():
    at = world(
        "CREATE TABLE w (ts TIMESTAMP(6), WATERMARK FOR ts AS ts) WITH ('connector' = 'fake')"
    )
    [warning] = plan("SELECT * FROM w", at).warnings
    assert "milliseconds" in warning
