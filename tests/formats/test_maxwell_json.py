"""Maxwell events as columns. Expected values were confirmed on Flink 2.3."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from tests.formats.examples import ALWAYS, NEVER, changes, events
from tidemark.errors import DataError

FORMAT, TABLE = "maxwell-json", "id INT, k STRING, v INT"

pytestmark = pytest.mark.parametrize("few", [ALWAYS, NEVER], ids=["quick", "exact"])


def event(type_: Any, data: Any, old: Any = None, **more: Any) -> dict[str, Any]:
    return {"data": data, "old": old, "type": type_, **more}


def row(id_: int, k: str, v: Any) -> dict[str, Any]:
    return {"id": id_, "k": k, "v": v}


def test_an_update_is_two_changes_and_an_empty_record_none(few: int) -> None:
    lines = [
        event("insert", row(1, "a", 10)),
        "",
        event("update", row(1, "b", 10), {"k": "a"}),
        event("delete", row(1, "b", 10), {"k": "ignored"}),
    ]

    assert changes(FORMAT, TABLE, lines, few=few) == [
        (1, "a", 10, "+I"), (1, "a", 10, "-U"), (1, "b", 10, "+U"), (1, "b", 10, "-D"),
    ]  # fmt: skip
    assert events(FORMAT, TABLE, lines, few=few).record.to_list() == [1, 3, 3, 4]


@pytest.mark.parametrize(
    ("old", "before"),
    [
        ({"v": "10"}, (1, "b", 10, "-U")),
        ({"k": None}, (1, None, 11, "-U")),
        ({}, (1, "b", 11, "-U")),
        ({"other": 5}, (1, "b", 11, "-U")),
        # Flink looks for names in all that `old` contains.
        ({"other": {"k": 5}}, (1, None, 11, "-U")),
        ({"other": [{"k": 5}], "v": 1}, (1, None, 1, "-U")),
        ({"other": 'a "k": 5'}, (1, "b", 11, "-U")),
        ({"k": {"v": 5}}, (1, '{"v":5}', None, "-U")),
    ],
)
def test_fields_that_old_does_not_name_are_as_in_data(few: int, old: Any, before: Any) -> None:
    assert changes(FORMAT, TABLE, [event("update", row(1, "b", 11), old)], few=few)[0] == before


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (event("bootstrap-insert", row(1, "a", 1)), "unknown `type` in a Maxwell event: bootstrap"),
        ({"data": {}}, "unknown `type` in a Maxwell event: none"),
        (event("INSERT", row(1, "a", 1)), "unknown `type` in a Maxwell event: INSERT"),
        (event("insert", None), "missing row in a Maxwell event of type insert"),
        (event("delete", None), "missing row in a Maxwell event of type delete"),
        (event("update", row(1, "a", 1)), "a row without `old` in a Maxwell event of type update"),
        (event("update", row(1, "a", 1), "text"), "without `old`"),
        (event("insert", row(1, "a", "many")), "cannot read `v` as INT"),
        (event("update", row(1, "a", 1), {"v": "many"}), "cannot read `v` as INT"),
        ("{", "cannot read the record as JSON"),
        (event("insert", [row(1, "a", 1)]), "cannot read the record as JSON"),
    ],
)
def test_a_bad_event_is_named_or_skipped(few: int, bad: Any, said: str) -> None:
    with pytest.raises(DataError) as caught:
        events(FORMAT, TABLE, [event("insert", row(9, "z", 9)), bad], few=few)

    assert caught.value.message.startswith("f:2  ")
    assert said in caught.value.message
    found = events(FORMAT, TABLE, [bad], few=few, maxwell_json__ignore_parse_errors="true")
    assert found.skipped == (0 if "cannot read `v`" in said else 1)


def test_both_rows_of_an_event_have_its_metadata(few: int) -> None:
    about = {"database": "shop", "table": "t", "primary_key_columns": ["id"], "ts": 1596684883}
    lines = [event("update", {"id": 2}, {"id": 1}, **about), event("insert", {"id": 3}, ts="x")]
    seen = dt.datetime(2020, 8, 6, 3, 34, 43, tzinfo=dt.UTC)
    expected = {
        "value.database": "shop",
        "value.table": "t",
        "value.primary-key-columns": ["id"],
        "value.ingestion-timestamp": seen,
        "db_operation_time": seen,
    }

    found = events(FORMAT, "id INT", lines, few=few, metadata=tuple(expected))

    assert {key: column.to_list() for key, column in found.metadata.items()} == {
        key: [value, value, None] for key, value in expected.items()
    }
