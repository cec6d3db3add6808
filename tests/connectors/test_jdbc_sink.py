"""Tables of PostgreSQL as sinks."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from servers.postgres import Postgres
from tests.connectors import tables
from tests.searching import searched
from tidemark import connect, connectors
from tidemark.catalog.tables import Changelog
from tidemark.connectors.base import Target, WorkerSink
from tidemark.connectors.jdbc.sink import sink_of
from tidemark.errors import DataError, JobError, PlanError, SetupError, TidemarkError
from tidemark.local.arrow import schema_of
from tidemark.session.result import JobResult

Change = tuple[str, int, int | None]


def target_of(table: Any, changelog: Changelog, **more: Any) -> Target:
    request = tables.columns_request(table)
    return Target(
        table=table,
        options=connectors.options_of(table),
        columns=request.columns,
        types=request.types,
        changelog=changelog,
        overwrite=False,
        zone="UTC",
        **more,
    )


class Sink:
    """A sink of `k INT, v INT` that gets the changes of tasks."""

    def __init__(
        self,
        postgres: Postgres,
        changelog: Changelog = Changelog.RETRACT,
        key: bool = True,
        **more: Any,
    ) -> None:
        self.postgres = postgres
        self.name = postgres.table("k int" + " PRIMARY KEY" * key + ", v int")
        tail = ", PRIMARY KEY (k) NOT ENFORCED" * key
        declared = tables.declared(
            f"CREATE TABLE t (k INT NOT NULL, v INT{tail}) {postgres.options(self.name)}"
        )
        self.target = target_of(declared, changelog, **more)
        kinds = changelog is not Changelog.APPEND
        self.schema = schema_of(self.target.columns, self.target.types, kinds=kinds)

    def take(self, *tasks: Sequence[Change], batch_id: int | None = None) -> None:
        sink = sink_of(self.target)
        sink.commit(lambda: self.copied(sink, tasks), batch_id)

    def copied(self, sink: WorkerSink, tasks: Sequence[Sequence[Change]]) -> list[str]:
        found = (sink.write(iter([self.batch(task)])) for task in tasks)
        return [note for task in found for _, note in task if note is not None]

    def batch(self, changes: Sequence[Change]) -> pa.RecordBatch:
        columns = [[c[1] for c in changes], [c[2] for c in changes], [c[0] for c in changes]]
        named = dict(zip(self.schema.names, columns, strict=False))
        return pa.RecordBatch.from_pydict(named, schema=self.schema)

    def empty(self) -> None:
        self.postgres.run(f"TRUNCATE {self.name}")

    def rows(self) -> list[tuple[Any, ...]]:
        return self.postgres.rows(f"SELECT k, v FROM {self.name} ORDER BY k, v")

    def staging(self) -> list[tuple[Any, ...]]:
        return self.postgres.rows(
            "SELECT relname FROM pg_class WHERE relname LIKE 'tidemark_staging%'"
        )


def test_the_last_change_of_a_key_counts(postgres):
    sink = Sink(postgres)

    sink.take([("+I", 1, 10), ("+I", 2, 20), ("-U", 1, 10), ("+U", 1, 11), ("+I", 3, None)])
    sink.take([("-D", 2, 20), ("-U", 3, None), ("+U", 3, 31)], [])

    assert sink.rows() == [(1, 11), (3, 31)]
    assert sink.staging() == []


def test_a_row_that_moves_between_tasks_stays(postgres):
    # The row of key 1 comes from another task now: in which order the two are seen is chance.
    for tasks in ([[("-D", 1, 10)], [("+I", 1, 11)]], [[("+I", 1, 11)], [("-D", 1, 10)]]):
        sink = Sink(postgres)
        sink.take([("+I", 1, 10)])
        sink.take(*tasks)
        assert sink.rows() == [(1, 11)]


def test_what_comes_and_goes_in_a_task_leaves_the_row_of_another(postgres):
    sink = Sink(postgres)
    sink.take([("+I", 1, 10)])

    sink.take([("+I", 1, 99), ("-D", 1, 99)])

    assert sink.rows() == [(1, 10)]


def test_upserts_come_without_the_rows_they_replace(postgres):
    sink = Sink(postgres, Changelog.UPSERT)
    sink.take([("+U", 1, 10), ("+U", 2, 20)])

    sink.take([("+U", 1, 11), ("-D", 1, 11), ("+U", 2, 21)])

    assert sink.rows() == [(2, 21)]


@given(st.data())
@searched(15)
def test_the_table_equals_the_result_whatever_tasks_its_changes_come_from(postgres, data):
    """Rows move between two tasks, which see their own changes in order and nothing else."""
    the_sink(postgres).empty()
    result: dict[int, tuple[int, int]] = {}  # the task and value of each key
    sink = the_sink(postgres)
    for _ in range(data.draw(st.integers(1, 3), "batches")):
        tasks: tuple[list[Change], list[Change]] = ([], [])
        for key, value, task in data.draw(st.lists(CHANGES, max_size=8), "changes"):
            if key in result:
                old_task, old = result.pop(key)
                tasks[old_task].append(("-D" if value is None else "-U", key, old))
            if value is not None:
                tasks[task].append(("+U", key, value))
                result[key] = task, value
        sink.take(*tasks)
        assert sink.rows() == sorted((key, value) for key, (_, value) in result.items())


@cache
def the_sink(postgres: Postgres) -> Sink:
    return Sink(postgres)


CHANGES = st.tuples(st.integers(1, 3), st.none() | st.integers(0, 9), st.integers(0, 1))


def test_several_pieces_of_a_task_are_in_order(postgres, monkeypatch):
    from tidemark.runtime import combining

    monkeypatch.setattr(combining.gathered, "__defaults__", (1,))
    sink = Sink(postgres)
    found = sink_of(sink.target)
    pieces = [[("+I", 1, 1), ("+I", 2, 1)], [("-U", 1, 1), ("+U", 1, 2)], [("-D", 2, 1)]]

    found.commit(
        lambda: [note for _, note in found.write(map(sink.batch, pieces)) if note is not None], None
    )

    assert sink.rows() == [(1, 2)]


# --- batches that come again -------------------------------------------------------------------


def test_a_keyed_table_may_get_a_batch_again(postgres):
    sink = Sink(postgres, job="j", started="s")
    sink.take([("+I", 1, 10)], batch_id=0)

    for _ in range(2):
        sink.take([("-U", 1, 10), ("+U", 1, 11), ("+I", 2, 20)], batch_id=1)

    assert sink.rows() == [(1, 11), (2, 20)]


def test_a_batch_that_comes_again_adds_nothing(postgres):
    name = uuid.uuid4().hex
    sink = Sink(postgres, Changelog.APPEND, key=False, job=name, started="s")

    for batch_id, value in [(0, 1), (0, 1), (1, 2), (2, 2), (2, 2)]:
        sink.take([("+I", 1, value)], batch_id=batch_id)

    assert sink.rows() == [(1, 1), (1, 2), (1, 2)]
    assert postgres.rows(f"SELECT batch FROM tidemark_batches WHERE job = '{name}-s'") == [(2,)]


def test_a_job_that_begins_anew_adds_its_batches(postgres):
    name = uuid.uuid4().hex
    sink = Sink(postgres, Changelog.APPEND, key=False, job=name, started="s")
    sink.take([("+I", 1, 1)], batch_id=0)

    sink.target = target_of(sink.target.table, Changelog.APPEND, job=name, started="another")
    sink.take([("+I", 1, 1)], batch_id=0)

    assert sink.rows() == [(1, 1), (1, 1)]


def test_rows_of_an_attempt_that_failed_do_not_count(postgres):
    sink = Sink(postgres, Changelog.APPEND, key=False)
    found = sink_of(sink.target)

    def notes() -> list[str]:
        sink.copied(found, [[("+I", 1, 1)]])  # nobody gets to know of it
        return sink.copied(found, [[("+I", 1, 2)]])

    found.commit(notes, None)

    assert sink.rows() == [(1, 2)]


def test_a_batch_that_fails_leaves_nothing(postgres):
    sink = Sink(postgres)
    postgres.run(f"ALTER TABLE {sink.name} ADD CHECK (v < 100)")

    with pytest.raises(DataError, match=f"writing to {sink.name} failed") as caught:
        sink.take([("+I", 1, 1), ("+I", 2, 100)])

    assert "violates check constraint" in str(caught.value)
    assert (sink.rows(), sink.staging()) == ([], [])


def test_a_lost_connection_is_tried_again(postgres, monkeypatch):
    from tidemark.connectors.jdbc import postgres as connections

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


def run_locally(script: str) -> None:
    with connect(engine="local") as session:
        for result in session.run(script):
            if isinstance(result, JobResult):
                result.wait()


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
        ("k int, ts timestamptz", "k INT, ts TIMESTAMP(3)", DataError, "cannot be written"),
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


def test_a_stream_keeps_a_table_of_totals(spark, postgres, tmp_path):
    orders = postgres.table("customer int, amount int", "(1, 10)", "(2, 20)", "(1, 5)")
    totals = postgres.table("customer int PRIMARY KEY, amount bigint", "(3, 30)")
    log = postgres.table("customer int, amount int")
    script = f"""
        CREATE TABLE orders (customer INT, amount INT) {postgres.options(orders)};
        CREATE TABLE totals (customer INT, amount BIGINT, PRIMARY KEY (customer) NOT ENFORCED)
          {postgres.options(totals)};
        CREATE TABLE log (customer INT, amount INT) {postgres.options(log)};
        INSERT INTO totals SELECT customer, SUM(amount) FROM orders GROUP BY customer;
        INSERT INTO log SELECT * FROM orders WHERE amount > 5;
    """
    for _ in range(2):
        run_on(spark, script, checkpoint=tmp_path)
        assert sorted(postgres.rows(f"SELECT * FROM {totals}")) == [(1, 15), (2, 20), (3, 30)]
        assert sorted(postgres.rows(f"SELECT * FROM {log}")) == [(1, 10), (2, 20)]
        again(tmp_path)


def run_on(spark: Any, script: str, checkpoint: Path | None = None) -> None:
    session = connect(spark, checkpoint=checkpoint)
    try:
        for result in session.run(script):
            if isinstance(result, JobResult):
                result.wait()
    finally:
        session.stop()


def again(checkpoint: Path) -> None:
    """As if Spark had not committed the last micro-batch of each job when it was killed."""
    for commits in checkpoint.glob("*/**/commits"):
        numbers = [int(file.name) for file in commits.iterdir() if file.name.isdigit()]
        for file in [commits / str(max(numbers)), commits / f".{max(numbers)}.crc"]:
            file.unlink(missing_ok=True)
