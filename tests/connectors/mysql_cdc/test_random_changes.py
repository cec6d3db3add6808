"""Whatever transactions do and wherever a job stops, its rows are those of the table."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pymysql
import pytest
from hypothesis import given
from hypothesis import strategies as st

from servers.mysql import MySql
from tests.connectors.change_streams import follow, steps, table_of
from tests.connectors.mysql_cdc.streams import Stream, in_small_pieces, table
from tests.searching import searched
from tidemark.connectors.mysql_cdc import snapshots
from tidemark.errors import DataError

KEYED = "id INT, x STRING, PRIMARY KEY (id) NOT ENFORCED"
ids = st.integers(1, 4)
statements = st.one_of(
    st.builds("INSERT IGNORE INTO {{t}} VALUES ({}, '{}')".format, ids, st.sampled_from("abc")),
    st.builds("REPLACE INTO {{t}} VALUES ({}, '{}')".format, ids, st.sampled_from("abc")),
    st.builds(
        "UPDATE {{t}} SET x = CONCAT(x, '{}') WHERE id = {}".format, st.sampled_from("de"), ids
    ),
    st.builds("UPDATE IGNORE {{t}} SET id = {} WHERE id = {}".format, ids, ids),
    st.builds("DELETE FROM {{t}} WHERE id = {}".format, ids),
    st.just("SAVEPOINT s"),
    st.just("UPDATE {t} SET x = 'all'"),
)


@searched(15)
@given(steps(statements), st.sampled_from([1, 500, 64 << 20]))
def test_the_rows_of_a_stream_are_those_of_the_table(
    mysql: MySql, tmp_path_factory: Any, told: list[tuple[str, list[str]]], window: int
):
    name = mysql.table("id INT PRIMARY KEY, x TEXT", "(1, 'first')")
    folder = Path(tmp_path_factory.mktemp("source"))
    with pytest.MonkeyPatch.context() as patched:
        in_small_pieces(patched, window, min(window, 2_000))
        with Stream(mysql, table(mysql, KEYED, name), folder) as stream:
            for what, work in told:
                mysql.run(*follow(stream, what, [each.format(t=name) for each in work]))
            stream.step()
            found = table_of(stream.rows)
    assert found == mysql.rows(f"SELECT id, x FROM {name} ORDER BY id")


alterations = st.sampled_from(
    [
        "ALTER TABLE {t} ADD COLUMN IF NOT EXISTS a TEXT FIRST",
        "ALTER TABLE {t} ADD COLUMN IF NOT EXISTS b INT NOT NULL DEFAULT 7",
        "ALTER TABLE {t} DROP COLUMN IF EXISTS a",
        "ALTER TABLE {t} DROP COLUMN IF EXISTS b, MODIFY x VARCHAR(99) FIRST",
        "ALTER TABLE {t} CHANGE x y TEXT, ADD COLUMN z INT; ALTER TABLE {t} CHANGE y x TEXT, DROP z",
        "ALTER TABLE {t} MODIFY x TEXT CHARACTER SET latin1 AFTER id",
        "ALTER TABLE {t} CHANGE x w TEXT, CHANGE w x TEXT",
        "TRUNCATE TABLE {t}_",
        "OPTIMIZE TABLE {t}",
    ]
)


@searched(15)
@given(steps(st.one_of(statements, alterations)))
def test_rows_of_a_table_that_is_altered_are_right_or_an_error(
    mysql: MySql, tmp_path_factory: Any, told: list[tuple[str, list[str]]]
):
    name = mysql.table("id INT PRIMARY KEY, x TEXT", "(1, 'first')")
    folder, problem = Path(tmp_path_factory.mktemp("source")), None
    with Stream(mysql, table(mysql, KEYED, name), folder) as stream:
        try:
            for what, work in told:
                for each in follow(stream, what, [each.format(t=name) for each in work]):
                    with suppress(pymysql.MySQLError):  # of a column that is not there
                        mysql.run(*each.split("; "))
            stream.step()
        except DataError as found:
            problem = found.message
    if problem is None:
        assert table_of(stream.rows) == mysql.rows(f"SELECT id, x FROM {name} ORDER BY id")
    else:
        assert "was altered after changes that were not read yet" in problem


@contextmanager
def disturbed(mysql: MySql, name: str) -> Iterator[None]:
    """Somebody changes a table all the time."""
    ended = threading.Event()
    other = MySql(mysql.port, mysql.process)

    def disturb() -> None:
        number = 0
        while not ended.is_set():
            number += 1
            other.run(
                "BEGIN",
                f"UPDATE {name} SET x = '{number}' WHERE id % 3 = {number % 3}",
                f"DELETE FROM {name} WHERE id = {number % 20}",
                f"INSERT INTO {name} VALUES ({number % 20}, 'new')",
                f"UPDATE {name} SET id = 99 WHERE id = 7",
                "COMMIT",
                f"UPDATE {name} SET id = 7 WHERE id = 99",
            )

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.mark.parametrize("of_mysql", [False, True])
def test_changes_during_many_snapshots_come_once(
    mysql: MySql, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of_mysql: bool
):
    if of_mysql:  # which does not say what position a transaction sees
        monkeypatch.setattr(snapshots, "_seen", lambda connection: None)
    name = mysql.table("id INT PRIMARY KEY, x TEXT", *(f"({n}, '0')" for n in range(20)))
    streams = []
    with disturbed(mysql, name):
        for number in range(4):
            stream = Stream(mysql, table(mysql, KEYED, name), tmp_path / f"{number}")
            streams.append(stream)
            stream.begin()
            while len(stream.log) < 5:
                stream.rows += stream.read() if stream.planned() else []
    for stream in streams:
        stream.step()
        expected = mysql.rows(f"SELECT id, x FROM {name} ORDER BY id")
        assert table_of(stream.rows) == expected
