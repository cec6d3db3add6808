"""Tables of PostgreSQL and their changes as a stream, micro-batch by micro-batch."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from servers.postgres import Postgres
from servers.postgres import server as own_server
from servers.processes import start_again
from tests.connectors.change_streams import table_of
from tests.connectors.postgres_cdc.streams import Stream, captured, flushed, table, uri_of
from tests.waiting import wait_until
from tidemark.connectors.postgres_cdc import slots
from tidemark.connectors.postgres_cdc.captured import Captured
from tidemark.connectors.postgres_cdc.planning import SlotPlanning
from tidemark.errors import DataError, JobError, SetupError

Begin = Callable[..., Stream]


@pytest.fixture
def begin(postgres: Postgres, tmp_path: Path) -> Iterator[Begin]:
    """Begins the stream of a table, and drops its slot in the end."""
    with ExitStack() as begun:

        def begin(columns: str, name: str, **options: str) -> Stream:
            folder = tmp_path / f"source-{uuid.uuid4().hex[:8]}"
            stream = Stream(postgres, table(postgres, columns, name, **options), folder)
            return begun.enter_context(stream)

        yield begin


KEYED = "id INT, x STRING, PRIMARY KEY (id) NOT ENFORCED"


def test_the_table_comes_first_and_then_its_changes(postgres, begin):
    name = captured(postgres, "id int primary key, x text", "(1, 'a')", "(2, NULL)")
    stream = begin(KEYED, name)

    assert sorted(stream.step()) == [("+I", 1, "a"), ("+I", 2, None)]
    assert stream.step() == []
    postgres.run(
        f"INSERT INTO {name} VALUES (3, 'c')",
        f"UPDATE {name} SET x = 'b' WHERE id = 1",
        f"DELETE FROM {name} WHERE id = 2",
    )
    assert stream.step() == [
        ("+I", 3, "c"),
        ("-U", 1, "a"),
        ("+U", 1, "b"),
        ("-D", 2, None),
    ]


def test_an_update_of_the_key_is_a_delete_and_an_insert(postgres, begin):
    name = captured(postgres, "id int primary key, x text", "(1, 'a')")
    stream = begin(KEYED, name)
    stream.step()

    postgres.run(f"UPDATE {name} SET id = 2", f"UPDATE {name} SET id = 2, x = 'b'")

    changes = [("-D", 1, "a"), ("+I", 2, "a"), ("-U", 2, "a"), ("+U", 2, "b")]
    assert stream.step() == changes


def test_transactions_come_whole_in_the_order_of_their_commits(postgres, begin):
    import adbc_driver_postgresql.dbapi as driver

    name = captured(postgres, "id int primary key, x text")
    stream = begin(KEYED, name)
    stream.step()
    with (
        driver.connect(uri_of(postgres)) as first,
        driver.connect(uri_of(postgres)) as second,
        first.cursor() as a,
        second.cursor() as b,
    ):
        a.execute(f"INSERT INTO {name} VALUES (1, 'a')")
        b.execute(f"INSERT INTO {name} VALUES (2, 'b')")
        a.execute(f"INSERT INTO {name} VALUES (3, 'a')")
        second.commit()
        assert stream.step() == [("+I", 2, "b")]
        b.execute(f"INSERT INTO {name} VALUES (4, 'b')")
        second.rollback()
        a.execute(f"INSERT INTO {name} VALUES (5, 'a')")
        first.commit()
        assert stream.step() == [("+I", 1, "a"), ("+I", 3, "a"), ("+I", 5, "a")]


def test_changes_during_the_snapshot_come_once(postgres, begin, monkeypatch):
    import adbc_driver_postgresql.dbapi as driver

    from tidemark.connectors.postgres_cdc import snapshots

    name = captured(postgres, "id int primary key, x text", "(1, 'a')", "(2, 'b')")
    other = driver.connect(uri_of(postgres))
    original = snapshots.take

    def disturbed(*of: Any) -> Any:
        with other.cursor() as cursor:
            cursor.execute(f"UPDATE {name} SET x = 'late' WHERE id = 1")
        # After the slot was made: what is committed before the snapshot is in both.
        postgres.run(f"INSERT INTO {name} VALUES (3, 'c')", f"DELETE FROM {name} WHERE id = 2")
        taken = original(*of)
        other.commit()  # it was running when the snapshot was taken
        postgres.run(f"UPDATE {name} SET x = 'later' WHERE id = 3")
        return taken

    monkeypatch.setattr(snapshots, "take", disturbed)
    stream = begin(KEYED, name)

    assert [stream.planned(), sorted(stream.read())] == [True, [("+I", 1, "a"), ("+I", 3, "c")]]
    stream.rows += stream.read()
    stream.step()
    assert table_of(stream.rows) == [(1, "late"), (3, "later")]
    other.close()


# --- restarts ----------------------------------------------------------------------------------


def test_a_micro_batch_that_is_repeated_has_the_same_rows(postgres, begin):
    name = captured(postgres, "id int primary key, x text", "(1, 'a')")
    stream = begin(KEYED, name)
    assert stream.planned()
    first = stream.read()
    postgres.run(f"INSERT INTO {name} VALUES (2, 'b')")
    stream.restart()  # the snapshot was read, but not committed
    assert stream.read() == first == [("+I", 1, "a")]
    assert stream.step() == [("+I", 2, "b")]

    postgres.run(f"INSERT INTO {name} VALUES (3, 'c')")
    flushed(postgres)
    assert stream.planned()
    second = stream.read()
    postgres.run(f"INSERT INTO {name} VALUES (4, 'd')")
    stream.restart()  # written, but not committed
    assert stream.read() == second == [("+I", 3, "c")]
    assert stream.step() == [("+I", 4, "d")]
    stream.restart()
    assert stream.step() == []


def test_the_slot_advances_only_when_a_micro_batch_is_committed(postgres, begin):
    name = captured(postgres, "id int primary key, x text")
    stream = begin(KEYED, name)
    stream.step()
    before = confirmed(postgres, stream)
    postgres.run(f"INSERT INTO {name} VALUES (1, 'a')")
    flushed(postgres)
    assert stream.planned() and stream.read()
    assert confirmed(postgres, stream) == before
    stream.planning.commit(stream.log[-1])
    assert confirmed(postgres, stream) == stream.log[-1]["position"] > before


def confirmed(postgres: Postgres, stream: Stream) -> int:
    [(position,)] = postgres.rows(
        "SELECT (confirmed_flush_lsn - '0/0')::bigint FROM pg_replication_slots "
        f"WHERE slot_name = '{stream.table.option('slot.name')}'"
    )
    return int(position)


def test_an_idle_table_does_not_keep_the_log_from_being_cleaned_up(postgres, begin):
    name = captured(postgres, "id int primary key, x text")
    other = captured(postgres, "id int")
    stream = begin(KEYED, name, heartbeat__interval__ms="1 ms")
    stream.step()
    before = confirmed(postgres, stream)
    postgres.run(f"INSERT INTO {other} VALUES (1)")
    assert stream.step() == [] and len(stream.log) == 2  # there was no micro-batch
    assert confirmed(postgres, stream) > before
    postgres.run(f"INSERT INTO {name} VALUES (1, 'a')")
    stream.restart()
    assert stream.step() == [("+I", 1, "a")]


@pytest.mark.parametrize("sql", ["advance", "drop"])
def test_changes_that_are_lost_are_an_error(postgres, begin, sql):
    name = captured(postgres, "id int primary key, x text")
    stream = begin(KEYED, name)
    stream.step()
    postgres.run(f"INSERT INTO {name} VALUES (1, 'a')")
    flushed(postgres)
    assert stream.planned()
    slot = stream.table.option("slot.name")
    if sql == "advance":
        moved = f"pg_replication_slot_advance('{slot}', pg_current_wal_flush_lsn())"
        postgres.rows(f"SELECT end_lsn::text FROM {moved}")
    else:
        postgres.rows(f"SELECT pg_drop_replication_slot('{slot}')::text")

    with pytest.raises(DataError, match=f"changes of public.{name} are lost") as caught:
        stream.read()
    assert "without its checkpoint" in (caught.value.hint or "")
    stream.restart()
    del stream.log[-1]
    with pytest.raises(DataError, match="are lost"):
        stream.planned()


def test_a_slot_has_one_reader(postgres, begin, monkeypatch):
    from tidemark.connectors.postgres_cdc import held_slot

    monkeypatch.setattr(held_slot, "PATIENCE", 2)
    name = captured(postgres, "id int primary key, x text")
    stream = begin(KEYED, name)

    with pytest.raises(SetupError, match="is read by another job"):
        begin(KEYED, name, slot__name=str(stream.table.option("slot.name")))


def test_a_run_that_reads_a_table_twice_has_two_slots(postgres, tmp_path, monkeypatch):
    from tidemark.connectors.postgres_cdc import held_slot

    monkeypatch.setattr(held_slot, "_LETS_GO", 0)
    name = captured(postgres, "id int primary key, x text", "(1, 'a')")
    declared = table(postgres, KEYED, name)
    held = "SELECT pid, classid, objid FROM pg_locks WHERE locktype = 'advisory'"
    others = {*postgres.rows(held)}  # of connections that earlier tests have left
    with (
        Stream(postgres, declared, tmp_path / "a", run="r") as first,
        Stream(postgres, declared, tmp_path / "b", run="r") as second,
    ):
        assert first.step() == second.step() == [("+I", 1, "a")]
        postgres.run(f"INSERT INTO {name} VALUES (2, 'b')")
        assert first.step() == [("+I", 2, "b")]
        # Each goes on with its own, whichever comes first.
        for stream in (first, second):
            stream.end()
        wait_until(lambda: not {*postgres.rows(held)} - others)
        second.begin()
        first.begin()
        assert (first.step(), second.step()) == ([], [("+I", 2, "b")])
        slots = postgres.rows(
            "SELECT slot_name::text FROM pg_replication_slots "
            f"WHERE slot_name LIKE '{declared.option('slot.name')}%' ORDER BY 1"
        )
        assert slots == [(declared.option("slot.name"),), (f"{declared.option('slot.name')}_2",)]


# --- what changes look like --------------------------------------------------------------------


def test_upserts_need_no_old_rows(postgres, begin):
    name = captured(postgres, "id int primary key, x text", "(1, 'a')", "(2, 'b')", full=False)
    stream = begin(KEYED, name, changelog_mode="upsert")
    stream.step()

    postgres.run(
        f"UPDATE {name} SET x = 'c' WHERE id = 1",
        f"UPDATE {name} SET id = 3 WHERE id = 1",
        f"DELETE FROM {name} WHERE id = 2",
    )
    changes = [("+U", 1, "c"), ("-D", 1, None), ("+I", 3, "c"), ("-D", 2, None)]
    assert stream.step() == changes


def test_a_large_value_that_an_update_leaves_alone_is_taken_from_the_old_row(postgres, begin):
    name = captured(postgres, "id int primary key, n int, x text")
    postgres.run(f"ALTER TABLE {name} ALTER x SET STORAGE EXTERNAL")
    columns = "id INT, n INT, x STRING, PRIMARY KEY (id) NOT ENFORCED"
    stream = begin(columns, name)
    stream.step()
    postgres.run(f"INSERT INTO {name} VALUES (1, 1, repeat('x', 5000))", f"UPDATE {name} SET n = 2")
    large = "x" * 5000
    assert stream.step() == [("+I", 1, 1, large), ("-U", 1, 1, large), ("+U", 1, 2, large)]

    postgres.run(f"ALTER TABLE {name} REPLICA IDENTITY DEFAULT", f"UPDATE {name} SET n = 3")
    with pytest.raises(SetupError, match="lack the rows before them") as caught:
        stream.step()
    assert "REPLICA IDENTITY FULL" in (caught.value.hint or "")


def test_a_large_value_that_is_nowhere_is_an_error_if_it_is_read(postgres, begin):
    name = captured(postgres, "id int primary key, n int, x text", full=False)
    postgres.run(f"ALTER TABLE {name} ALTER x SET STORAGE EXTERNAL")
    upserts = {"changelog_mode": "upsert"}
    all_of_it = begin("id INT, x STRING, PRIMARY KEY (id) NOT ENFORCED", name, **upserts)
    without = begin("id INT, n INT, PRIMARY KEY (id) NOT ENFORCED", name, **upserts)
    for stream in (all_of_it, without):
        stream.step()
    postgres.run(f"INSERT INTO {name} VALUES (1, 1, repeat('x', 5000))", f"UPDATE {name} SET n = 2")

    assert without.step() == [("+I", 1, 1), ("+U", 1, 2)]
    with pytest.raises(DataError, match=f"an update of public.{name} lacks column `x`"):
        all_of_it.step()


def test_truncate_is_skipped_and_counted(postgres, begin):
    name = captured(postgres, "id int primary key, x text", "(1, 'a')")
    stream = begin(KEYED, name)
    stream.step()

    postgres.run(f"TRUNCATE {name}", f"INSERT INTO {name} VALUES (2, 'b')")

    assert stream.step() == [("+I", 2, "b")]
    assert stream.skipped == 1


def test_metadata_says_where_a_row_is_from(postgres, begin):
    name = captured(postgres, "id int primary key", "(1)")
    stream = begin(
        "id INT, t STRING METADATA FROM 'table_name', s STRING METADATA FROM 'schema_name', "
        "d STRING METADATA FROM 'database_name', k STRING METADATA FROM 'row_kind', "
        "ts TIMESTAMP_LTZ(3) METADATA FROM 'op_ts', PRIMARY KEY (id) NOT ENFORCED",
        name,
    )
    epoch = dt.datetime.fromtimestamp(0, dt.UTC)
    assert stream.step() == [("+I", 1, name, "public", "postgres", "+I", epoch)]
    [(before,)] = postgres.rows("SELECT now()")
    postgres.run(f"DELETE FROM {name}")
    [(*row, at)] = stream.step()
    assert row == ["-D", 1, name, "public", "postgres", "-D"]
    assert dt.timedelta(milliseconds=-1) < at - before < dt.timedelta(minutes=5)


def test_changes_can_be_read_as_inserts(postgres, begin):
    name = captured(postgres, "id int primary key", "(1)")
    stream = begin(
        "id INT, k STRING METADATA FROM 'row_kind'",
        name,
        scan__read_changelog_as_append_only__enabled="true",
    )
    stream.step()
    postgres.run(f"DELETE FROM {name}")
    assert stream.step() == [("+I", 1, "-D")]


# --- where a stream begins ---------------------------------------------------------------------


def test_a_stream_can_begin_now_or_where_the_slot_is(postgres, begin):
    name = captured(postgres, "id int primary key, x text", "(1, 'a')")
    stream = begin(KEYED, name, scan__startup__mode="latest-offset")
    assert stream.step() == []
    postgres.run(f"INSERT INTO {name} VALUES (2, 'b')")
    assert stream.step() == [("+I", 2, "b")]
    stream.end()
    postgres.run(f"INSERT INTO {name} VALUES (3, 'c')")
    slot = str(stream.table.option("slot.name"))
    following = begin(KEYED, name, slot__name=slot, scan__startup__mode="committed-offset")
    assert following.step() == [("+I", 3, "c")]


def test_a_job_without_its_checkpoint_begins_anew_with_its_slot(postgres, begin):
    name = captured(postgres, "id int primary key, x text", "(1, 'a')")
    first = begin(KEYED, name)
    first.step()
    first.end()
    postgres.run(f"INSERT INTO {name} VALUES (2, 'b')")
    slot = str(first.table.option("slot.name"))

    second = begin(KEYED, name, slot__name=slot)

    assert sorted(second.step()) == [("+I", 1, "a"), ("+I", 2, "b")]
    second.end()
    first.begin()
    with pytest.raises(DataError, match="are lost"):
        first.planned()


def test_a_partitioned_table_is_read_by_its_root(postgres, begin):
    name = postgres.table("id int, x text) PARTITION BY RANGE (id")
    postgres.run(
        f"CREATE TABLE {name}_a PARTITION OF {name} FOR VALUES FROM (0) TO (10)",
        f"CREATE TABLE {name}_b PARTITION OF {name} FOR VALUES FROM (10) TO (20)",
        *(f"ALTER TABLE {name}{each} REPLICA IDENTITY FULL" for each in ("", "_a", "_b")),
        f"INSERT INTO {name} VALUES (1, 'a'), (11, 'b')",
    )
    stream = begin(KEYED, name, scan__include_partitioned_tables__enabled="true")
    assert sorted(stream.step()) == [("+I", 1, "a"), ("+I", 11, "b")]
    postgres.run(f"UPDATE {name} SET x = 'c' WHERE id = 11")
    assert stream.step() == [("-U", 11, "b"), ("+U", 11, "c")]


def test_a_run_that_ends_reads_changes_after_much_of_the_log_of_others(
    postgres, begin, monkeypatch
):
    monkeypatch.setitem(SlotPlanning.latest.__globals__, "_WINDOW", 1 << 16)
    name, other = (captured(postgres, "id int primary key, x text") for _ in range(2))
    stream = begin(KEYED, name)
    stream.step()
    postgres.run(
        f"INSERT INTO {other} SELECT i, repeat('x', 100) FROM generate_series(1, 5000) i",
        f"INSERT INTO {name} VALUES (1, 'a')",
    )
    flushed(postgres)
    stream.planning.stop_here()

    assert stream.planned()
    assert stream.read() == [("+I", 1, "a")]


def test_a_slot_that_another_program_reads_is_an_error(postgres, begin, monkeypatch):
    monkeypatch.setattr(slots, "PATIENCE", 2)
    name = captured(postgres, "id int primary key, x text")
    stream = begin(KEYED, name)
    stream.step()
    problem = JobError("failed", notes={"SQLSTATE": "55006"})

    def used() -> None:
        raise problem

    with pytest.raises(SetupError, match="is read by another job"):
        slots.when_free(Captured.of(stream.request), used)


def test_a_job_waits_for_a_server_that_restarts(tmp_path):
    with own_server(durable=True) as postgres:
        name = captured(postgres, "id int primary key, x text", "(1, 'a')")
        stream = Stream(postgres, table(postgres, KEYED, name), tmp_path / "source")
        stream.begin()
        stream.step()
        postgres.run(f"INSERT INTO {name} VALUES (2, 'b')")
        assert stream.step() == [("+I", 2, "b")]
        postgres.run(f"INSERT INTO {name} VALUES (3, 'c')")
        postgres.process.kill()
        postgres.forget_connections()
        start_again(postgres.process)
        assert stream.step() == [("+I", 3, "c")]
        stream.end()
