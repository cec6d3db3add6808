"""Canal events as columns: several rows in an event, partial old images, filters."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from tests.formats.examples import changes, events
from tidemark.errors import DataError

FORMAT, TABLE = "canal-json", "id INT, k STRING, v INT"


def event(type_: str, data: Any, old: Any = None, **more: Any) -> dict[str, Any]:
    return {"data": data, "old": old, "type": type_, **more}


def row(id_: int, k: str, v: Any) -> dict[str, Any]:
    return {"id": str(id_), "k": k, "v": v}


def test_an_event_returns_all_its_rows_in_order() -> None:
    lines = [
        event("INSERT", [row(1, "a", 10), row(2, "b", 20)]),
        event("UPDATE", [row(1, "c", 10), row(2, "c", 20)], [{"k": "a"}, {"k": "b"}]),
        "",
        event("CREATE", None),
        event("DELETE", [row(2, "c", 20), row(1, "c", 10)]),
    ]

    assert changes(FORMAT, TABLE, lines) == [
        (1, "a", 10, "+I"), (2, "b", 20, "+I"), (1, "a", 10, "-U"), (1, "c", 10, "+U"), (2, "b", 20, "-U"),
        (2, "c", 20, "+U"), (2, "c", 20, "-D"), (1, "c", 10, "-D"),
    ]  # fmt: skip
    assert events(FORMAT, TABLE, lines).record.to_list() == [1, 1, 2, 2, 2, 2, 5, 5]


@pytest.mark.parametrize(
    ("old", "before"),
    [
        ([{"v": "10"}], (1, "b", 10, "-U")),
        ([{"k": None}], (1, None, 11, "-U")),
        ([{}], (1, "b", 11, "-U")),
    ],
)
def test_fields_that_old_does_not_name_are_as_in_data(old: Any, before: Any) -> None:
    assert changes(FORMAT, TABLE, [event("UPDATE", [row(1, "b", 11)], old)])[0] == before


def test_a_field_that_any_old_row_names_has_changed_in_all_of_them() -> None:
    lines = [event("UPDATE", [row(1, "b", 1), row(2, "c", 2)], [{"k": "a"}, {"v": 0}])]

    assert [r for r in changes(FORMAT, TABLE, lines) if r[-1] == "-U"] == [
        (1, "a", None, "-U"),
        (2, None, 0, "-U"),
    ]


def test_only_included_databases_and_tables_are_read() -> None:
    def of(id_: int, database: str, table: str) -> dict[str, Any]:
        return event("INSERT", [row(id_, "a", 1)], database=database, table=table)

    lines = [of(1, "shop", "o_1"), of(2, "shop", "items"), of(3, "shops", "o_2"), of(4, "shop", "xo_1"),
             event("STRANGE", "text", database="shop", table="other")]  # fmt: skip
    included = {"canal_json__database__include": "shop", "canal_json__table__include": "o_.|p"}

    assert [r[0] for r in changes(FORMAT, TABLE, lines, **included)] == [1]
    with pytest.raises(DataError, match="f:1  missing `database` in a Canal event"):
        changes(FORMAT, TABLE, [event("INSERT", [])], **included)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (event("ALTER", None), "unknown `type` in a Canal event: ALTER"),
        ({"data": []}, "unknown `type` in a Canal event: none"),
        (event("INSERT", None), "missing rows in a Canal event of type INSERT"),
        (event("DELETE", [None]), "missing rows in a Canal event of type DELETE"),
        (event("UPDATE", [row(1, "a", 1)]), "without `old`"),
        (event("UPDATE", [row(1, "a", 1)], []), "without `old`"),
        (event("UPDATE", [row(1, "a", 1)], [None]), "without `old`"),
        (event("INSERT", [row(1, "a", "many")]), "cannot read `v` as INT"),
        (event("UPDATE", [row(1, "a", 1)], [{"v": "many"}]), "cannot read `v` as INT"),
        ("{", "cannot read the record as JSON"),
        (event("INSERT", "text"), "cannot read the record as JSON"),
    ],
)
def test_a_bad_event_is_named_or_skipped(bad: Any, said: str) -> None:
    with pytest.raises(DataError) as caught:
        events(FORMAT, TABLE, [event("INSERT", [row(9, "z", 9)]), bad])

    assert caught.value.message.startswith("f:2  ")
    assert said in caught.value.message
    found = events(FORMAT, TABLE, [bad], canal_json__ignore_parse_errors="true")
    assert found.skipped == (0 if "cannot read `v`" in said else 1)


def test_every_row_of_an_event_has_the_metadata_of_the_event() -> None:
    about = {
        "database": "shop", "table": "orders", "sqlType": {"id": 4, "k": 12}, "pkNames": ["id"],
        "ts": 1714989601000, "es": 1714989600123,
    }  # fmt: skip
    changed = dt.datetime(2024, 5, 6, 10, 0, 0, 123000, dt.UTC)
    expected = {
        "value.database": "shop",
        "value.table": "orders",
        "value.sql-type": {"id": 4, "k": 12},
        "value.pk-names": ["id"],
        "value.ingestion-timestamp": dt.datetime(2024, 5, 6, 10, 0, 1, tzinfo=dt.UTC),
        "value.event-timestamp": changed,
        "db_operation_time": changed,
    }
    lines = [event("INSERT", [{"id": 1}, {"id": 2}], **about), event("INSERT", [{"id": 3}])]

    found = events(FORMAT, "id INT", lines, metadata=tuple(expected))

    assert {key: column.to_list() for key, column in found.metadata.items()} == {
        key: [value, value, None] for key, value in expected.items()
    }


@pytest.mark.parametrize("few", [1, 1_000_000])
def test_a_name_below_a_field_of_old_counts_too(few: int) -> None:
    """As in Flink, which looks for names in all that `old` contains."""
    lines = [event("UPDATE", [row(1, "b", 11)], [{"other": {"k": 5}}])]

    assert changes(FORMAT, TABLE, lines, few=few)[0] == (1, None, 11, "-U")
