"""Tables of each database as sinks, sources and in lookups."""

from __future__ import annotations

import uuid
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.connectors.jdbc_sinks import Change, Database, Sink, run_on, target_of
from tests.connectors.repeated_batches import again
from tests.searching import searched
from tidemark.catalog.tables import Changelog
from tidemark.connectors.jdbc.sink import sink_of
from tidemark.errors import DataError


def test_the_last_change_of_a_key_counts(database):
    sink = Sink(database)

    sink.take([("+I", 1, 10), ("+I", 2, 20), ("-U", 1, 10), ("+U", 1, 11), ("+I", 3, None)])
    sink.take([("-D", 2, 20), ("-U", 3, None), ("+U", 3, 31)], [])

    assert sink.rows() == [(1, 11), (3, 31)]
    assert database.staging() == []


def test_a_row_that_moves_between_tasks_stays(database):
    # The row of key 1 comes from another task now: in which order the two are seen is chance.
    for tasks in ([[("-D", 1, 10)], [("+I", 1, 11)]], [[("+I", 1, 11)], [("-D", 1, 10)]]):
        sink = Sink(database)
        sink.take([("+I", 1, 10)])
        sink.take(*tasks)
        assert sink.rows() == [(1, 11)]


def test_what_comes_and_goes_in_a_task_leaves_the_row_of_another(database):
    sink = Sink(database)
    sink.take([("+I", 1, 10)])

    sink.take([("+I", 1, 99), ("-D", 1, 99)])

    assert sink.rows() == [(1, 10)]


def test_upserts_come_without_the_rows_they_replace(database):
    sink = Sink(database, Changelog.UPSERT)
    sink.take([("+U", 1, 10), ("+U", 2, 20)])

    sink.take([("+U", 1, 11), ("-D", 1, 11), ("+U", 2, 21)])

    assert sink.rows() == [(2, 21)]


@given(st.data())
@searched(15)
def test_the_table_equals_the_result_whatever_tasks_its_changes_come_from(database, data):
    """Rows move between two tasks, which see their own changes in order and nothing else."""
    the_sink(database).empty()
    result: dict[int, tuple[int, int]] = {}  # the task and value of each key
    sink = the_sink(database)
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
def the_sink(database: Database) -> Sink:
    return Sink(database)


CHANGES = st.tuples(st.integers(1, 3), st.none() | st.integers(0, 9), st.integers(0, 1))


def test_several_pieces_of_a_task_are_in_order(database, monkeypatch):
    from tidemark.runtime import combining

    monkeypatch.setattr(combining.gathered, "__defaults__", (1,))
    sink = Sink(database)
    found = sink_of(sink.target)
    pieces = [[("+I", 1, 1), ("+I", 2, 1)], [("-U", 1, 1), ("+U", 1, 2)], [("-D", 2, 1)]]

    found.commit(
        lambda: [note for _, note in found.write(map(sink.batch, pieces)) if note is not None], None
    )

    assert sink.rows() == [(1, 2)]


# --- batches that come again -------------------------------------------------------------------


def test_a_keyed_table_may_get_a_batch_again(database):
    sink = Sink(database, job="j", started="s")
    sink.take([("+I", 1, 10)], batch_id=0)

    for _ in range(2):
        sink.take([("-U", 1, 10), ("+U", 1, 11), ("+I", 2, 20)], batch_id=1)

    assert sink.rows() == [(1, 11), (2, 20)]


def test_a_batch_that_comes_again_adds_nothing(database):
    name = uuid.uuid4().hex
    sink = Sink(database, Changelog.APPEND, key=False, job=name, started="s")

    for batch_id, value in [(0, 1), (0, 1), (1, 2), (2, 2), (2, 2)]:
        sink.take([("+I", 1, value)], batch_id=batch_id)

    assert sink.rows() == [(1, 1), (1, 2), (1, 2)]
    assert database.rows(f"SELECT batch FROM tidemark_batches WHERE job = '{name}-s'") == [(2,)]


def test_a_job_that_begins_anew_adds_its_batches(database):
    name = uuid.uuid4().hex
    sink = Sink(database, Changelog.APPEND, key=False, job=name, started="s")
    sink.take([("+I", 1, 1)], batch_id=0)

    sink.target = target_of(sink.target.table, Changelog.APPEND, job=name, started="another")
    sink.take([("+I", 1, 1)], batch_id=0)

    assert sink.rows() == [(1, 1), (1, 1)]


def test_rows_of_an_attempt_that_failed_do_not_count(database):
    sink = Sink(database, Changelog.APPEND, key=False)
    found = sink_of(sink.target)

    def notes() -> list[str]:
        sink.copied(found, [[("+I", 1, 1)]])  # it is not reported
        return sink.copied(found, [[("+I", 1, 2)]])

    found.commit(notes, None)

    assert sink.rows() == [(1, 2)]


def test_a_batch_that_fails_leaves_nothing(database):
    sink = Sink(database)
    with pytest.raises(DataError, match=f"writing to {sink.name} failed") as caught:
        sink.take([("+I", 1, 1), ("+I", 2, 100)])

    assert "constraint" in str(caught.value).lower()
    assert (sink.rows(), database.staging()) == ([], [])


# --- on Spark ----------------------------------------------------------------------------------


def test_a_stream_keeps_a_table_of_totals(spark, database, tmp_path):
    orders = database.table("customer int, amount int", "(1, 10)", "(2, 20)", "(1, 5)")
    totals = database.table("customer int PRIMARY KEY, amount bigint", "(3, 30)")
    log = database.table("customer int, amount int")
    script = f"""
        CREATE TABLE orders (customer INT, amount INT) {database.options(orders)};
        CREATE TABLE totals (customer INT, amount BIGINT, PRIMARY KEY (customer) NOT ENFORCED)
          {database.options(totals)};
        CREATE TABLE log (customer INT, amount INT) {database.options(log)};
        INSERT INTO totals SELECT customer, SUM(amount) FROM orders GROUP BY customer;
        INSERT INTO log SELECT * FROM orders WHERE amount > 5;
    """
    for _ in range(2):
        run_on(spark, script, checkpoint=tmp_path)
        assert sorted(database.rows(f"SELECT * FROM {totals}")) == [(1, 15), (2, 20), (3, 30)]
        assert sorted(database.rows(f"SELECT * FROM {log}")) == [(1, 10), (2, 20)]
        again(tmp_path)
