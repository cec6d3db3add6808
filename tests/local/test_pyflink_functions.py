"""Functions written for PyFlink. What they return was seen in Flink 2.3 for the same module."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys

import pytest

import tidemark
from tidemark.errors import TidemarkError
from tidemark.pyflink.api.common import Row, RowKind
from tidemark.pyflink.api.table import DataTypes, ListView, MapView
from tidemark.pyflink.api.table import udf as api

HOME = "tests.local.written_for_pyflink"
NAMES = "add code sub_one half negated pair split words weighted mean spread distinct"
ROWS = "(VALUES (CAST(1 AS BIGINT), 'hello big world'), (2, 'a'), (5, 'x yz')) AS v (i, s)"


@pytest.fixture(scope="module")
def session():
    with tidemark.connect(engine="local") as session:
        for name in NAMES.split():
            of = "hash_code" if name == "code" else name
            session.sql(f"CREATE FUNCTION {name}_ AS '{HOME}.{of}' LANGUAGE PYTHON")
        session.sql(f"CREATE TEMPORARY VIEW t AS SELECT * FROM {ROWS}")
        yield session


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("add_(i, 2)", [3, 4, 7]),
        ("add_(i, CAST(NULL AS BIGINT))", [None, None, None]),
        ("code_(s)", [17448, 1164, 4740]),
        ("sub_one_(i)", [0, 1, 4]),
        ("negated_(i)", [-1, -2, -5]),
        ("half_(CAST(i AS DOUBLE))", [0.5, 1.0, 2.5]),
        ("pair_(CAST(i AS INT)).b", ["1", "2", "5"]),
    ],
)
def test_scalar_functions(session, expression, expected):
    rows = session.sql(f"SELECT {expression} AS x FROM t").rows()

    assert [row["x"] for row in rows] == expected


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        (
            "t, LATERAL TABLE(split_(s)) AS r (w, n)",
            [
                (1, "hello", 5),
                (1, "big", 3),
                (1, "world", 5),
                (2, "a", 1),
                (5, "x", 1),
                (5, "yz", 2),
            ],
        ),
        (
            "t JOIN LATERAL TABLE(split_(NULLIF(s, 'x yz'))) AS r (w, n) ON TRUE",
            [(1, "hello", 5), (1, "big", 3), (1, "world", 5), (2, "a", 1)],
        ),
        (
            "(SELECT i, NULLIF(s, 'a') AS s FROM t WHERE i < 5) AS t "
            "LEFT JOIN LATERAL TABLE(split_(s)) AS r (w, n) ON TRUE",
            [(1, "hello", 5), (1, "big", 3), (1, "world", 5), (2, None, None)],
        ),
        (
            "t LEFT JOIN LATERAL TABLE(split_(s)) AS r (w, n) ON n > 2 * i",
            [(1, "hello", 5), (1, "big", 3), (1, "world", 5), (2, None, None), (5, None, None)],
        ),
        (
            "t JOIN LATERAL TABLE(split_(s)) AS r (w, n) ON n > 2 * i",
            [(1, "hello", 5), (1, "big", 3), (1, "world", 5)],
        ),
        ("t CROSS JOIN LATERAL TABLE(split_('b')) AS r (w, n)", [(i, "b", 1) for i in (1, 2, 5)]),
    ],
)
def test_a_table_function_returns_rows_for_each_row(session, relation, expected):
    rows = session.sql(f"SELECT i, w, n FROM {relation}").rows()

    assert [tuple(row.values()) for row in rows] == expected


def test_columns_of_a_table_function_without_names_are_numbered(session):
    rows = session.sql("SELECT words_.f0 FROM TABLE(words_('p q')) AS words_").rows()

    assert rows == [{"f0": "p"}, {"f0": "q"}]


def test_rows_of_a_table_function_are_grouped_like_others(session):
    query = "SELECT n, COUNT(*) AS c FROM t, LATERAL TABLE(split_(s)) AS r (w, n) GROUP BY n"
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    try:
        rows = session.sql(query).rows()
    finally:
        session.sql("SET 'execution.runtime-mode' = 'streaming'")

    assert sorted((row["n"], row["c"]) for row in rows) == [(1, 2), (2, 1), (3, 1), (5, 2)]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("weighted_(i, i)", 3.75),
        ("mean_(CAST(i AS DOUBLE))", 8 / 3),
        ("mean_(CAST(NULL AS DOUBLE))", None),
        ("spread_(i)", 4),
        ("distinct_(LOWER(SUBSTRING(s, 1, 1)))", "h,a,x"),
    ],
)
def test_aggregate_functions(session, call, expected):
    changes = session.sql(f"SELECT {call} AS x FROM t").changes()

    assert list(changes)[-1].row["x"] == expected


def test_a_function_without_retract_does_not_run_over_a_changelog(session):
    counts = "(SELECT s, COUNT(*) AS n FROM t GROUP BY s) AS c"

    assert session.sql(f"SELECT weighted_(n, n) AS x FROM {counts}").changes()
    with pytest.raises(TidemarkError, match="retract"):
        session.sql(f"SELECT distinct_(s) AS x FROM {counts}")


def test_a_wrong_number_of_arguments_is_found_when_planning(session):
    with pytest.raises(TidemarkError, match="`sub_one_` does not accept 2 arguments"):
        session.sql("SELECT sub_one_(i, i) AS x FROM t")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT split_(s) AS x FROM t", "table function `split_` is only allowed in FROM"),
        ("SELECT 1 FROM t, LATERAL TABLE(add_(i, i))", "`add_` is not a table function"),
        ("SELECT 1 FROM t, LATERAL TABLE(splitt_(s))", "unknown table function `splitt_`"),
        (
            "SELECT 1 FROM t FULL JOIN LATERAL TABLE(split_(s)) AS r ON TRUE",
            "FULL JOIN LATERAL TABLE is not allowed",
        ),
        ("SELECT 1 FROM t, LATERAL TABLE(split_(s)) AS r (w)", "column"),
    ],
)
def test_refused_calls_say_why(session, query, message):
    with pytest.raises(TidemarkError, match=message):
        session.sql(query)


# --- declared in Python --------------------------------------------------------------------------


def test_a_generator_and_a_function_of_arrows_are_table_functions(session):
    import pyarrow as pa

    rows = "ROW<part STRING, place INT>"

    def parts(text: str):  # type: ignore[no-untyped-def]
        yield from ((part, place) for place, part in enumerate(text.split()))

    def all_parts(texts: pa.Array) -> pa.Array:
        found = [
            [{"part": part, "place": i} for i, part in enumerate(text.split())]
            for text in texts.to_pylist()
        ]
        kind = pa.list_(pa.struct([("part", pa.string()), ("place", pa.int32())]))
        return pa.array(found, kind)

    session.create_table_function("PARTS", parts, returns=rows)
    session.create_table_function("ALL_PARTS", all_parts, returns=rows, vectorized=True)
    query = "SELECT i, part, place FROM t, LATERAL TABLE({}(s)) AS r"
    one, other = (session.sql(query.format(f)).rows() for f in ("PARTS", "ALL_PARTS"))

    assert one == other
    assert one[-1] == {"i": 5, "part": "yz", "place": 1}


def test_a_marked_table_function_is_imported_by_name(session):
    session.sql(f"CREATE FUNCTION marked AS '{__name__}.doubled' LANGUAGE PYTHON")

    rows = session.sql("SELECT x FROM TABLE(marked(CAST(2 AS BIGINT))) AS r").rows()

    assert rows == [{"x": 2}, {"x": 4}]


@tidemark.udtf(returns="ROW<x BIGINT>")
def doubled(x: int) -> list[int]:
    return [x, 2 * x]


def test_a_row_of_another_length_is_an_error(session):
    session.create_table_function("WRONG_OF", lambda x: [(x, x)], returns="ROW<x BIGINT>")

    with pytest.raises(TidemarkError, match="a row of 2 fields, not 1"):
        session.sql("SELECT r.x FROM t, LATERAL TABLE(WRONG_OF(i)) AS r").rows()


# --- the API -------------------------------------------------------------------------------------


def test_a_worker_that_unpickles_a_function_can_import_pyflink():
    module = importlib.import_module(HOME)
    from tidemark.catalog.user_functions import declare

    function = declare("code", module.hash_code).implementation
    content = pickle.dumps(function)
    program = (
        "import pickle, sys; function = pickle.loads(bytes.fromhex(sys.argv[1])); "
        "print(function('a'))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program, content.hex()], capture_output=True, text=True, check=True
    )

    assert answer.stdout == "1164\n"


def test_what_functions_do_not_need_can_be_imported_and_not_used():
    importlib.import_module("tidemark.pyflink")
    table = importlib.import_module("pyflink.table")
    datastream = importlib.import_module("pyflink.datastream")

    with pytest.raises(NotImplementedError, match=r"table\.ChangelogMode is not part of"):
        table.ChangelogMode()
    with pytest.raises(NotImplementedError, match=r"datastream\.OutputTag is not part of"):
        datastream.OutputTag.of("late")


def test_rows_have_fields_by_number_and_by_name():
    row = Row(name="Ada", age=36)
    assert (row[0], row["age"], row.name, "age" in row, len(row)) == ("Ada", 36, "Ada", True, 2)
    row["age"] += 1
    assert row.as_dict() == {"name": "Ada", "age": 37}
    assert Row("name", "age")("Ada", 37) == row
    assert Row(1, Row(a=2)) == pickle.loads(pickle.dumps(Row(1, Row(a=2))))
    assert Row(a=Row(b=[Row(c=1)])).as_dict(recursive=True) == {"a": {"b": [{"c": 1}]}}
    assert Row(1) != Row.of_kind(RowKind.DELETE, 1)
    with pytest.raises(AttributeError):
        row.age = 3


def test_types_are_written_as_in_sql():
    row = DataTypes.ROW(
        [
            DataTypes.FIELD("a b", DataTypes.DECIMAL(10, 2).not_null()),
            DataTypes.FIELD("m", DataTypes.MAP(DataTypes.STRING(), DataTypes.ARRAY("INT"))),
        ]
    )

    assert row.sql == "ROW<`a b` DECIMAL(10, 2) NOT NULL, `m` MAP<STRING, ARRAY<INT>>>"
    assert DataTypes.TIMESTAMP_LTZ(3, nullable=False).sql == "TIMESTAMP_LTZ(3) NOT NULL"


def test_views_are_collections():
    numbers, ages = ListView(), MapView()
    numbers.add_all([1, 2])
    ages.put_all({"Ada": 36})
    ages["Bob"] = 1
    ages.remove("Ada")

    assert list(numbers) == [1, 2]
    assert (list(ages.items()), ages.contains("Ada"), ages["Ada"]) == ([("Bob", 1)], False, None)


@pytest.mark.parametrize(
    ("declare", "problem"),
    [
        (lambda: api.udf(len), "udf requires result_type"),
        (lambda: api.udtf(len), "udtf requires result_types"),
        (lambda: api.udf(len, result_type="INT", func_type="arrow"), "'general' or 'pandas'"),
        (lambda: api.udtaf(len), "requires result_type"),
        (lambda: api.udaf(len), "requires result_type"),
        (lambda: api.udtaf(len, result_type="INT", func_type="pandas"), "is 'general'"),
        (lambda: api.udf(5, result_type="INT"), "a value of type int cannot be called"),
        (lambda: api.udf(waits, result_type="INT", func_type="pandas"), "async function"),
        (
            lambda: api.udf(Inconstant(), result_type="INT", deterministic=True),
            "deterministic=True contradicts",
        ),
    ],
)
def test_declarations_that_cannot_work_are_refused(declare, problem):
    with pytest.raises((TypeError, ValueError, NotImplementedError), match=problem):
        declare()


async def waits(value):
    return value


class Inconstant(api.ScalarFunction):
    def is_deterministic(self) -> bool:
        return False

    def eval(self) -> int:
        return 4
