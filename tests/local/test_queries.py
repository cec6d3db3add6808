"""Queries that run in this process, without Spark."""

import subprocess
import sys
from pathlib import Path

import pytest

import tidemark
from tidemark.errors import DataError, NotSupported

VALUES = "(VALUES (1, 'a'), (2, 'b'), (3, 'a')) AS t(id, name)"


@pytest.fixture
def session() -> tidemark.Session:
    return tidemark.connect(options={"tidemark.engine": "local"})


def test_projection_and_filter_are_computed(session: tidemark.Session):
    result = session.sql(f"SELECT id * 2 AS twice, name FROM {VALUES} WHERE id > 1")
    assert result.rows() == [{"twice": 4, "name": "b"}, {"twice": 6, "name": "a"}]


def test_query_without_a_table_has_one_row(session: tidemark.Session):
    assert session.sql("SELECT 1 AS n").rows() == [{"n": 1}]


def test_current_database_is_that_of_the_session_also_in_a_view(session: tidemark.Session):
    session.sql("CREATE VIEW place AS SELECT CURRENT_DATABASE() AS here")
    assert session.sql("SELECT * FROM place").rows() == [{"here": "default_database"}]
    session.sql("CREATE DATABASE archive")
    session.sql("USE archive")
    assert session.sql("SELECT CURRENT_DATABASE() AS here").rows() == [{"here": "archive"}]
    in_view = session.sql("SELECT * FROM default_database.place")
    assert in_view.rows() == [{"here": "archive"}]


def test_described_columns_say_by_a_boolean_whether_they_may_be_null(session: tidemark.Session):
    session.sql("CREATE VIEW known AS SELECT 1 AS id, CAST(NULL AS STRING) AS name")
    described = session.sql("DESCRIBE known")
    assert [(row["name"], row["null"]) for row in described.rows()] == [
        ("id", False),
        ("name", True),
    ]
    assert str(described.columns[2].type) == "BOOLEAN"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("ARRAY[INTERVAL '1' MONTH]", [1]),
        ("ROW(INTERVAL '2' YEAR, 1)", {"EXPR$0": 24, "EXPR$1": 1}),
        ("MAP['a', INTERVAL '3' MONTH]", {"a": 3}),
    ],
)
def test_months_may_be_inside_a_collection(session: tidemark.Session, value, expected):
    assert session.sql(f"SELECT {value} AS v").rows() == [{"v": expected}]


def test_one_row_is_left_of_which_no_column_is_read(session: tidemark.Session):
    sums = "(SELECT id + 1 AS next_id FROM (SELECT DISTINCT id FROM (VALUES (1)) AS t(id)))"
    assert session.sql(f"SELECT 'a' AS c FROM {sums} WHERE next_id > 1").rows() == [{"c": "a"}]


def test_group_is_updated_by_each_row(session: tidemark.Session):
    result = session.sql(f"SELECT name, COUNT(*) AS n FROM {VALUES} GROUP BY name")
    assert [(c.kind, *c.row.values()) for c in result.changes()] == [
        ("+I", "a", 1),
        ("+I", "b", 1),
        ("-U", "a", 1),
        ("+U", "a", 2),
    ]


def test_group_id_numbers_grouping_sets_that_are_repeated(session: tidemark.Session):
    sets = "GROUPING SETS ((name), (), (name))"
    result = session.sql(f"SELECT name, GROUP_ID() AS again FROM {VALUES} GROUP BY {sets}")
    assert sorted((str(row["name"]), row["again"]) for row in result.rows()) == [
        ("None", 0),
        ("a", 0),
        ("a", 1),
        ("b", 0),
        ("b", 1),
    ]


def test_sum0_of_no_numbers_is_0(session: tidemark.Session):
    numbers = "(VALUES (1, CAST(NULL AS INT)), (2, 3), (2, 4)) AS t(k, v)"
    of_groups = session.sql(f"SELECT k, $sum0(v) AS n FROM {numbers} GROUP BY k")
    of_frames = session.sql(f"SELECT $SUM0(v) OVER (PARTITION BY k ORDER BY v) AS n FROM {numbers}")
    assert sorted(row["n"] for row in of_groups.rows()) == [0, 7]
    assert sorted(row["n"] for row in of_frames.rows()) == [0, 3, 7]


def test_rows_are_counted_although_no_column_is_needed(session: tidemark.Session):
    assert session.sql(f"SELECT COUNT(*) AS n FROM {VALUES}").rows() == [{"n": 3}]


def test_branches_of_a_union_follow_each_other(session: tidemark.Session):
    result = session.sql("SELECT 1 AS n UNION ALL SELECT CAST(2 AS BIGINT)")
    assert result.rows() == [{"n": 1}, {"n": 2}]


def test_sides_are_joined_by_their_keys(session: tidemark.Session):
    other = "(VALUES ('a', 1.5), ('c', 2.5)) AS u(name, x)"
    result = session.sql(f"SELECT id, x FROM {VALUES} JOIN {other} ON t.name = u.name")
    assert sorted(row["id"] for row in result.rows()) == [1, 3]


def test_a_column_may_equal_several_of_the_other_side(session: tidemark.Session):
    others = "(VALUES (1, 1), (1, 2), (2, 2)) AS u(a, b)"
    result = session.sql(f"SELECT id, b FROM {VALUES} LEFT JOIN {others} ON id = a AND id = b")
    assert sorted(map(str, result.rows())) == [
        "{'id': 1, 'b': 1}",
        "{'id': 2, 'b': 2}",
        "{'id': 3, 'b': None}",
    ]


def test_maps_and_multisets_are_unnested(session: tidemark.Session):
    session.sql(
        "CREATE VIEW words AS SELECT id, COLLECT(w) AS bag, MAP['k', id, 'l', 0] AS m FROM (VALUES"
        " (1, 'p'), (1, 'q'), (1, 'p'), (2, CAST(NULL AS STRING))) AS t(id, w) GROUP BY id"
    )
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    bags = session.sql("SELECT id, w, n FROM words, UNNEST(bag) WITH ORDINALITY AS t (w, n)")
    assert sorted((*row.values(),) for row in bags.rows()) == [
        (1, "p", 1),
        (1, "p", 2),
        (1, "q", 3),
    ]
    entries = session.sql("SELECT id, k, v FROM words LEFT JOIN UNNEST(m) AS t (k, v) ON TRUE")
    assert sorted((*row.values(),) for row in entries.rows()) == [
        (1, "k", 1),
        (1, "l", 0),
        (2, "k", 2),
        (2, "l", 0),
    ]


def test_what_lateral_computes_of_elements_is_null_where_there_are_none(session: tidemark.Session):
    session.sql(
        "CREATE VIEW carts AS SELECT * FROM (VALUES (1, ARRAY[3, 8]), (2, ARRAY[2]),"
        " (3, CAST(NULL AS ARRAY<INT>))) AS t(id, prices)"
    )
    result = session.sql(
        "SELECT id, twice, kind FROM carts LEFT JOIN LATERAL (SELECT 2 * p, 'dear' FROM"
        " UNNEST(prices) AS u (p) WHERE p > id) AS l (twice, kind) ON twice > 6"
    )

    assert sorted((*row.values(),) for row in result.rows()) == [
        (1, 16, "dear"),
        (2, None, None),
        (3, None, None),
    ]


def test_collections_of_changing_groups_replace_each_other(session: tidemark.Session):
    values = "(VALUES (1, 10, x'01'), (1, 20, x'ff'), (2, 30, x''), (1, 10, x'02')) AS t(id, n, b)"
    result = session.sql(
        f"SELECT COLLECT(n) AS bag, ARRAY_AGG(b) AS parts, COUNT(*) AS n FROM {values} GROUP BY id"
    )
    assert sorted(result.rows(), key=lambda row: row["n"]) == [
        {"bag": {30: 1}, "parts": [b""], "n": 1},
        {"bag": {10: 2, 20: 1}, "parts": [b"\x01", b"\xff", b"\x02"], "n": 3},
    ]


def test_rows_are_collected_whatever_their_fields_are_called(session: tidemark.Session):
    values = "(VALUES (1, 'Oslo'), (2, 'Riga'), (1, 'Oslo')) AS t(id, port)"
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    unnamed = session.sql(f"SELECT COLLECT(ROW(id, port)) AS bag FROM {values}")
    oslo, riga = ({"EXPR$0": id_, "EXPR$1": port} for id_, port in ((1, "Oslo"), (2, "Riga")))
    assert unnamed.rows() == [{"bag": [(oslo, 2), (riga, 1)]}]
    inside = session.sql(f"SELECT ROW(COLLECT(ROW(id, port)), 1) AS r FROM {values}")
    assert inside.rows() == [{"r": {"EXPR$0": [(oslo, 2), (riga, 1)], "EXPR$1": 1}}]


def test_rows_of_a_bounded_table_are_generated(session: tidemark.Session):
    session.sql(
        "CREATE TABLE made (a INT, b STRING, p TIMESTAMP(3), WATERMARK FOR p AS p) WITH ("
        " 'connector' = 'datagen', 'number-of-rows' = '4', 'fields.b.length' = '2',"
        " 'fields.a.kind' = 'sequence', 'fields.a.start' = '1', 'fields.a.end' = '9')"
    )
    result = session.sql("SELECT a, CHAR_LENGTH(b) AS n, p IS NULL AS missing FROM made")
    assert [(*row.values(),) for row in result.rows()] == [(n, 2, False) for n in (1, 2, 3, 4)]
    session.sql(
        "CREATE TABLE computed (x AS 1 + 1) WITH ('connector' = 'datagen', 'number-of-rows' = '2')"
    )
    assert session.sql("SELECT x FROM computed").rows() == [{"x": 2}, {"x": 2}]
    both = "SELECT l.b FROM made AS l JOIN made AS r ON l.a = r.a AND l.b = r.b"
    assert len(session.sql(both).rows()) == 4


def test_part_that_needs_spark_is_named_before_anything_runs(session: tidemark.Session):
    session.sql("CREATE TABLE endless (a INT) WITH ('connector' = 'datagen')")
    with pytest.raises(NotSupported, match="an unbounded job needs Spark") as raised:
        session.sql("SELECT * FROM endless")
    assert "--local" in str(raised.value)


def test_print_table_prints_changes(session: tidemark.Session, capsys: pytest.CaptureFixture[str]):
    session.sql("CREATE TABLE printed (n INT, name STRING) WITH ('connector' = 'print')")
    result = session.sql(f"INSERT INTO printed SELECT id, name FROM {VALUES}")
    assert result.job is not None
    result.job.wait()
    assert capsys.readouterr().out == "+I[1, a]\n+I[2, b]\n+I[3, a]\n"
    assert result.job.progress().rows_out == 3


def test_no_root_starts_if_another_one_needs_spark(
    session: tidemark.Session, capsys: pytest.CaptureFixture[str]
):
    session.sql("CREATE TABLE printed (n INT) WITH ('connector' = 'print')")
    session.sql("CREATE TABLE endless (a INT) WITH ('connector' = 'datagen')")
    with pytest.raises(NotSupported):
        session.sql(
            "EXECUTE STATEMENT SET BEGIN INSERT INTO printed SELECT 1;"
            " INSERT INTO printed SELECT a FROM endless; END"
        )
    assert capsys.readouterr().out == ""


def test_neither_spark_nor_pandas_is_loaded(tmp_path: Path):
    (tmp_path / "rows.json").write_text('{"k": "a", "ts": "2024-01-01 00:00:00", "d": 1.5}\n')
    table = (
        "CREATE TABLE t (k STRING, ts TIMESTAMP(3), d DECIMAL(5, 2), WATERMARK FOR ts AS ts) WITH "
        f"('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'json')"
    )
    last = "SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM t"
    code = (
        "import sys, tidemark\n"
        "session = tidemark.connect(options={'tidemark.engine': 'local'})\n"
        f'session.sql("SELECT name, COUNT(*) AS n FROM {VALUES} GROUP BY name").rows()\n'
        f'session.sql("{table}")\n'
        f'session.sql("SELECT k, d FROM ({last}) WHERE n = 1").rows()\n'
        "print(sorted({'pyspark', 'pandas'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


RATES = """
CREATE TABLE rates (k STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '{0}/rates', 'format' = 'json');
CREATE TABLE orders (id INT, k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '{0}/orders', 'format' = 'json');
CREATE VIEW newest AS SELECT k, rate, ts FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM rates) WHERE n = 1;
"""


@pytest.fixture
def rates(tmp_path):
    for table, lines in (
        ("rates", '{"k":"a","rate":1,"ts":"2024-01-01 00:00:01"}\n'
                  '{"k":"a","rate":3,"ts":"2024-01-01 00:00:03"}\n'
                  '{"k":"a","rate":2,"ts":"2024-01-01 00:00:02"}\n'),
        ("orders", '{"id":7,"k":"a","ts":"2024-01-01 00:00:02"}\n'),
    ):  # fmt: skip
        (tmp_path / table).mkdir()
        (tmp_path / table / "rows.json").write_text(lines)
    batch = {"tidemark.engine": "local", "execution.runtime-mode": "batch"}
    with tidemark.connect(options=batch) as session:
        session.sql(RATES.format(tmp_path))
        yield session


def test_a_batch_has_only_the_last_of_the_newest_rows(rates):
    changes = [*rates.sql("SELECT rate, k FROM newest").changes()]

    assert [(c.kind, *c.row.values()) for c in changes] == [("+I", 3, "a")]


def test_a_temporal_join_in_a_batch_has_all_versions_of_a_view(rates):
    found = rates.sql(
        "SELECT id, rate FROM orders AS o JOIN newest FOR SYSTEM_TIME AS OF o.ts AS r ON o.k = r.k"
    )
    assert found.rows() == [{"id": 7, "rate": 1}]


CITIES = (
    "(VALUES ('LA', 'CA', 40), ('PH', 'AZ', 16), ('HO', 'TX', 23), ('SD', 'CA', 14), "
    "('SF', 'CA', 14), ('SA', 'TX', 15)) AS cities (name, state, pop)"
)
STATES = "(VALUES ('CA'), ('TX'), ('AZ'), ('NY')) AS s (state)"


@pytest.mark.parametrize(
    ("subquery", "found"),
    [
        ("SELECT name FROM {} WHERE cities.state = s.state ORDER BY pop DESC LIMIT 1", "LA HO PH -"),
        ("SELECT name, pop AS p FROM {} WHERE cities.state = s.state ORDER BY p, 1 DESC LIMIT 1 "
         "OFFSET 1", "SD HO - -"),
        ("SELECT name FROM {} WHERE cities.state = s.state AND pop > 15 ORDER BY pop LIMIT 9",
         "LA HO PH -"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_a_lateral_subquery_has_the_first_rows_for_each_outer_row(
    session: tidemark.Session, mode: str, subquery: str, found: str
):
    session.sql(f"SET 'execution.runtime-mode' = '{mode}'")
    lateral = f"LATERAL ({subquery.format(CITIES)}) AS c ON TRUE"
    result = session.sql(f"SELECT s.state, c.name FROM {STATES} LEFT JOIN {lateral}")

    names = {row["state"]: row["name"] or "-" for row in result.rows()}
    assert " ".join(names[state] for state in ("CA", "TX", "AZ", "NY")) == found


def test_a_value_may_be_the_first_row_for_each_outer_row(session: tidemark.Session):
    value = f"(SELECT name FROM {CITIES} WHERE cities.state = s.state ORDER BY pop LIMIT 1)"
    result = session.sql(f"SELECT s.state, {value} AS name FROM {STATES}")

    names = {row["state"]: row["name"] for row in result.rows()}
    assert (names["TX"], names["AZ"], names["NY"]) == ("SA", "PH", None)


@pytest.mark.parametrize(
    ("function", "number", "names"), [("RANK", 1, "PH SA SD SF"), ("DENSE_RANK", 2, "HO LA")]
)
def test_ranks_select_rows_in_batch_mode(
    session: tidemark.Session, function: str, number: int, names: str
):
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    result = session.sql(
        f"SELECT name FROM (SELECT *, {function}() OVER (PARTITION BY state ORDER BY pop) AS r "
        f"FROM {CITIES}) WHERE r = {number}"
    )

    assert sorted(row["name"] for row in result.rows()) == names.split()


def test_a_null_in_a_column_that_is_not_null_fails_the_job(session: tidemark.Session):
    session.sql(
        "CREATE TABLE keyed (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) "
        "WITH ('connector' = 'blackhole')"
    )
    session.sql(f"INSERT INTO keyed SELECT NULLIF(id, 9), name FROM {VALUES}").job.wait()

    with pytest.raises(DataError, match="column `id` of table `keyed` is NOT NULL, but a value"):
        session.sql(f"INSERT INTO keyed SELECT NULLIF(id, 2), name FROM {VALUES}").job.wait()


def test_a_null_in_a_field_that_is_not_null_fails_the_job_if_wanted(session: tidemark.Session):
    session.sql(
        "CREATE TABLE parcels (size ROW<w INT NOT NULL, box ROW<h INT NOT NULL> NOT NULL>) "
        "WITH ('connector' = 'blackhole');"
        "CREATE VIEW measured AS SELECT n, CASE WHEN n > 1 THEN CAST(ROW(n, CASE WHEN n > 2 THEN "
        "ROW(NULLIF(n, 3)) END) AS ROW<w INT, box ROW<h INT>>) END AS size "
        "FROM (VALUES (1), (2), (3), (4)) AS t(n)"
    )
    session.sql("INSERT INTO parcels SELECT size FROM measured").job.wait()
    session.sql("SET 'table.exec.sink.nested-constraint-enforcer' = 'ROWS'")
    session.sql("INSERT INTO parcels SELECT size FROM measured WHERE n IN (1, 4)").job.wait()

    for number, field in ((2, "size.box"), (3, "size.box.h")):
        with pytest.raises(DataError, match=f"column `{field}` of table `parcels` is NOT NULL"):
            session.sql(
                f"INSERT INTO parcels SELECT size FROM measured WHERE n = {number}"
            ).job.wait()

    session.sql("SET 'table.exec.sink.not-null-enforcer' = 'DROP'")
    kept = session.sql("INSERT INTO parcels SELECT size FROM measured").job
    kept.wait()
    assert kept.progress().rows_out == 2
