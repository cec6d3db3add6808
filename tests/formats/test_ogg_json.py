"""Ogg events as columns. Expected values were confirmed on Flink 2.3."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from tests.formats.examples import ALWAYS, NEVER, changes, events
from tidemark.errors import DataError

FORMAT, TABLE = "ogg-json", "id INT, v INT"

pytestmark = pytest.mark.parametrize("few", [ALWAYS, NEVER], ids=["quick", "exact"])


def event(op: Any, before: Any = None, after: Any = None, **more: Any) -> dict[str, Any]:
    return {"op_type": op, "before": before, "after": after, **more}


def row(id_: int, v: Any) -> dict[str, Any]:
    return {"id": id_, "v": v}


def test_an_update_is_two_changes_and_an_empty_record_none(few: int) -> None:
    lines = [
        event("I", None, row(1, 10)),
        "",
        event("U", row(1, 10), row(1, 11)),
        event("U", {"id": 1}, row(1, 12)),
        event("D", row(1, 12), row(5, 5)),
    ]

    assert changes(FORMAT, TABLE, lines, few=few) == [
        (1, 10, "+I"), (1, 10, "-U"), (1, 11, "+U"), (1, None, "-U"), (1, 12, "+U"), (1, 12, "-D"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (event("T"), "unknown `op_type` in an Ogg event: T"),
        (event(None, None, row(1, 1)), "unknown `op_type` in an Ogg event: none"),
        (event("I"), "missing `after` in an event with `op_type` = I"),
        (event("U", row(1, 1)), "missing `after` in an event with `op_type` = U"),
        (event("U", None, row(1, 1)), "missing `before` in an event with `op_type` = U"),
        (event("D", None, row(1, 1)), "missing `before` in an event with `op_type` = D"),
        (event("I", None, row(1, "many")), "cannot read `v` as INT"),
        (event("I", None, "text"), "cannot read the record as JSON"),
    ],
)
def test_a_bad_event_is_named_or_skipped(few: int, bad: Any, said: str) -> None:
    with pytest.raises(DataError) as caught:
        events(FORMAT, TABLE, [event("I", None, row(9, 9)), bad], few=few)

    assert caught.value.message.startswith("f:2  ")
    assert said in caught.value.message
    found = events(FORMAT, TABLE, [bad], few=few, ogg_json__ignore_parse_errors="true")
    assert found.skipped == (0 if "cannot read `v`" in said else 1)


def test_an_event_without_its_old_row_has_a_hint(few: int) -> None:
    with pytest.raises(DataError) as caught:
        events(FORMAT, TABLE, [event("D")], few=few)

    assert str(caught.value.hint).startswith("let GoldenGate log all columns")


def moment(*parts: int) -> dt.datetime:
    return dt.datetime(*parts, tzinfo=dt.UTC)  # type: ignore[arg-type, misc]


@pytest.mark.parametrize(
    ("text", "event_time", "ingestion_time"),
    [
        ("2020-05-13 15:40:06.123456", moment(2020, 5, 13, 15, 40, 6, 123000), moment(2020, 5, 13, 15, 40, 6, 123456)),
        ("2020-05-13T15:40:06.123456", None, moment(2020, 5, 13, 15, 40, 6, 123000)),
        ("2020-05-13T15:40:06", None, None),
        ("2020-5-3 1:2:3.5", moment(2020, 5, 3, 1, 2, 3, 500000), moment(2020, 5, 3, 1, 2, 3, 500000)),
        ("2020-05-13", moment(2020, 5, 13), moment(2020, 5, 13)),
        ("1969-12-31 23:59:59.999999", moment(1969, 12, 31, 23, 59, 59, 999000), moment(1969, 12, 31, 23, 59, 59, 999999)),
        ("yesterday", None, None),
        (None, None, None),
    ],
)  # fmt: skip
def test_times_are_read_in_utc(few: int, text: Any, event_time: Any, ingestion_time: Any) -> None:
    keys = ("value.ingestion-timestamp", "value.event-timestamp", "db_operation_time")
    lines = [event("I", None, row(1, 1), op_ts=text, current_ts=text)]

    found = events(FORMAT, TABLE, lines, few=few, metadata=keys).metadata

    assert [found[key].item() for key in keys] == [ingestion_time, event_time, event_time]


def test_every_row_of_an_event_has_its_metadata(few: int) -> None:
    keys = ("value.table", "value.primary-keys")
    lines = [event("U", row(1, 1), row(1, 2), table="A.B", primary_keys=["id", None])]

    found = events(FORMAT, TABLE, lines, few=few, metadata=keys).metadata

    assert found["value.table"].to_list() == ["A.B", "A.B"]
    assert found["value.primary-keys"].to_list() == [["id", None]] * 2
