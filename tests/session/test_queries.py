"""Queries from SQL text to rows, on one shared Spark."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal

import pytest

import tidemark
from tidemark import Session, TidemarkError
from tidemark.errors import NotSupported

EVIL = "x'\"`\\ ${env:HOME} ${spark.app.name}\n\t-- */ é😀 \u2028 {0} %s"


@pytest.fixture
def session(spark) -> Iterator[Session]:
    session = tidemark.connect(spark)
    yield session
    session.stop()


def test_a_query_returns_rows_with_flinks_types(session):
    result = session.sql(
        "SELECT 5 / 2 AS half, 1.5 * 2 AS three, 'a' || 'b' AS ab, DATE '2024-02-29' AS d"
    )

    assert [str(column.type) for column in result.columns] == [
        "INT NOT NULL",
        "DECIMAL(13, 1) NOT NULL",
        "CHAR(2) NOT NULL",
        "DATE NOT NULL",
    ]
    assert result.rows() == [
        {"half": 2, "three": Decimal("3.0"), "ab": "ab", "d": dt.date(2024, 2, 29)}
    ]


def test_one_result_as_changes_arrow_polars_pandas_and_dataframe(session):
    result = session.sql("SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t(id, name)")

    assert [tuple(change) for change in result.changes()] == [
        ("+I", {"id": 1, "name": "a"}),
        ("+I", {"id": 2, "name": "b"}),
    ]
    assert result.to_arrow().to_pydict() == {"id": [1, 2], "name": ["a", "b"]}
    assert result.to_polars().to_dict(as_series=False) == {"id": [1, 2], "name": ["a", "b"]}
    assert result.to_pandas()["name"].tolist() == ["a", "b"]
    assert sorted(map(tuple, result.to_dataframe().collect())) == [(1, "a"), (2, "b")]


def test_names_and_values_never_become_spark_sql(session):
    quoted = EVIL.replace("`", "``")
    text = EVIL.replace("'", "''")
    session.sql(f"CREATE VIEW `{quoted}` AS SELECT '{text}' AS `{quoted}`, ROW('{text}') AS r")

    [row] = session.sql(f"SELECT `{quoted}`, `{quoted}` = '{text}' AS same FROM `{quoted}`").rows()

    assert row == {EVIL: EVIL, "same": True}


def test_options_never_become_spark_sql(session, tmp_path):
    evil = "x'` ${env:HOME} ${spark.app.name} -- */ é😀 {0} %s"
    folder = tmp_path / "it's `${spark.app.name}` -- é😀"
    folder.mkdir()
    (folder / "a.csv").write_text(f"1,{evil}\n2,{evil}!\n")
    path, null = str(folder).replace("'", "''"), evil.replace("'", "''")
    session.sql(
        f"CREATE TABLE t (id INT, s STRING) WITH ('connector' = 'filesystem', 'format' = 'csv', "
        f"'path' = '{path}', 'csv.null-literal' = '{null}')"
    )

    rows = session.sql("SELECT * FROM t").rows()

    assert rows == [{"id": 1, "s": None}, {"id": 2, "s": evil + "!"}]


def test_columns_that_differ_by_case_only_are_two_columns(session):
    assert session.sql("SELECT a + A AS s FROM (VALUES (1, 10)) AS t(a, A)").rows() == [{"s": 11}]


def test_a_failing_cast_says_which_value_and_type(session):
    with pytest.raises(TidemarkError, match="cannot cast 'abc' to INT"):
        session.sql("SELECT CAST(x AS INT) FROM (VALUES ('1'), ('abc')) AS t(x)").rows()


def test_unnest_gives_a_row_for_each_element_in_order(session):
    rows = session.sql(
        """
        SELECT id, word, n
        FROM (VALUES (1, ARRAY['a', 'b']), (2, CAST(NULL AS ARRAY<STRING>))) AS t(id, words)
        LEFT JOIN UNNEST(words) WITH ORDINALITY AS u(word, n) ON TRUE
        """
    ).rows()

    assert rows == [
        {"id": 1, "word": "a", "n": 1},
        {"id": 1, "word": "b", "n": 2},
        {"id": 2, "word": None, "n": None},
    ]


def test_union_all_views_and_common_tables_work_together(session):
    session.sql("CREATE VIEW small AS SELECT CAST(1 AS SMALLINT) AS n")

    rows = session.sql(
        "WITH big AS (SELECT CAST(5000000000 AS BIGINT) AS n) "
        "SELECT n FROM small UNION ALL SELECT n FROM big UNION ALL SELECT n FROM small WHERE n > 1"
    ).rows()

    assert rows == [{"n": 1}, {"n": 5_000_000_000}]


def test_batch_mode_returns_the_rows_of_streaming_mode(session):
    query = "SELECT id * 2 AS d FROM (VALUES (1), (2)) AS t(id) WHERE id > 1"
    streamed = session.sql(query).rows()
    session.sql("SET 'execution.runtime-mode' = 'batch'")

    assert session.sql(query).rows() == streamed == [{"d": 4}]


def test_the_local_time_zone_is_the_sessions_own(spark):
    query = "SELECT CAST(TO_TIMESTAMP_LTZ(0, 3) AS STRING) AS t"
    shanghai = tidemark.connect(spark, options={"table.local-time-zone": "Asia/Shanghai"})
    berlin = tidemark.connect(spark, options={"table.local-time-zone": "Europe/Berlin"})

    assert shanghai.sql(query).rows() == [{"t": "1970-01-01 08:00:00.000"}]
    assert berlin.sql(query).rows() == [{"t": "1970-01-01 01:00:00.000"}]


def test_sessions_on_one_spark_have_catalogs_of_their_own(spark):
    one, other = tidemark.connect(spark), tidemark.connect(spark)
    one.sql("CREATE VIEW v AS SELECT 1 AS n")

    with pytest.raises(TidemarkError, match="`v` does not exist"):
        other.sql("SELECT * FROM v")


def test_rows_inside_rows_keep_the_names_the_user_gave(session):
    [row] = session.sql(
        "SELECT CAST(ROW(1, ROW('x')) AS ROW<`a b` INT, `A b` ROW<`é` STRING>>) AS r"
    ).rows()

    assert row == {"r": {"a b": 1, "A b": {"é": "x"}}}


# --- functions of the user's -------------------------------------------------------------------


def test_a_python_function_is_called_from_sql(session):
    def shout(text: str) -> str:
        return text.upper() + "!"

    session.create_function("shout", shout)

    assert session.sql("SELECT shout('tide') AS s").rows() == [{"s": "TIDE!"}]


def test_a_vectorized_function_gets_whole_columns(session):
    import pyarrow.compute as pc

    session.create_function(
        "plus_one", lambda x: pc.add(x, 1), parameters=["BIGINT"], returns="BIGINT", vectorized=True
    )

    rows = session.sql("SELECT plus_one(x) AS y FROM (VALUES (1), (2)) AS t(x)").rows()

    assert rows == [{"y": 2}, {"y": 3}]


def test_a_python_function_decides_on_no_element_on_spark(session):
    session.create_function("is_small", lambda x: x < 2, parameters=["INT"], returns="BOOLEAN")
    pairs = "FROM (VALUES (1)) AS t(id) {} JOIN UNNEST(ARRAY[1, 2]) AS u(x) ON is_small(x)"

    assert session.sql(f"SELECT x {pairs.format('INNER')}").rows() == [{"x": 1}]
    with pytest.raises(NotSupported, match=r"is_small in the ON of a LEFT JOIN with UNNEST"):
        session.sql(f"SELECT x {pairs.format('LEFT')}").rows()


def test_functions_written_for_pyflink_run_in_workers(session):
    home = "tests.local.written_for_pyflink"
    for name in ("split", "half", "hash_code"):
        session.sql(f"CREATE TEMPORARY FUNCTION my_{name} AS '{home}.{name}' LANGUAGE PYTHON")

    rows = session.sql(
        "SELECT i, my_half(x) AS x, my_hash_code(COALESCE(w, '')) AS h, n FROM (VALUES (1, 1.0E0, 'a bc'), "
        "(2, 3.0E0, CAST(NULL AS STRING))) AS t (i, x, s) "
        "LEFT JOIN LATERAL TABLE(my_split(s)) AS r (w, n) ON TRUE"
    )

    assert sorted(tuple(row.values()) for row in rows.rows()) == [
        (1, 0.5, 1164, 1),
        (1, 0.5, 2364, 2),
        (2, 1.5, 0, None),
    ]


def test_a_function_that_fails_says_how(session):
    def inverse(x: int) -> float:
        return 1 / x

    session.create_function("inverse", inverse)

    with pytest.raises(TidemarkError, match="ZeroDivisionError: division by zero"):
        session.sql("SELECT inverse(x) FROM (VALUES (0)) AS t(x)").rows()
