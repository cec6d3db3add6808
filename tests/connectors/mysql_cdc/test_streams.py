"""Tables of MySQL and their changes as a stream, micro-batch by micro-batch."""

from __future__ import annotations

import datetime as dt
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest

from servers.mysql import DATABASE, MySql
from servers.mysql import server as own_server
from servers.processes import start_again
from tests.connectors.mysql_cdc.streams import ONLY_MARIADB, Stream, in_small_pieces, table
from tests.waiting import wait_until
from tidemark.connectors.jdbc import contract
from tidemark.connectors.mysql_cdc import snapshots
from tidemark.connectors.mysql_cdc.columns import scanning
from tidemark.errors import DataError, JobError, SetupError

Begin = Callable[..., Stream]
KEYED = "id INT, x STRING, PRIMARY KEY (id) NOT ENFORCED"
STORED = "id INT PRIMARY KEY, x TEXT"


@pytest.fixture
def begin(mysql: MySql, tmp_path: Path) -> Iterator[Begin]:
    """Begins the stream of a table."""
    with ExitStack() as begun:

        def begin(columns: str, name: str, **options: str) -> Stream:
            folder = tmp_path / f"source-{uuid.uuid4().hex[:8]}"
            return begun.enter_context(
                Stream(mysql, table(mysql, columns, name, **options), folder)
            )

        yield begin


def another(mysql: MySql) -> MySql:
    """The same server by a connection of its own."""
    return MySql(mysql.port, mysql.process)


def purge(mysql: MySql) -> None:
    """Remove the files of the log but for the last one, which takes a moment."""
    file, _ = mysql.log_end()

    def purged() -> bool:
        mysql.run(f"PURGE BINARY LOGS TO '{file}'")
        return len(mysql.rows("SHOW BINARY LOGS")) == 1

    wait_until(purged)


def test_the_table_comes_first_and_then_its_changes(mysql, begin):
    name = mysql.table(STORED, "(1, 'a')", "(2, NULL)")
    stream = begin(KEYED, name)

    assert sorted(stream.step()) == [("+I", 1, "a"), ("+I", 2, None)]
    assert stream.step() == []
    mysql.run(
        f"INSERT INTO {name} VALUES (3, 'c'), (4, 'd')",
        f"UPDATE {name} SET x = 'b' WHERE id = 1",
        f"UPDATE {name} SET id = 5 WHERE id = 4",
        f"DELETE FROM {name} WHERE id = 2",
    )
    assert stream.step() == [
        ("+I", 3, "c"),
        ("+I", 4, "d"),
        ("-U", 1, "a"),
        ("+U", 1, "b"),
        ("-D", 4, "d"),
        ("+I", 5, "d"),
        ("-D", 2, None),
    ]


def test_transactions_come_whole_in_the_order_of_their_commits(mysql, begin):
    name = mysql.table(STORED)
    stream = begin(KEYED, name)
    stream.step()
    first, second = another(mysql), another(mysql)
    first.run("BEGIN", f"INSERT INTO {name} VALUES (1, 'a')")
    second.run("BEGIN", f"INSERT INTO {name} VALUES (2, 'b')")
    first.run(f"INSERT INTO {name} VALUES (3, 'a')")
    second.run("COMMIT")
    assert stream.step() == [("+I", 2, "b")]
    second.run("BEGIN", f"INSERT INTO {name} VALUES (4, 'b')", "ROLLBACK")
    first.run("SAVEPOINT s", f"INSERT INTO {name} VALUES (6, 'a')", "ROLLBACK TO s")
    first.run(f"INSERT INTO {name} VALUES (5, 'a')", "COMMIT")
    assert stream.step() == [("+I", 1, "a"), ("+I", 3, "a"), ("+I", 5, "a")]


def test_changes_of_other_tables_are_not_read(mysql, begin):
    name = mysql.table(STORED)
    other, elsewhere = mysql.table(STORED), f"d{uuid.uuid4().hex[:8]}"
    stream = begin(KEYED, name)
    stream.step()
    mysql.run(
        f"CREATE DATABASE {elsewhere}",
        f"CREATE TABLE {elsewhere}.{name} ({STORED})",
        f"INSERT INTO {elsewhere}.{name} VALUES (1, 'no')",
        f"INSERT INTO {other} VALUES (1, 'no')",
    )
    assert stream.step() == [] and len(stream.log) == 2  # there was no micro-batch
    mysql.run("BEGIN", f"INSERT INTO {other} VALUES (2, 'no')")
    mysql.run(f"INSERT INTO {name} VALUES (1, 'yes')", "COMMIT", f"DROP DATABASE {elsewhere}")
    assert stream.step() == [("+I", 1, "yes")]


def test_a_micro_batch_ends_after_so_much_of_the_log(mysql, begin, monkeypatch):
    in_small_pieces(monkeypatch, 100_000, 10_000)
    name = mysql.table(STORED)
    stream = begin(KEYED, name)
    stream.step()
    rows = [f"({n}, REPEAT('x', 9000))" for n in range(100)]
    for first in range(0, 100, 20):
        mysql.run(f"INSERT INTO {name} VALUES {', '.join(rows[first : first + 20])}")
    mysql.run("FLUSH BINARY LOGS", f"DELETE FROM {name} WHERE id < 50")
    before = len(stream.log)
    found = stream.step()
    assert [(kind, id_) for kind, id_, _ in found] == [
        *(("+I", n) for n in range(100)), *(("-D", n) for n in range(50)),
    ]  # fmt: skip
    assert len(stream.log) - before > 2


def test_a_row_of_many_megabytes_is_read(mysql, begin):
    name = mysql.table("id INT PRIMARY KEY, x LONGTEXT")
    stream = begin(KEYED, name)
    stream.step()
    size = 17 << 20  # more than a packet has
    mysql.run("SET GLOBAL max_allowed_packet = 1 << 26")
    sender = another(mysql)
    sender.run(f"INSERT INTO {name} VALUES (1, REPEAT('x', {size})), (2, 'y')")
    assert [(id_, len(x)) for _, id_, x in stream.step()] == [(1, size), (2, 1)]


# --- restarts ----------------------------------------------------------------------------------


def test_a_micro_batch_that_is_repeated_has_the_same_rows(mysql, begin):
    name = mysql.table(STORED, "(1, 'a')")
    stream = begin(KEYED, name)
    assert stream.planned()
    first = stream.read()
    mysql.run(f"INSERT INTO {name} VALUES (2, 'b')")
    stream.restart()  # the snapshot was read, but not committed
    assert stream.read() == first == [("+I", 1, "a")]
    assert stream.step() == [("+I", 2, "b")]

    mysql.run(f"INSERT INTO {name} VALUES (3, 'c')")
    assert stream.planned()
    second = stream.read()
    mysql.run(f"INSERT INTO {name} VALUES (4, 'd')")
    stream.restart()  # written, but not committed
    assert stream.read() == second == [("+I", 3, "c")]
    assert stream.step() == [("+I", 4, "d")]
    stream.restart()
    assert stream.step() == []


def test_a_snapshot_that_fails_is_taken_anew(mysql, begin, monkeypatch):
    name = mysql.table(STORED, "(1, 'a')")
    with monkeypatch.context() as failing:
        failing.setattr(snapshots.snapshot_files, "write", lambda *of: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            begin(KEYED, name)
    assert begin(KEYED, name).step() == [("+I", 1, "a")]


def test_a_log_that_was_purged_is_an_error(mysql, begin):
    name = mysql.table(STORED)
    stream = begin(KEYED, name)
    stream.step()
    mysql.run(f"INSERT INTO {name} VALUES (1, 'a')", "FLUSH BINARY LOGS")
    assert stream.planned()
    purge(mysql)

    with pytest.raises(DataError, match=f"changes of shop.{name} are lost") as caught:
        stream.read()
    assert "without its checkpoint" in (caught.value.hint or "")
    del stream.log[-1]
    stream.restart()
    with pytest.raises(DataError, match="are lost"):
        stream.planned()


def test_an_idle_table_does_not_need_the_log_that_was_purged(mysql, begin):
    name, other = mysql.table(STORED), mysql.table(STORED)
    stream = begin(KEYED, name, heartbeat__interval="1 ms")
    stream.step()
    mysql.run("FLUSH BINARY LOGS", f"INSERT INTO {other} VALUES (1, 'a')")
    time.sleep(0.01)
    assert stream.step() == [] and len(stream.log) == 2
    purge(mysql)
    mysql.run(f"INSERT INTO {name} VALUES (1, 'a')")
    stream.restart()
    assert stream.step() == [("+I", 1, "a")]


def test_a_server_that_restarts_goes_on_in_another_file(tmp_path):
    with own_server() as mysql:
        name = mysql.table(STORED, "(1, 'a')")
        stream = Stream(mysql, table(mysql, KEYED, name), tmp_path / "source")
        stream.begin()
        stream.step()
        mysql.run(f"INSERT INTO {name} VALUES (2, 'b')")
        mysql.process.kill()
        mysql._connections.clear()
        start_again(mysql.process)
        mysql.run(f"INSERT INTO {name} VALUES (3, 'c')")
        assert stream.step() == [("+I", 2, "b"), ("+I", 3, "c")]
        mysql.forget_log()
        with pytest.raises(DataError, match="which was there"):
            stream.planned()


def test_a_file_of_another_server_is_an_error(mysql, begin):
    name = mysql.table(STORED)
    stream = begin(KEYED, name)
    stream.step()
    mysql.run(f"INSERT INTO {name} VALUES (1, 'a')")
    stream.step()
    mysql.run(f"INSERT INTO {name} VALUES (2, 'b')")
    stream.log[-1]["made"] -= 1  # the second in which the file was begun
    with pytest.raises(DataError, match="is another file than the one that was read") as caught:
        stream.planned()
    stream.log[-1]["made"] += 1
    stream.log[-1]["pos"] += 1
    with pytest.raises(DataError, match="cannot be read from where the job was"):
        stream.planned()
    assert "without its checkpoint" in (caught.value.hint or "")


def test_a_job_does_not_wait_forever_for_a_server(tmp_path, monkeypatch):
    waited: list[float] = []
    monkeypatch.setattr(contract, "time", SimpleNamespace(sleep=waited.append))
    with own_server() as mysql:
        name = mysql.table(STORED)
        declared = table(mysql, KEYED, name, connect__max_retries="2")
        stream = Stream(mysql, declared, tmp_path / "source")
        stream.begin()
        stream.step()
    with pytest.raises(JobError, match="cannot connect"):
        stream.planned()
    assert waited == [1, 2]


# --- what changes look like --------------------------------------------------------------------


def test_truncate_is_skipped_and_counted(mysql, begin):
    name = mysql.table(STORED, "(1, 'a')")
    stream = begin(KEYED, name)
    stream.step()

    mysql.run(f"TRUNCATE {name}", f"INSERT INTO {name} VALUES (2, 'b')")

    assert stream.step() == [("+I", 2, "b")]
    assert stream.skipped == 1


def test_a_truncate_is_counted_without_other_changes(mysql, begin):
    name = mysql.table(STORED, "(1, 'a')")
    stream = begin(KEYED, name)
    stream.step()

    mysql.run(f"TRUNCATE {name}")

    assert stream.step() == []
    assert stream.skipped == 1


def test_metadata_says_where_a_row_is_from(mysql, begin):
    name = mysql.table("id INT PRIMARY KEY", "(1)")
    stream = begin(
        "id INT, t STRING METADATA FROM 'table_name', d STRING METADATA FROM 'database_name', "
        "k STRING METADATA FROM 'row_kind', ts TIMESTAMP_LTZ(3) METADATA FROM 'op_ts', "
        "PRIMARY KEY (id) NOT ENFORCED",
        name,
    )
    epoch = dt.datetime.fromtimestamp(0, dt.UTC)
    assert stream.step() == [("+I", 1, name, "shop", "+I", epoch)]
    before = dt.datetime.now(dt.UTC)
    mysql.run(f"DELETE FROM {name}")
    [(*row, at)] = stream.step()
    assert row == ["-D", 1, name, "shop", "-D"]
    assert dt.timedelta(seconds=-1) <= at - before < dt.timedelta(minutes=5)


def test_changes_can_be_read_as_inserts(mysql, begin):
    name = mysql.table("id INT PRIMARY KEY", "(1)")
    stream = begin(
        "id INT, k STRING METADATA FROM 'row_kind', PRIMARY KEY (id) NOT ENFORCED",
        name,
        scan__read_changelog_as_append_only__enabled="true",
    )
    stream.step()
    mysql.run(f"DELETE FROM {name}")
    assert stream.step() == [("+I", 1, "-D")]


# --- where a stream begins ---------------------------------------------------------------------


def test_a_stream_can_begin_now_or_where_the_log_does(mysql, begin):
    mysql.run("FLUSH BINARY LOGS")
    purge(mysql)
    name = mysql.table(STORED, "(1, 'a')")
    now = begin(KEYED, name, scan__startup__mode="latest-offset")
    earliest = begin(KEYED, name, scan__startup__mode="earliest-offset")
    assert (now.step(), earliest.step()) == ([], [("+I", 1, "a")])
    mysql.run(f"INSERT INTO {name} VALUES (2, 'b')")
    assert now.step() == earliest.step() == [("+I", 2, "b")]


def test_a_stream_can_begin_at_a_position_or_a_time(mysql, begin):
    name = mysql.table(STORED, "(1, 'a')")
    file, position = mysql.log_end()
    time.sleep(1.1)  # the log has seconds
    [(now,)] = mysql.rows("SELECT FLOOR(UNIX_TIMESTAMP()) * 1000")
    mysql.run(f"INSERT INTO {name} VALUES (2, 'b')")
    offset = {"scan.startup.specific-offset.file": file}
    offset["scan.startup.specific-offset.pos"] = str(position)
    here = begin(KEYED, name, scan__startup__mode="specific-offset", **offset)
    then = {"scan.startup.timestamp-millis": str(int(now))}
    since = begin(KEYED, name, scan__startup__mode="timestamp", **then)
    assert here.step() == since.step() == [("+I", 2, "b")]


@pytest.mark.parametrize(("file", "position"), [("log.999999", 4), ("other.000001", 4), (None, 5)])
def test_a_position_that_the_log_does_not_have_is_an_error(mysql, begin, file, position):
    name = mysql.table(STORED)
    now, _ = mysql.log_end()
    offset = {"scan.startup.specific-offset.file": file or now}
    offset["scan.startup.specific-offset.pos"] = str(position)
    with pytest.raises(SetupError, match="cannot be read from") as caught:
        begin(KEYED, name, scan__startup__mode="specific-offset", **offset).step()
    assert "SHOW BINLOG EVENTS" in str(caught.value)


def test_a_stream_of_a_time_begins_in_its_file(mysql, begin):
    name = mysql.table(STORED, "(1, 'a')")
    mysql.run("FLUSH BINARY LOGS", f"INSERT INTO {name} VALUES (2, 'b')")
    later = {"scan.startup.timestamp-millis": str(2**32 * 1000 - 1)}
    assert begin(KEYED, name, scan__startup__mode="timestamp", **later).step() == []


def test_a_stream_of_a_time_begins_with_its_second(mysql, begin, monkeypatch):
    name = mysql.table(STORED)
    [(now,)] = mysql.rows("SELECT FLOOR(UNIX_TIMESTAMP()) + 1000")
    other = another(mysql)
    other.run(f"SET timestamp = {now}", f"INSERT INTO {name} VALUES (1, 'a')")
    then = {"scan.startup.timestamp-millis": str(int(now) * 1000 + 999)}
    assert begin(KEYED, name, scan__startup__mode="timestamp", **then).step() == [("+I", 1, "a")]

    # And so does the next file.
    mysql.run("FLUSH BINARY LOGS")
    last, _ = mysql.log_end()
    monkeypatch.setattr(
        scanning, "begun", lambda captured, file: int(now) if file.file == last else 0
    )
    assert begin(KEYED, name, scan__startup__mode="timestamp", **then).step() == [("+I", 1, "a")]


def test_a_stream_of_a_time_looks_at_few_of_many_files(mysql, begin, monkeypatch):
    name = mysql.table(STORED)
    mysql.run(*["FLUSH BINARY LOGS"] * 20)
    looked: list[str] = []
    begun = scanning.begun
    monkeypatch.setattr(
        scanning, "begun", lambda captured, file: (looked.append(file), begun(captured, file))[1]
    )
    later = {"scan.startup.timestamp-millis": str(2**32 * 1000 - 1)}
    begin(KEYED, name, scan__startup__mode="timestamp", **later).step()
    assert 0 < len(looked) < 10


# --- tables that change ------------------------------------------------------------------------


def test_a_table_that_gets_another_column_is_read_on(mysql, begin):
    name = mysql.table(STORED, "(1, 'a')")
    stream = begin(KEYED, name)
    stream.step()
    mysql.run(
        f"INSERT INTO {name} VALUES (2, 'b')",
        f"ALTER TABLE {name} ADD n INT FIRST, MODIFY id DOUBLE, MODIFY x VARCHAR(9), ADD m INT",
    )
    # The new column has the place of the old one.
    mysql.run(f"INSERT INTO {name} (id, x, n) VALUES (3, 'c', 9)")
    with pytest.raises(DataError, match="is double") as caught:
        stream.step()
    assert "cannot be read as INT" in str(caught.value)


def test_columns_are_found_by_name_after_an_alter(mysql, begin):
    name = mysql.table("id INT PRIMARY KEY, a INT, b INT", "(1, 10, 100)")
    stream = begin("id INT, a INT, b INT, PRIMARY KEY (id) NOT ENFORCED", name)
    stream.step()
    mysql.run(f"INSERT INTO {name} VALUES (2, 20, 200)")
    mysql.run(f"ALTER TABLE {name} MODIFY a INT AFTER b, ADD c INT FIRST")
    mysql.run(f"INSERT INTO {name} (id, a, b) VALUES (3, 30, 300)")
    assert stream.step() == [("+I", 2, 20, 200), ("+I", 3, 30, 300)]
    mysql.run(f"UPDATE {name} SET a = 31 WHERE id = 3")
    stream.restart()
    assert stream.step() == [("-U", 3, 30, 300), ("+U", 3, 31, 300)]


def test_a_batch_after_an_alter_has_its_columns_when_it_is_repeated(mysql, begin):
    name = mysql.table("id INT PRIMARY KEY, a INT, b INT", "(1, 10, 100)")
    stream = begin("id INT, a INT, b INT, PRIMARY KEY (id) NOT ENFORCED", name)
    stream.step()
    mysql.run(f"ALTER TABLE {name} MODIFY a INT AFTER b")
    mysql.run(f"INSERT INTO {name} VALUES (2, 200, 20)")  # nothing has changed before
    assert stream.planned()
    assert stream.read() == stream.restart_and_read() == [("+I", 2, 20, 200)]


def test_a_table_that_was_altered_twice_before_it_was_read_is_an_error(mysql, begin):
    name = mysql.table("id INT PRIMARY KEY, a INT, b INT", "(1, 10, 100)")
    stream = begin("id INT, a INT, b INT, PRIMARY KEY (id) NOT ENFORCED", name)
    stream.step()
    swap = f"ALTER TABLE {name} CHANGE a b INT, CHANGE b a INT"
    mysql.run(swap, f"INSERT INTO {name} VALUES (2, 200, 20)", swap)
    with pytest.raises(DataError, match="was altered after changes that were not read yet"):
        stream.step()
    later = begin("id INT, a INT, b INT, PRIMARY KEY (id) NOT ENFORCED", name)
    assert len(later.step()) == 2


def test_a_column_that_was_renamed_is_an_error(mysql, begin):
    name = mysql.table(STORED)
    stream = begin(KEYED, name)
    stream.step()
    mysql.run(f"ALTER TABLE {name} CHANGE x y TEXT", f"INSERT INTO {name} VALUES (1, 'a')")
    with pytest.raises(DataError, match=r"column `x` of .* does not exist"):
        stream.step()


def test_a_table_that_was_dropped_and_made_anew_is_an_error(mysql, begin):
    name = mysql.table(STORED, "(1, 'a')")
    stream = begin(KEYED, name)
    stream.step()
    mysql.run(f"DROP TABLE {name}", f"CREATE TABLE {name} ({STORED})")
    with pytest.raises(DataError, match="was dropped: "):
        stream.step()


def test_a_table_that_tools_have_replaced_is_read_on(mysql, begin):
    name = mysql.table(STORED, "(1, 'a')")
    stream = begin(KEYED, name)
    stream.step()
    mysql.run(
        f"CREATE TABLE _{name}_new (n INT, id INT PRIMARY KEY, x TEXT)",
        f"INSERT INTO _{name}_new (id, x) SELECT id, x FROM {name}",
        f"RENAME TABLE {name} TO _{name}_old, _{name}_new TO {name}",
        f"DROP TABLE _{name}_old",
        f"INSERT INTO {name} (id, x) VALUES (2, 'b')",
    )
    assert stream.step() == [("+I", 2, "b")]


def test_a_table_that_tools_have_replaced_while_the_job_was_stopped_is_read_on(mysql, begin):
    name = mysql.table(STORED, "(1, 'a')")
    stream = begin(KEYED, name)
    stream.step()
    mysql.run(
        f"CREATE TABLE _{name}_new LIKE {name}",
        f"ALTER TABLE _{name}_new ADD n INT FIRST",
        f"INSERT INTO {name} VALUES (2, 'b')",
        f"INSERT INTO _{name}_new (id, x) SELECT id, x FROM {name}",
        f"RENAME TABLE {name} TO _{name}_old, _{name}_new TO {name}",
        f"INSERT INTO {name} (id, x) VALUES (3, 'c')",
    )
    stream.restart()
    assert stream.step() == [("+I", 2, "b"), ("+I", 3, "c")]


def test_tables_of_the_same_name_in_other_databases_may_be_altered(mysql, begin):
    name = mysql.table(STORED, "(1, 'a')")
    stream = begin(KEYED, name)
    stream.step()
    other = f"{name}_tenant"
    mysql.run(
        f"CREATE DATABASE {other}",
        f"CREATE TABLE {other}.{name} ({STORED})",
        f"ALTER TABLE {name} ADD n INT",
        f"INSERT INTO {name} VALUES (2, 'b', 1)",
        f"USE {other}",
        f"ALTER TABLE {name} ADD n INT",
        f"USE {DATABASE}",
    )
    assert stream.step() == [("+I", 2, "b")]


# --- what is not in the log as rows ------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    ["INSERT INTO {t} VALUES (1, 'a')", "LOAD DATA INFILE '{t}' INTO TABLE {t}"],
)
def test_a_change_that_is_in_the_log_as_a_statement_is_an_error(mysql, begin, statement):
    name = mysql.table(STORED)
    mysql.run(f"SELECT 1, 'a' INTO OUTFILE '{name}'")
    stream = begin(KEYED, name)
    stream.step()
    other = another(mysql)
    other.run("SET binlog_format = 'STATEMENT'", statement.format(t=name))
    with pytest.raises(DataError, match="in the log as a statement, without its rows"):
        stream.step()


def test_a_row_image_without_columns_is_an_error(mysql, begin):
    name = mysql.table(STORED, "(1, 'a')")
    stream = begin(KEYED, name)
    stream.step()
    another(mysql).run(
        "SET binlog_row_image = 'MINIMAL'", f"UPDATE {name} SET x = 'b' WHERE id = 1"
    )
    with pytest.raises(SetupError, match="lack columns") as caught:
        stream.step()
    assert "binlog_row_image" in (caught.value.hint or "")


def test_a_prepared_transaction_is_an_error(mysql, begin):
    name, other = mysql.table(STORED), mysql.table(STORED)
    stream = begin(KEYED, name)
    stream.step()
    session = another(mysql)
    for table_, phase in ((other, ""), (name, "ONE PHASE")):
        session.run("XA START 'a'", f"INSERT INTO {table_} VALUES (1, 'a')", "XA END 'a'")
        if not phase:
            session.run("XA PREPARE 'a'")
        session.run(f"XA COMMIT 'a' {phase}")
    assert stream.step() == [("+I", 1, "a")]
    session.run("XA START 'a'", f"INSERT INTO {name} VALUES (2, 'a')", "XA END 'a'")
    session.run("XA PREPARE 'a'")
    with pytest.raises(DataError, match=r"a transaction that changes .* is not supported"):
        stream.step()
    session.run("XA COMMIT 'a'")


def test_a_table_is_not_read_while_a_transaction_is_prepared(mysql, begin, monkeypatch):
    name = mysql.table(STORED)
    session = another(mysql)
    session.run("XA START 'p'", f"INSERT INTO {name} VALUES (1, 'a')", "XA END 'p'")
    session.run("XA PREPARE 'p'")
    monkeypatch.setattr(snapshots, "_PAUSE_S", 0)
    with pytest.raises(SetupError, match=r"while transactions are prepared \(XA\)") as caught:
        begin(KEYED, name)
    assert caught.value.notes["prepared"] == "p"

    monkeypatch.setattr(snapshots.time, "sleep", lambda _: session.run("XA COMMIT 'p'"))
    assert begin(KEYED, name).step() == [("+I", 1, "a")]


@ONLY_MARIADB  # MySQL refuses to mix them
def test_a_transaction_of_which_only_some_is_rolled_back_is_read_as_far_as_it_stays(mysql, begin):
    name, other = mysql.table(STORED), f"m{uuid.uuid4().hex[:8]}"
    mysql.run(f"CREATE TABLE {other} (id INT) ENGINE = MyISAM")
    stream = begin(KEYED, name)
    stream.step()
    mysql.run("BEGIN", f"INSERT INTO {name} VALUES (1, 'a')", f"INSERT INTO {other} VALUES (1)")
    mysql.run("ROLLBACK", f"INSERT INTO {name} VALUES (2, 'b')")
    assert stream.step() == [("+I", 2, "b")]
