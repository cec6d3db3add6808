"""Tables of PostgreSQL as sinks."""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal
from typing import Any

import pytest

from servers.postgres import Postgres
from tests.connectors.jdbc_sinks import Sink, run_locally, run_on
from tidemark.catalog.tables import Changelog
from tidemark.connectors.jdbc.sink import sink_of
from tidemark.errors import DataError, JobError, PlanError, SetupError, TidemarkError


def test_a_lost_connection_is_tried_again(postgres, monkeypatch):
    from tidemark.connectors.jdbc import contract as connections

    monkeypatch.setattr(connections.time, "sleep", lambda seconds: None)
    sink = Sink(postgres, Changelog.APPEND, key=False)
    found = sink_of(sink.target)
    sql = f"CREATE FUNCTION {sink.name}_end() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
    sql += f"IF nextval('{sink.name}_calls') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF; "
    postgres.run(
        f"CREATE SEQUENCE {sink.name}_calls",
        sql + "RETURN NEW; END $$",
        f"CREATE TRIGGER x BEFORE INSERT ON {sink.name} EXECUTE FUNCTION {sink.name}_end()",
    )

    found.commit(lambda: sink.copied(found, [[("+I", 1, 1)]]), None)

    assert sink.rows() == [(1, 1)]


# --- types and mistakes ------------------------------------------------------------------------

TYPES = [
    ("b boolean", "b BOOLEAN", "TRUE", True),
    ("t smallint", "t TINYINT", "CAST(-1 AS TINYINT)", -1),
    ("i integer", "i BIGINT", "CAST(7 AS BIGINT)", 7),
    ("d double precision", "d DOUBLE", "1.5E0", 1.5),
    ("f real", "f FLOAT", "CAST(0.5 AS FLOAT)", 0.5),
    ("n numeric(6, 2)", "n DECIMAL(10, 3)", "-12.345", Decimal("-12.35")),
    ("c char(3)", "c STRING", "'é'", "é  "),
    ("y bytea", "y BYTES", "x'00ff'", b"\x00\xff"),
    ("da date", "da DATE", "DATE '0001-02-03'", dt.date(1, 2, 3)),
    ("ti time", "ti TIME(3)", "TIME '10:20:30'", dt.time(10, 20, 30)),
    ("ts timestamp", "ts TIMESTAMP(6)", "TIMESTAMP '1969-12-31 23:59:59.999999'",
     dt.datetime(1969, 12, 31, 23, 59, 59, 999_999)),
    ("tz timestamptz", "tz TIMESTAMP_LTZ(3)", "TO_TIMESTAMP_LTZ(1500, 3)",
     dt.datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=dt.UTC)),
    ("a integer[]", "a ARRAY<INT>", "ARRAY[1, 2]", [1, 2]),
    ("u uuid", "u STRING", "'00000000-0000-0000-0000-00000000000a'",
     "00000000-0000-0000-0000-00000000000a"),
    ("j jsonb", "j STRING", """'{"a":  1}'""", '{"a": 1}'),
]  # fmt: skip


def insert_of_each_type(postgres: Postgres, source: str) -> tuple[str, str]:
    name = postgres.table(", ".join(one[0] for one in TYPES))
    declared = f"CREATE TABLE t ({', '.join(one[1] for one in TYPES)}) {postgres.options(name)};"
    values = ", ".join(one[2] for one in TYPES)
    return name, f"{declared} INSERT INTO t SELECT {values} FROM {source};"


def read_back(postgres: Postgres, name: str) -> list[Any]:
    columns = [
        f"{one[0].split()[0]}::text"
        if one[0].split()[1] in ("uuid", "jsonb", "numeric(6,")
        else one[0].split()[0]
        for one in TYPES
    ]
    [row] = postgres.rows(f"SELECT {', '.join(columns)} FROM {name}")
    return [
        Decimal(v) if isinstance(w, Decimal) else v for v, (*_, w) in zip(row, TYPES, strict=True)
    ]


def test_values_of_each_type_are_written(postgres):
    name, script = insert_of_each_type(postgres, "(VALUES (1)) AS v (x)")
    run_locally(script)

    assert read_back(postgres, name) == [one[3] for one in TYPES]


def test_decimals_keep_their_digits(postgres):
    name = postgres.table("n numeric, t text, xs numeric[]")
    columns = "n DECIMAL(38, 18), t DECIMAL(5, 2), xs ARRAY<DECIMAL(5, 2)>"
    values = (
        "CAST(1.5 AS DECIMAL(38, 18)), CAST(0.5 AS DECIMAL(5, 2)), ARRAY[CAST(2 AS DECIMAL(5, 2))]"
    )

    run_locally(
        f"CREATE TABLE t ({columns}) {postgres.options(name)}; INSERT INTO t SELECT {values};"
    )

    found = postgres.rows(f"SELECT n::text, t, xs::text FROM {name}")
    assert found == [("1.500000000000000000", "0.50", "{2.00}")]


def test_arrays_of_strings_are_written_as_arrays_of_other_types(postgres):
    name = postgres.table("us uuid[], ns numeric(6, 2)[], s uuid[]")
    user = "00000000-0000-0000-0000-00000000000a"
    run_locally(
        f"CREATE TABLE t (us ARRAY<STRING>, ns ARRAY<STRING>, s STRING) {postgres.options(name)}; "
        f"INSERT INTO t SELECT ARRAY['{user}'], ARRAY['1.5', '2'], '{{{user}}}';"
    )

    found = postgres.rows(f"SELECT us::text, ns::text, s::text FROM {name}")
    assert found == [(f"{{{user}}}", "{1.50,2.00}", f"{{{user}}}")]


def test_nulls_are_written(postgres):
    name = postgres.table(", ".join(one[0] for one in TYPES))
    declared = f"CREATE TABLE t ({', '.join(one[1] for one in TYPES)}) {postgres.options(name)};"
    run_locally(declared + " INSERT INTO t (b) VALUES (FALSE);")

    assert postgres.rows(f"SELECT * FROM {name}") == [(False, *[None] * (len(TYPES) - 1))]


def test_a_query_that_updates_rows_needs_a_key(postgres):
    script = f"""
        CREATE TABLE t (k INT, n BIGINT) {postgres.options("nowhere")};
        INSERT INTO t SELECT x, COUNT(*) FROM (VALUES (1), (1)) AS v (x) GROUP BY x;
    """
    with pytest.raises(PlanError, match="accepts only inserts"):
        run_locally(script)


@pytest.mark.parametrize(
    ("columns", "declared", "error", "message"),
    [
        ("k int", "k INT, gone INT", DataError, "column `gone` of `{}` does not exist"),
        ("k int", "k INT PRIMARY KEY NOT ENFORCED", JobError, "no unique or exclusion constraint"),
        ("k smallint", "k INT", DataError, "out of range"),
        ("k int, ts timestamp", "k INT, ts TIMESTAMP_LTZ(3)", DataError, "cannot be written"),
        (
            "k int, v int GENERATED ALWAYS AS (k + 1) STORED",
            "k INT, v INT",
            JobError,
            "hint: leave the column out of the table",
        ),
        ("k int, v int NOT NULL", "k INT, v INT", DataError, "violates not-null constraint"),
    ],
)
def test_what_does_not_fit_the_database_is_an_error(postgres, columns, declared, error, message):
    name = postgres.table(columns)
    others = "".join(", NULL" for _ in declared.split(",")[1:])
    script = f"CREATE TABLE t ({declared}) {postgres.options(name)};"

    with pytest.raises(error) as caught:
        run_locally(f"{script} INSERT INTO t SELECT 70000{others};")

    assert message.format(name) in str(caught.value)
    assert postgres.rows(f"SELECT * FROM {name}") == []


def test_a_key_is_never_null(postgres):
    name = postgres.table("k int PRIMARY KEY")
    script = f"CREATE TABLE t (k INT, PRIMARY KEY (k) NOT ENFORCED) {postgres.options(name)};"

    with pytest.raises(DataError, match="column `k` of table `t` is NOT NULL, but a value is NULL"):
        run_locally(script + " INSERT INTO t SELECT NULLIF(x, 2) FROM (VALUES (1), (2)) AS v (x);")

    assert postgres.rows(f"SELECT * FROM {name}") == []


def test_missing_rights_are_named(postgres):
    name = postgres.table("k int")
    user = f"u{uuid.uuid4().hex[:8]}"
    postgres.run(f"CREATE USER {user} PASSWORD 'p'", f"GRANT INSERT, SELECT ON {name} TO {user}")
    options = postgres.options(name, username=user, password="p")

    with pytest.raises(SetupError, match="permission denied for schema public") as caught:
        run_locally(f"CREATE TABLE t (k INT) {options}; INSERT INTO t SELECT 1;")

    assert user in (caught.value.hint or "")


def test_overwriting_is_refused(postgres):
    name = postgres.table("k int")
    script = f"CREATE TABLE t (k INT) {postgres.options(name)}; INSERT OVERWRITE t SELECT 1;"

    with pytest.raises(TidemarkError, match="INSERT OVERWRITE is not supported for `t`"):
        run_locally(f"SET 'execution.runtime-mode' = 'batch'; {script}")


# --- on Spark ----------------------------------------------------------------------------------


def test_spark_writes_the_same_values(spark, postgres):
    name, script = insert_of_each_type(postgres, "(VALUES (1)) AS v (x)")

    run_on(spark, script)

    assert read_back(postgres, name) == [one[3] for one in TYPES]
