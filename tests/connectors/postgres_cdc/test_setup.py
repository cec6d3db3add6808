"""What a job needs of its options and of the database, and what it says if that is not there."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from servers.postgres import PASSWORD, Postgres
from tests.connectors import tables
from tests.connectors.change_streams import (
    check_not_read_in_batches,
    check_password_is_hidden,
)
from tests.connectors.postgres_cdc import streams
from tests.connectors.postgres_cdc.streams import Stream, captured, table
from tidemark import connect
from tidemark.catalog.tables import Changelog
from tidemark.connectors import registry
from tidemark.connectors.postgres_cdc.captured import Captured
from tidemark.connectors.postgres_cdc.planning import look_at
from tidemark.connectors.postgres_cdc.snapshots import VisibleTransactions
from tidemark.errors import (
    DataError,
    JobError,
    NotSupported,
    OptionError,
    PlanError,
    SetupError,
    SqlError,
)

KEYED = "id INT, x STRING, PRIMARY KEY (id) NOT ENFORCED"


def nowhere(columns: str = KEYED, **more: str) -> Any:
    """A table of a server that is not there: its options can be checked all the same."""
    server = Postgres(port=1, process=None)  # type: ignore[arg-type]
    return table(server, columns, "orders", **more)


# --- options -----------------------------------------------------------------------------------


def test_the_changelog_is_that_of_the_mode():
    found = {
        mode: registry.traits(nowhere(changelog_mode=mode)).changelog for mode in ("all", "upsert")
    }
    assert found == {"all": Changelog.RETRACT, "upsert": Changelog.UPSERT}
    bounded = registry.traits(nowhere(scan__startup__mode="snapshot"))
    assert (bounded.bounded, bounded.changelog) == (True, Changelog.APPEND)


def test_options_of_flink_that_change_nothing_here_are_accepted():
    accepted = {
        "decoding.plugin.name": "decoderbufs",
        "scan.incremental.snapshot.enabled": "true",
        "scan.incremental.snapshot.chunk.size": "100",
        "scan.incremental.snapshot.backfill.skip": "true",
        "scan.lsn-commit.checkpoints-num-delay": "5",
        "chunk-key.even-distribution.factor.upper-bound": "10.5",
        "connect.timeout": "5s",
        "heartbeat.interval.ms": "10s",
        "debezium.plugin.name": "pgoutput",
        "debezium.snapshot.mode": "initial",
        "debezium.poll.interval.ms": "500",
    }
    assert registry.options_of(nowhere(**accepted))["heartbeat.interval.ms"] == 10_000


@pytest.mark.parametrize(
    ("option", "error", "message"),
    [
        ({"slot__name": "My-Slot"}, OptionError, "is not the name of a replication slot"),
        ({"table_name": "orders_.*"}, NotSupported, "a pattern as 'table-name'"),
        ({"schema_name": "a|b"}, NotSupported, "a pattern as 'schema-name'"),
        ({"debezium__snapshot__mode": "never"}, NotSupported, "'debezium.snapshot.mode'"),
        ({"debezium__slot__drop__on__stop": "true"}, NotSupported, "slot.drop.on.stop"),
        ({"changelog_mode": "some"}, OptionError, "expected one of all, upsert"),
        ({"scan__startup__mode": "earliest"}, OptionError, "expected one of initial"),
        ({"slot__nam": "s"}, OptionError, "unknown option 'slot.nam'"),
    ],
)
def test_an_option_that_cannot_be_is_refused_by_name(option, error, message):
    with pytest.raises(error, match=message) as caught:
        registry.options_of(nowhere(**option))
    assert isinstance(caught.value, SqlError) and caught.value.at is not None


def test_upserts_need_a_primary_key():
    with pytest.raises(PlanError, match="needs a primary key"):
        registry.options_of(nowhere("id INT", changelog_mode="upsert"))


def test_a_type_that_postgresql_does_not_have_is_refused():
    with pytest.raises(NotSupported, match="MAP<STRING, INT>"):
        registry.options_of(nowhere("m MAP<STRING, INT>"))


def test_the_password_is_not_shown(postgres):
    declared, wrong = (
        table(postgres, KEYED, "orders", **more) for more in ({}, {"password": "wrong one"})
    )
    check_password_is_hidden(PASSWORD, declared, wrong, Captured.of, look_at)


def test_an_unbounded_table_is_not_read_in_a_batch():
    check_not_read_in_batches(nowhere())


# --- the table ---------------------------------------------------------------------------------


def test_a_table_that_is_bounded_is_read_as_it_is(postgres):
    name = captured(postgres, "id int, x text", "(1, 'a')", "(2, NULL)", full=False)
    declared = table(postgres, "X STRING, id INT", name, scan__startup__mode="snapshot")

    assert tables.frame(declared).rows() == [("a", 1), (None, 2)]
    assert tables.frame(declared, read=frozenset()).rows() == [(None, None)] * 2


def test_a_table_needs_the_rows_before_changes(postgres):
    name = captured(postgres, "id int primary key, x text", full=False)

    with pytest.raises(SetupError, match="lack the rows before them") as caught:
        look_at(tables.columns_request(table(postgres, KEYED, name)))
    assert f'ALTER TABLE "public"."{name}" REPLICA IDENTITY FULL' in (caught.value.hint or "")
    look_at(tables.columns_request(table(postgres, KEYED, name, changelog_mode="upsert")))
    other = "id INT, x STRING, PRIMARY KEY (x) NOT ENFORCED"
    with pytest.raises(SetupError, match="lack columns of the primary key"):
        look_at(tables.columns_request(table(postgres, other, name, changelog_mode="upsert")))


def test_a_partitioned_table_is_read_only_if_that_is_wanted(postgres):
    name = postgres.table("id int, x text) PARTITION BY RANGE (id")
    postgres.run(f"ALTER TABLE {name} REPLICA IDENTITY FULL")

    with pytest.raises(SetupError, match="is a partitioned table"):
        look_at(tables.columns_request(table(postgres, KEYED, name)))


# --- publications and slots --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("publication", "why"),
    [
        ("FOR TABLE {other}", "it does not have table"),
        ("FOR TABLE {name} WITH (publish = 'insert')", "it leaves out inserts, updates or deletes"),
        ("FOR TABLE {name} WHERE (id > 1)", "it leaves out rows"),
    ],
)
def test_a_publication_that_leaves_out_changes_is_refused(
    postgres: Postgres, tmp_path: Path, publication: str, why: str
):
    name, other = (captured(postgres, "id int primary key, x text") for _ in range(2))
    own = f"p{uuid.uuid4().hex[:8]}"
    postgres.run(f"CREATE PUBLICATION {own} " + publication.format(name=name, other=other))
    declared = table(postgres, KEYED, name, debezium__publication__name=own)

    with (
        pytest.raises(SetupError, match="cannot be used") as caught,
        Stream(postgres, declared, tmp_path),
    ):
        pass
    assert why in str(caught.value)
    postgres.run(f"DROP PUBLICATION {own}")


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("CREATE VIEW {name}_o AS TABLE {name}", "is a view"),
        ("CREATE MATERIALIZED VIEW {name}_o AS TABLE {name}", "is a materialized view"),
        ("CREATE UNLOGGED TABLE {name}_o AS TABLE {name}", "are not in the log"),
        (
            "CREATE TABLE {name}_o AS TABLE {name}; "
            "ALTER TABLE {name}_o REPLICA IDENTITY FULL; "
            "CREATE TABLE {name}_heir () INHERITS ({name}_o)",
            "lack those of tables that inherit from it",
        ),
    ],
)
def test_what_has_not_all_changes_in_the_log_is_refused(postgres, sql, message):
    name = postgres.table("id int primary key, x text", "(1, 'a')")
    postgres.run(sql.format(name=name))
    declared = table(postgres, KEYED, f"{name}_o")

    with pytest.raises(SetupError, match=f"{name}_o {message}"):
        look_at(tables.columns_request(declared))
    once = table(postgres, KEYED, f"{name}_o", scan__startup__mode="snapshot")
    assert tables.frame(once).rows() == [(1, "a")]


def test_a_table_from_which_others_inherit_later_is_an_error(postgres, tmp_path):
    name = captured(postgres, "id int primary key, x text")
    with Stream(postgres, table(postgres, KEYED, name), tmp_path) as stream:
        stream.step()
        postgres.run(
            f"CREATE TABLE {name}_heir () INHERITS ({name})", f"INSERT INTO {name} VALUES (1, 'a')"
        )
        with pytest.raises(SetupError, match=f"tables: {name}_heir"):
            stream.step()


def test_partitions_need_the_rows_before_changes_too(postgres, tmp_path):
    name = f"t{uuid.uuid4().hex[:12]}"
    postgres.run(
        f"CREATE TABLE {name} (id int, d int, x text, PRIMARY KEY (id, d)) PARTITION BY LIST (d)",
        f"CREATE TABLE {name}_1 PARTITION OF {name} FOR VALUES IN (1)",
        f"ALTER TABLE {name} REPLICA IDENTITY FULL",
        f"INSERT INTO {name} VALUES (1, 1, 'a')",
    )
    columns = "id INT, d INT, x STRING, PRIMARY KEY (id, d) NOT ENFORCED"
    declared = table(postgres, columns, name, scan__include_partitioned_tables__enabled="true")

    with pytest.raises(SetupError, match=f"partitions: {name}_1"):
        look_at(tables.columns_request(declared))
    postgres.run(f"ALTER TABLE {name}_1 REPLICA IDENTITY FULL")
    look_at(tables.columns_request(declared))
    with Stream(postgres, declared, tmp_path) as stream:
        stream.step()
        postgres.run(
            f"CREATE TABLE {name}_2 PARTITION OF {name} FOR VALUES IN (2)",
            f"INSERT INTO {name} VALUES (2, 2, 'b')",
            f"UPDATE {name} SET d = 1 WHERE id = 2",  # the delete would have NULL as its x
        )
        with pytest.raises(SetupError, match=f"partitions: {name}_2"):
            stream.step()


def test_a_user_who_may_not_see_all_rows_is_refused(postgres):
    name, user = captured(postgres, "id int primary key, x text"), f"u{uuid.uuid4().hex[:8]}"
    postgres.run(
        f"CREATE ROLE {user} LOGIN REPLICATION PASSWORD 'x'",
        f"GRANT SELECT ON {name} TO {user}",
        f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY",
        f"CREATE POLICY own ON {name} USING (id > 1)",
    )
    asked = tables.columns_request(table(postgres, KEYED, name, username=user, password="x"))

    with pytest.raises(SetupError, match=f"user {user} may not see all rows of public.{name}"):
        look_at(asked)
    postgres.run(f"ALTER ROLE {user} BYPASSRLS")
    look_at(asked)


def test_a_table_of_a_similar_name_is_suggested(postgres):
    name, schema = captured(postgres, "id int primary key, x text"), f"s{uuid.uuid4().hex[:8]}"
    postgres.run(f"CREATE SCHEMA {schema}", f"ALTER TABLE {name} SET SCHEMA {schema}")

    for wrong, other in ((name, "public"), (f"{name[:-1]}_", schema)):
        declared = table(postgres, KEYED, wrong, schema_name=other)
        with pytest.raises(DataError, match=rf"table {other}\.{wrong} does not exist") as caught:
            look_at(tables.columns_request(declared))
        assert caught.value.hint == f"did you mean `{schema}.{name}`?"


def test_hints_name_the_table_that_was_found_by_a_name_in_capitals(postgres):
    name = captured(postgres, "id int primary key, x text", full=False)
    with pytest.raises(SetupError) as caught:
        look_at(tables.columns_request(table(postgres, KEYED, name.upper())))
    assert f'ALTER TABLE "public"."{name}" REPLICA IDENTITY FULL' in (caught.value.hint or "")


def test_a_job_whose_snapshot_fails_leaves_no_slot(postgres, tmp_path):
    name = captured(postgres, "id int primary key, x timestamp", "(1, 'infinity')")
    declared = table(postgres, "id INT, x TIMESTAMP(3)", name)
    with pytest.raises(DataError, match="not in the years 1 to 9999"):
        Stream(postgres, declared, tmp_path).begin()

    slots = f"SELECT 1 FROM pg_replication_slots WHERE slot_name = '{declared.option('slot.name')}'"
    assert postgres.rows(slots) == []


def test_a_publication_of_many_tables_can_be_used(postgres, tmp_path):
    name, other = (captured(postgres, "id int primary key, x text") for _ in range(2))
    own = f"p{uuid.uuid4().hex[:8]}"
    postgres.run(f"CREATE PUBLICATION {own} FOR TABLE {other}, {name}")
    declared = table(postgres, KEYED, name, debezium__publication__name=own)
    with Stream(postgres, declared, tmp_path) as stream:
        stream.step()
        postgres.run(f"INSERT INTO {other} VALUES (1, 'other')")
        assert stream.step() == [] and len(stream.log) == 2
        postgres.run(f"INSERT INTO {name} VALUES (1, 'a')", f"DELETE FROM {other}")
        assert stream.step() == [("+I", 1, "a")]
    postgres.run(f"DROP PUBLICATION {own}")


def test_a_publication_is_not_created_if_that_is_not_wanted(postgres, tmp_path):
    name = captured(postgres, "id int primary key, x text")
    declared = table(postgres, KEYED, name, debezium__publication__autocreate__mode="disabled")

    with pytest.raises(SetupError, match="does not exist") as caught:
        Stream(postgres, declared, tmp_path).begin()
    assert f'FOR TABLE "public"."{name}"' in (caught.value.hint or "")


def test_a_user_who_may_not_replicate_is_told_so(postgres, tmp_path):
    name = captured(postgres, "id int primary key, x text")
    user = f"u{uuid.uuid4().hex[:8]}"
    postgres.run(
        f"CREATE ROLE {user} LOGIN PASSWORD 'x'",
        f"ALTER TABLE {name} OWNER TO {user}",
        f"GRANT CREATE ON DATABASE postgres TO {user}",
    )
    declared = table(postgres, KEYED, name, username=user, password="x")

    with pytest.raises((SetupError, JobError)) as caught:
        Stream(postgres, declared, tmp_path).begin()
    assert f"ALTER ROLE {user} REPLICATION" in (caught.value.hint or "")
    postgres.run(f"DROP PUBLICATION {declared.option('slot.name')}")


def test_a_slot_of_another_plugin_is_left_alone(postgres, tmp_path):
    name = captured(postgres, "id int primary key, x text")
    slot = f"s{uuid.uuid4().hex[:8]}"
    postgres.rows(f"SELECT pg_create_physical_replication_slot('{slot}')::text")
    declared = table(postgres, KEYED, name, slot__name=slot)

    stream = Stream(postgres, declared, tmp_path)
    with pytest.raises(SetupError, match="is another one"):
        stream.begin()
    stream.__exit__()


def test_a_job_cannot_begin_where_no_slot_is(postgres, tmp_path):
    name = captured(postgres, "id int primary key, x text")
    declared = table(postgres, KEYED, name, scan__startup__mode="committed-offset")

    with pytest.raises(SetupError, match=r"replication slot 's.*' does not exist"):
        Stream(postgres, declared, tmp_path).begin()


def test_a_table_that_was_made_anew_is_an_error(postgres, tmp_path):
    name = captured(postgres, "id int primary key, x text")
    declared = table(postgres, KEYED, name, heartbeat__interval__ms="1 ms")
    with Stream(postgres, declared, tmp_path) as stream:
        stream.step()
        postgres.run(f"DROP TABLE {name}", f"CREATE TABLE {name} (id int primary key, x text)")
        with pytest.raises(DataError, match="was dropped and made anew"):
            stream.step()


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("ALTER TABLE {name} RENAME TO {name}_b", "was renamed: it is public.{name}_b now"),
        (
            "ALTER TABLE {name} RENAME TO {name}_b; CREATE TABLE {name} (LIKE {name}_b)",
            "was renamed: it is public.{name}_b now",
        ),
        ("DROP TABLE {name}", "was dropped"),
    ],
)
def test_a_table_that_was_renamed_or_dropped_is_named(postgres, tmp_path, sql, message):
    name = captured(postgres, "id int primary key, x text")
    with Stream(postgres, table(postgres, KEYED, name), tmp_path) as stream:
        stream.step()
        postgres.run(f"INSERT INTO {name} VALUES (1, 'a')", sql.format(name=name))
        with pytest.raises(DataError, match=f"public.{name} {message.format(name=name)}"):
            stream.step()


def test_a_bounded_table_is_queried_without_spark(postgres):
    name = captured(postgres, "id int, x text", "(1, 'a')", "(2, 'a')", "(3, NULL)", full=False)
    with connect(engine="local", options={"execution.runtime-mode": "batch"}) as session:
        *_, result = session.run(
            "CREATE TABLE t (x STRING, s STRING METADATA FROM 'table_name') "
            f"{streams.options(postgres, name, scan__startup__mode='snapshot')};"
            "SELECT s, x, COUNT(*) AS n FROM t GROUP BY s, x;"
        )
        found = [tuple(row.values()) for row in result.rows()]  # type: ignore[union-attr]
    assert sorted(found, key=str) == [(name, "a", 2), (name, None, 1)]
    assert postgres.rows(f"SELECT * FROM pg_publication_tables WHERE tablename = '{name}'") == []


# --- snapshots ---------------------------------------------------------------------------------


def test_a_snapshot_has_what_was_committed_before_it():
    wrap = 2**32
    visible = VisibleTransactions(before=100, next=wrap + 10, running=(wrap + 5, 3))
    transactions = {
        (50, 4): True,
        (50, 5): False,  # it was running, although its commit was in the log
        (150, 4): False,  # it has committed later
        (50, 10): False,  # it had not begun
        (50, wrap - 1): True,  # numbers in the log begin again at 0
        (50, 3): True,  # not the one with the same last bits that is running
    }
    positions, numbers = (np.array(each) for each in zip(*transactions, strict=True))

    assert visible.has(positions, numbers).tolist() == [*transactions.values()]
    assert VisibleTransactions.read(visible.written()) == visible
