"""INSERT INTO: which values go to which columns, and what a sink takes."""

import pytest

from tests.plan.marked import plan, refused, root, schema, world
from tidemark.dialect import parse_type
from tidemark.errors import NotSupported
from tidemark.plan.expressions import Case, Cast
from tidemark.plan.nodes import Filter, Project, Sink
from tidemark.plan.words import words

SINKS = """
CREATE TABLE s (id INT, name STRING, n BIGINT NOT NULL) WITH ('connector' = 'fake');
CREATE TABLE g (id INT, g AS id + 1, `offset` BIGINT METADATA, p STRING METADATA FROM 'timestamp' VIRTUAL)
  WITH ('connector' = 'fake');
CREATE TABLE parted (id INT, dt INT) PARTITIONED BY (dt) WITH ('connector' = 'fake');
CREATE TABLE keyed (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'fake', 'updates' = 'true');
CREATE TABLE source_only (a INT) WITH ('connector' = 'fake', 'writable' = 'false');
"""


def sinks():
    return world(SINKS)


def assigned(sql: str, at=None) -> dict[str, str]:
    """What each column of the sink gets."""
    sink = root(sql, at or sinks())
    assert isinstance(sink, Sink)
    assert isinstance(sink.input, Project)
    return dict(zip(sink.edge.names, map(words, sink.input.expressions), strict=True))


# --- columns -----------------------------------------------------------------------------------


def test_columns_are_filled_by_position():
    assert assigned("INSERT INTO s SELECT comp, b, c FROM t") == {
        "id": "comp",
        "name": "b",
        "n": "c",
    }


def test_column_list_chooses_and_the_rest_is_null():
    assert assigned("INSERT INTO s (n, id) SELECT c, a FROM t") == {
        "id": "a",
        "name": "NULL",
        "n": "c",
    }


def test_partition_gives_a_constant_whatever_the_type():
    assert assigned("INSERT INTO parted PARTITION (dt = '2020') SELECT a FROM t") == {
        "id": "a",
        "dt": "'2020'",
    }
    assert (
        schema("INSERT INTO parted PARTITION (dt = '2020') SELECT a FROM t", sinks())
        == "id INT, dt INT"
    )


def test_computed_and_read_only_columns_are_not_filled():
    assert assigned("INSERT INTO g SELECT a, c FROM t") == {"id": "a", "offset": "c"}


@pytest.mark.parametrize(
    ("declared", "value", "written"),
    [
        ("STRING", "'2024-01-01 00:00:00'", "TIMESTAMP_LTZ(3)"),
        ("DATE", "DATE '2024-01-01'", "TIMESTAMP_LTZ(3)"),
        ("TIMESTAMP(6)", "TIMESTAMP '2024-01-01 00:00:00'", "TIMESTAMP(6)"),
        ("BOOLEAN", "TRUE", "BOOLEAN"),  # which the sink refuses
    ],
)
def test_metadata_of_another_type_is_cast_as_in_flink(declared, value, written):
    at = world(
        f"CREATE TABLE sent (id INT, ts {declared} METADATA FROM 'timestamp') "
        "WITH ('connector' = 'fake');"
    )

    [_, given] = root(f"INSERT INTO sent VALUES (1, {value})", at).edge.types

    assert given.with_nullable(True).text() == written


def test_values_can_be_inserted():
    assert (
        schema("INSERT INTO s (id, n) VALUES (1, 2), (3, 4)", sinks())
        == "id INT NOT NULL, name STRING, n BIGINT NOT NULL"
    )


@pytest.mark.parametrize(
    ("marked", "part"),
    [
        ("INSERT INTO s «SELECT a, b FROM t»", "3 columns are listed, the query has 2"),
        ("INSERT INTO s (id, n) «SELECT c FROM t»", "2 columns are listed, the query has 1"),
        ("INSERT INTO parted PARTITION (dt = '2020') «SELECT a, 1 FROM t»", "1 columns are listed"),
        ("INSERT INTO s (id, «id», n) SELECT a, a, c FROM t", "column `id` is given twice"),
        ("INSERT INTO s («ID», n) SELECT a, c FROM t", "column `ID` does not exist in table `s`"),
        ("INSERT INTO g («g») SELECT a FROM t", "cannot write to column `g` of `g`"),
        ("INSERT INTO g («p») SELECT b FROM t", "cannot write to column `p` of `g`"),
        ("INSERT INTO «s» (id) SELECT a FROM t", "column `n` of `s` is NOT NULL and has no value"),
        ("INSERT INTO «source_only» SELECT a FROM t", "its connector or format is read-only"),
    ],
)
def test_columns_that_do_not_fit_are_refused(marked, part):
    assert part in refused(marked, at=sinks()).message


def test_mismatch_shows_both_sides():
    error = refused("INSERT INTO s «SELECT b, a, c FROM t»", at=sinks())
    assert (
        error.message
        == "the query does not match table `s`: `id` is INT, but the query returns STRING"
    )
    assert error.notes == {
        "query": "(b STRING, a INT, c BIGINT NOT NULL)",
        "table": "(id INT, name STRING, n BIGINT NOT NULL)",
    }


def test_table_in_buckets_cannot_be_inserted_into():
    at = world(
        "CREATE TABLE b (a INT) DISTRIBUTED BY (a) INTO 2 BUCKETS WITH ('connector' = 'fake')"
    )
    assert schema("SELECT a FROM b", at) == "a INT"
    message = refused("INSERT INTO «b» SELECT 1", NotSupported, at=at).message
    assert message == "INSERT INTO a table that is DISTRIBUTED BY is not supported"


def test_views_cannot_be_inserted_into():
    at = world("CREATE VIEW v AS SELECT a FROM u")
    assert (
        refused("INSERT INTO «v» SELECT 1", at=at).message == "cannot insert into `v`: it is a view"
    )


# --- types: as Flink 2.3 converts them ---------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("BIGINT", "a"),
        ("DECIMAL(5, 1)", "d"),
        ("DECIMAL(5, 1)", "CAST(1 AS DOUBLE)"),
        ("FLOAT", "d"),
        ("VARCHAR(3)", "b"),
        ("TIMESTAMP(3)", "pt"),
        ("TIMESTAMP_LTZ(3)", "ts"),
        ("TIME", "ts"),
        ("DATE", "ts"),
        ("ARRAY<BIGINT>", "arr"),
        ("MAP<STRING, BIGINT>", "m"),
        ("ROW<p INT, q STRING>", "ROW(a, b)"),
    ],
)
def test_value_is_converted_implicitly(column, value):
    at = world(f"CREATE TABLE s (x {column}) WITH ('connector' = 'fake')")
    [type_] = root(f"INSERT INTO s SELECT {value} FROM t", at).edge.types
    assert type_.same_as(parse_type(column))


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("INT", "c"),
        ("INT", "'1'"),
        ("INT", "TRUE"),
        ("INT", "1.5"),
        ("INT", "pt"),
        ("STRING", "1"),
        ("STRING", "ts"),
        ("CHAR(3)", "b"),
        ("FLOAT", "CAST(1 AS DOUBLE)"),
        ("BOOLEAN", "a"),
        ("BYTES", "b"),
        ("TIMESTAMP(3)", "DATE '2020-01-01'"),
        ("TIMESTAMP(3)", "'2020-01-01'"),
        ("ROW<p INT, q STRING>", "ROW(b, a)"),
        ("ROW<p INT, q STRING>", "ROW(a)"),
    ],
)
def test_value_of_another_kind_is_refused(column, value):
    at = world(f"CREATE TABLE s (x {column}) WITH ('connector' = 'fake')")
    refused(f"INSERT INTO s «SELECT {value} FROM t»", at=at)


# --- NOT NULL ----------------------------------------------------------------------------------


def test_null_for_a_not_null_column_fails_the_job():
    sink = root("INSERT INTO s SELECT a, b, a FROM t", sinks())
    assert schema("INSERT INTO s SELECT a, b, a FROM t", sinks()).endswith("n BIGINT NOT NULL")
    assert words(sink.input.expressions[2]) == "REQUIRED(a)"


def test_key_columns_of_a_sink_do_not_accept_null_either():
    assert assigned("INSERT INTO keyed SELECT a, b FROM t")["id"] == "REQUIRED(a)"


def test_rows_with_nulls_can_be_left_out_instead():
    at = world(SINKS, "SET 'table.exec.sink.not-null-enforcer' = 'drop'")
    sink = root("INSERT INTO s SELECT a, b, a FROM t", at)
    assert isinstance(sink.input, Filter)
    assert words(sink.input.condition) == "NOT n IS NULL"


NESTED = """
CREATE TABLE inner_nulls (r ROW<x INT NOT NULL, y ROW<z STRING NOT NULL, w INT NOT NULL> NOT NULL>)
  WITH ('connector' = 'fake');
SET 'table.exec.sink.nested-constraint-enforcer' = 'ROWS';
"""


def test_fields_of_rows_are_checked_if_wanted():
    query = "INSERT INTO inner_nulls SELECT r FROM t"
    checked = root(query, world(NESTED)).input.expressions[0]

    assert not isinstance(root(query, world(NESTED.split("SET")[0])).input.expressions[0], Case)
    assert isinstance(checked, Cast) and isinstance(checked.operand, Case)
    assert [words(condition) for condition, _ in checked.operand.branches] == [
        "(NOT r IS NULL AND r.x IS NULL)",
        "(NOT r IS NULL AND r.y IS NULL)",
        "(NOT r.y IS NULL AND r.y.z IS NULL)",
    ]


def test_rows_with_nulls_in_fields_can_be_left_out_instead():
    at = world(f"{NESTED} SET 'table.exec.sink.not-null-enforcer' = 'DROP'")
    sink = root("INSERT INTO inner_nulls SELECT r FROM t", at)

    assert isinstance(sink.input.input, Filter)
    assert isinstance(sink.input.expressions[0], Cast)


def test_values_that_are_never_null_need_no_check():
    assert assigned("INSERT INTO s SELECT a, b, c FROM t")["n"] == "c"


# --- changelogs, sets and EMIT -----------------------------------------------------------------


def test_append_only_sink_does_not_accept_updates():
    error = refused("INSERT INTO «s» SELECT id, 'x', n FROM cdc", at=sinks())
    assert error.notes == {"query": "retract", "why": "table `cdc` is a changelog"}
    assert plan("INSERT INTO keyed SELECT id, 'x' FROM cdc", sinks()).roots


def test_statement_set_has_a_root_for_each_insert():
    text = "EXECUTE STATEMENT SET BEGIN INSERT INTO s (id, n) SELECT a, c FROM t; INSERT INTO keyed SELECT 1, 'x'; END"
    assert [sink.table.name for sink in plan(text, sinks()).roots] == ["s", "keyed"]


def test_error_in_a_statement_set_points_to_its_insert():
    refused(
        "BEGIN STATEMENT SET; INSERT INTO keyed SELECT 1, 'x'; INSERT INTO keyed SELECT «nope», b FROM t; END",
        at=sinks(),
    )


def test_hint_gives_the_sink_other_options():
    at = sinks()
    assert plan(
        "INSERT INTO source_only /*+ OPTIONS('writable' = 'true') */ SELECT a FROM t", at
    ).roots
    refused("INSERT INTO «source_only» SELECT a FROM t", at=at)


def test_emit_needs_a_window():
    refused(
        "INSERT INTO keyed SELECT 1, 'x' «EMIT WITH DELAY '1' MINUTE BEFORE WATERMARK»", at=sinks()
    )
    refused("SELECT a FROM u «EMIT WITHOUT DELAY»")


@pytest.mark.parametrize(
    ("query", "why", "hint"),
    [
        ("SELECT a, COUNT(*) FROM t GROUP BY a", "without a window", "group by a window, or write"),
        (
            "SELECT a, COUNT(*) FROM t GROUP BY a, TUMBLE(ts, INTERVAL '1' MINUTE) "
            "EMIT WITHOUT DELAY BEFORE WATERMARK",
            "early or late",
            "remove EMIT, or write",
        ),
        ("SELECT id, CAST(n AS BIGINT) FROM cdc", "`cdc` is a changelog", "write to a sink"),
    ],
)
def test_an_append_only_sink_refuses_updates_and_says_where_they_come_from(query, why, hint):
    inserts_only = "CREATE TABLE totals (a INT, n BIGINT) WITH ('connector' = 'fake')"
    error = refused(f"INSERT INTO «totals» {query}", at=world(inserts_only))

    assert why in error.notes["why"]
    assert error.hint.startswith(hint)


def test_a_stream_cannot_overwrite_a_table():
    error = refused("INSERT OVERWRITE «s» SELECT comp, b, c FROM t", at=sinks())

    assert error.message == "INSERT OVERWRITE cannot run in streaming mode, as in Flink"
    assert "'batch'" in error.hint


def test_a_batch_can_overwrite_a_table():
    at = world(SINKS + "SET 'execution.runtime-mode' = 'batch';")
    sink = root("INSERT OVERWRITE s SELECT comp, b, c FROM t", at)

    assert isinstance(sink, Sink) and sink.overwrite
