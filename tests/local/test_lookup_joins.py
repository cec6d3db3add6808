"""Lookup joins as queries, without Spark: with tables of files, with views, and with functions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tidemark
from tests.searching import searched
from tidemark.errors import JobError, PlanError, TidemarkError

ORDERS = "orders (id INT, customer BIGINT, amount INT, pt AS PROCTIME())"
CUSTOMERS = "customers (id BIGINT, name STRING, vip BOOLEAN, upper_name AS UPPER(name))"
Sql = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[tidemark.Session]:
    with tidemark.connect(engine="local") as session:
        orders = [(1, 1, 5), (2, 2, 5), (3, None, 5), (4, 9, 5), (5, 2, 50)]
        customers = [(1, "ann", True), (2, "bob", False), (2, "bea", True), (None, "nobody", True)]
        table(session, ORDERS, orders, tmp_path / "orders.json")
        table(session, CUSTOMERS, customers, tmp_path / "customers.json")
        yield session


def table(session: tidemark.Session, columns: str, rows: list[tuple[Any, ...]], path: Path) -> None:
    names = [part.split()[0] for part in columns.split("(", 1)[1].split(", ") if " AS " not in part]
    path.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows))
    session.sql(
        f"CREATE TABLE {columns} WITH ('connector' = 'filesystem', 'path' = '{path}', "
        "'format' = 'json')"
    )


def rows(session: tidemark.Session, query: str) -> list[tuple[Any, ...]]:
    return [(*row.values(),) for row in session.sql(query).rows()]


AS_OF = "FOR SYSTEM_TIME AS OF o.pt"


def test_an_order_is_joined_with_every_row_of_its_key(session):
    query = f"SELECT o.id, c.name FROM orders AS o JOIN customers {AS_OF} AS c ON o.customer = c.id"

    assert rows(session, query) == [(1, "ann"), (2, "bob"), (2, "bea"), (5, "bob"), (5, "bea")]


def test_all_orders_look_up_the_same_constants(session):
    query = f"SELECT o.id, c.name FROM orders AS o LEFT JOIN customers {AS_OF} AS c ON"

    assert rows(session, f"{query} 2 = c.id AND c.vip = TRUE AND o.id > 3") == [
        *[(order, None) for order in (1, 2, 3)],
        (4, "bea"),
        (5, "bea"),
    ]
    assert {name for _, name in rows(session, f"{query} c.id = CAST(NULL AS BIGINT)")} == {None}


def test_a_left_join_keeps_orders_that_find_nothing(session):
    query = (
        f"SELECT o.id, c.upper_name FROM orders AS o LEFT JOIN customers {AS_OF} AS c "
        "ON o.customer = c.id AND c.vip AND o.amount < 10 AND CHAR_LENGTH(c.name) < o.amount"
    )

    assert rows(session, query) == [(1, "ANN"), (2, "BEA"), (3, None), (4, None), (5, None)]


def test_conditions_of_where_are_keys_too(session):
    query = (
        f"SELECT o.id, c.name FROM orders AS o, customers {AS_OF} AS c "
        "WHERE c.id = o.customer AND c.vip IS TRUE AND o.amount > 10"
    )

    assert rows(session, query) == [(5, "bea")]


def test_using_makes_the_key_one_column(session):
    session.sql("CREATE VIEW named AS SELECT id AS customer, name FROM customers")
    query = f"SELECT customer, o.id, name FROM orders AS o JOIN named {AS_OF} USING (customer)"

    assert rows(session, query)[0] == (1, 1, "ann")


def test_a_bounded_view_is_computed_once(session):
    session.sql("CREATE VIEW counts AS SELECT id, COUNT(*) AS n FROM customers GROUP BY id")
    query = f"SELECT o.id, c.n FROM orders AS o LEFT JOIN counts {AS_OF} AS c ON o.customer = c.id"

    assert rows(session, query) == [(1, 1), (2, 2), (3, None), (4, None), (5, 2)]


def test_a_subquery_may_be_looked_up(session):
    query = (
        "SELECT o.id, c.n FROM orders AS o "
        f"JOIN (VALUES (CAST(9 AS BIGINT), 'nine')) {AS_OF} AS c(k, n) ON o.customer = c.k"
    )

    assert rows(session, query) == [(4, "nine")]


def test_changes_are_joined_each_with_its_kind(session):
    session.sql(
        "CREATE VIEW totals AS SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer"
    )
    query = (
        "SELECT p.n, c.name FROM (SELECT *, PROCTIME() AS pt FROM totals) AS p "
        "JOIN customers FOR SYSTEM_TIME AS OF p.pt AS c ON p.customer = c.id AND c.vip"
    )

    changes = [(c.kind, *c.row.values()) for c in session.sql(query).changes()]
    assert changes == [
        ("+I", 1, "ann"),
        ("+I", 1, "bea"),
        ("-U", 1, "bea"),
        ("+U", 2, "bea"),
    ]


VALUES = st.one_of(st.none(), st.integers(0, 3))


@given(st.lists(VALUES, max_size=6), st.lists(st.tuples(VALUES, st.integers(0, 9)), max_size=6))
@searched(15)
def test_rows_are_those_of_a_regular_join_if_the_table_does_not_change(
    tmp_path_factory, keys, found
):
    folder = tmp_path_factory.mktemp("lookups")
    with tidemark.connect(engine="local") as session:
        table(session, "l (k INT, pt AS PROCTIME())", [(key,) for key in keys], folder / "l.json")
        table(session, "r (k INT, v INT)", found, folder / "r.json")
        looked_up, joined = (
            rows(
                session, f"SELECT l.k, r.v FROM l LEFT JOIN r {time} AS r ON l.k = r.k AND r.v > 4"
            )
            for time in ("FOR SYSTEM_TIME AS OF l.pt", "")
        )

    assert sorted(looked_up, key=str) == sorted(joined, key=str)


# --- functions ---------------------------------------------------------------------------------


def test_a_function_is_asked_for_the_distinct_keys_of_a_batch(session):
    asked = []

    def people(keys: pa.Table) -> pa.Table:
        asked.append(keys.to_pydict())
        ids = [key for key in keys["id"].to_pylist() if key < 9]
        return pa.table({"id": ids, "name": [f"person {key}" for key in ids]})

    session.register_lookup("people", people, columns="id BIGINT, name STRING")
    query = f"SELECT o.id, p.name FROM orders AS o LEFT JOIN people {AS_OF} AS p ON customer = p.id"

    assert rows(session, query)[3:] == [(4, None), (5, "person 2")]
    assert asked == [{"id": [1, 2, 9]}]


def test_a_function_is_asked_for_the_primary_key_only(session):
    asked = []

    def people(keys: pa.Table) -> pa.Table:
        asked.append(keys.column_names)
        return pa.table({"id": [1, 2], "age": [5, 6]})

    session.register_lookup("people", people, columns="id BIGINT, age INT", primary_key=["id"])
    join = f"SELECT o.id FROM orders AS o JOIN people {AS_OF} AS p ON"

    assert rows(session, f"{join} o.customer = p.id AND o.amount = p.age") == [(1,)]
    assert asked == [["id"]]
    with pytest.raises(PlanError, match="must compare the whole primary key of `people`"):
        rows(session, f"{join} o.amount = p.age")


def test_a_function_in_a_module_is_named_by_the_table(session, tmp_path, monkeypatch):
    (tmp_path / "crm.py").write_text(
        "import pyarrow as pa\n"
        "def people(keys):\n"
        "    return pa.table({'id': [1], 'name': ['ann']})\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    session.sql(
        "CREATE TABLE people (id BIGINT, name STRING) "
        "WITH ('connector' = 'python', 'function' = 'crm.people')"
    )

    query = f"SELECT o.id, p.name FROM orders AS o JOIN people {AS_OF} AS p ON o.customer = p.id"
    assert rows(session, query) == [(1, "ann")]


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (5, "must return an Arrow table, not int"),
        (pa.table({"id": [1]}), "returned no column `name`"),
        (pa.table({"id": ["one"], "name": ["ann"]}), "returned columns of other types"),
    ],
)
def test_what_a_function_returns_is_checked(session, returned, message):
    session.register_lookup("people", lambda _: returned, columns="id BIGINT, name STRING")
    query = f"SELECT o.id, p.name FROM orders AS o JOIN people {AS_OF} AS p ON o.customer = p.id"

    with pytest.raises(JobError, match=message):
        rows(session, query)


def test_a_table_that_is_only_looked_up_cannot_be_listed(session):
    session.register_lookup("people", lambda _: None, columns="id BIGINT, name STRING")

    with pytest.raises(PlanError, match="`people` can only be looked up"):
        rows(session, "SELECT * FROM people")
    with pytest.raises(PlanError, match="`people` can only be looked up"):
        rows(session, "SELECT o.id FROM orders AS o JOIN people AS p ON o.customer = p.id")


def test_options_of_a_registered_lookup_are_checked(session):
    with pytest.raises(TidemarkError, match=r"lookup\.cache"):
        session.register_lookup("p", print, columns="id INT", options={"lookup.cache": "FULL"})
