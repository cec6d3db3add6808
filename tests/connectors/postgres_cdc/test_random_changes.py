"""Whatever transactions do and wherever a job stops, its rows are those of the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from servers.postgres import Postgres
from tests.connectors.change_streams import follow, steps, table_of
from tests.connectors.postgres_cdc.streams import Stream, captured, table, uri_of
from tests.searching import searched

KEYED = "id INT, x STRING, PRIMARY KEY (id) NOT ENFORCED"
ids = st.integers(1, 4)
statements = st.one_of(
    st.builds(
        "INSERT INTO {{t}} VALUES ({}, '{}') ON CONFLICT (id) DO NOTHING".format,
        ids,
        st.sampled_from("abc"),
    ),
    st.builds("UPDATE {{t}} SET x = x || '{}' WHERE id = {}".format, st.sampled_from("de"), ids),
    st.builds(
        "UPDATE {{t}} SET id = {0} WHERE id = {1} AND NOT EXISTS "
        "(SELECT 1 FROM {{t}} WHERE id = {0})".format,
        ids,
        ids,
    ),
    st.builds("DELETE FROM {{t}} WHERE id = {}".format, ids),
    st.just("SAVEPOINT s; DELETE FROM {t}; ROLLBACK TO s"),
)


@searched(12)
@given(steps(statements), st.booleans())
def test_the_rows_of_a_stream_are_those_of_the_table(
    postgres: Postgres, tmp_path_factory: Any, told: list[tuple[str, list[str]]], upserts: bool
):
    name = captured(postgres, "id int primary key, x text", "(1, 'first')", full=not upserts)
    mode = "upsert" if upserts else "all"
    declared = table(postgres, KEYED, name, changelog_mode=mode)
    with Stream(postgres, declared, Path(tmp_path_factory.mktemp("source"))) as stream:
        for what, work in told:
            if transaction := follow(stream, what, [each.format(t=name) for each in work]):
                postgres.run("; ".join(transaction))
        stream.step()
        found = result_of(stream.rows, by_key=upserts)
    assert found == postgres.rows(f"SELECT id, x FROM {name} ORDER BY id")


def result_of(rows: list[tuple[Any, ...]], *, by_key: bool) -> list[tuple[Any, ...]]:
    if by_key:
        last = {id_: (kind, id_, x) for kind, id_, x in rows}
        return sorted((id_, x) for kind, id_, x in last.values() if kind != "-D")
    return table_of(rows)


def test_changes_during_many_snapshots_come_once(postgres: Postgres, tmp_path: Path):
    """Somebody changes the table all the time while jobs begin."""
    import threading

    import adbc_driver_postgresql.dbapi as driver

    name = captured(postgres, "id int primary key, x text", *(f"({n}, '0')" for n in range(20)))
    ended = threading.Event()

    def disturb() -> None:
        with driver.connect(uri_of(postgres), autocommit=True) as connection:
            number = 0
            while not ended.is_set():
                number += 1
                with connection.cursor() as cursor:
                    cursor.executescript(
                        f"UPDATE {name} SET x = '{number}' WHERE id % 3 = {number % 3}; "
                        f"DELETE FROM {name} WHERE id = {number % 20}; "
                        f"INSERT INTO {name} VALUES ({number % 20}, 'new')"
                    )

    thread = threading.Thread(target=disturb)
    thread.start()
    streams = []
    try:
        for number in range(3):
            stream = Stream(postgres, table(postgres, KEYED, name), tmp_path / f"{number}")
            streams.append(stream)
            stream.begin()
            while len(stream.log) < 5:
                stream.rows += stream.read() if stream.planned() else []
    finally:
        ended.set()
        thread.join()
    for stream in streams:
        stream.step()
        found = result_of(stream.rows, by_key=False)
        assert found == postgres.rows(f"SELECT id, x FROM {name} ORDER BY id")
        stream.__exit__()
