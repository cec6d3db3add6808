"""Debezium events as columns: rows with a kind, and what events say of themselves."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from tests.formats.examples import ALWAYS, NEVER, changes, events
from tidemark.errors import DataError

SNAPSHOT = {"before": None, "after": {"id": 1, "k": "a"}, "op": "r"}
INSERT = {"before": None, "after": {"id": 2, "k": "b"}, "op": "c"}
UPDATE = {"before": {"id": 1, "k": "a"}, "after": {"id": 1, "k": "c"}, "op": "u"}
DELETE = {"before": {"id": 2, "k": "b"}, "after": None, "op": "d"}
FORMAT, TABLE = "debezium-json", "id INT, k STRING"
IGNORE = {"debezium_json__ignore_parse_errors": "true"}
WAYS = pytest.mark.parametrize("few", [ALWAYS, NEVER], ids=("quick", "exact"))


@WAYS
def test_each_event_returns_its_rows_in_order(few: int) -> None:
    lines = [SNAPSHOT, INSERT, UPDATE, "", DELETE, UPDATE]

    assert changes(FORMAT, TABLE, lines, few=few) == [
        (1, "a", "+I"),
        (2, "b", "+I"),
        (1, "a", "-U"),
        (1, "c", "+U"),
        (2, "b", "-D"),
        (1, "a", "-U"),
        (1, "c", "+U"),
    ]
    assert events(FORMAT, TABLE, lines, few=few).record.to_list() == [1, 2, 3, 3, 5, 6, 6]


@WAYS
def test_columns_may_be_called_like_parts_of_the_event(few: int) -> None:
    event = {"after": {"before": "x", "op": "y", "schema": 5}, "op": "c", "transaction": None}

    assert changes(FORMAT, "op STRING, `before` STRING, schema INT", [event], few=few) == [
        ("y", "x", 5, "+I")
    ]


@WAYS
def test_an_envelope_with_the_schema_is_opened(few: int) -> None:
    lines = [{"schema": {"type": "struct"}, "payload": UPDATE}, {"payload": DELETE}]
    option = {"debezium_json__schema_include": "true"}

    assert changes(FORMAT, TABLE, lines, few=few, **option) == [
        (1, "a", "-U"),
        (1, "c", "+U"),
        (2, "b", "-D"),
    ]


@pytest.mark.parametrize(
    ("event", "problem", "detail"),
    [
        (
            {**UPDATE, "before": None},
            "missing `before` in an event with `op` = u",
            "REPLICA IDENTITY",
        ),
        (
            {**DELETE, "before": None},
            "missing `before` in an event with `op` = d",
            "REPLICA IDENTITY",
        ),
        (
            {"before": None, "op": "c"},
            "missing `after` in an event with `op` = c",
            "after the change",
        ),
        ({**INSERT, "op": "t"}, "unknown `op` in a Debezium event: t", "must be c, r, u or d"),
        (
            {"schema": {}, "payload": INSERT},
            "unknown `op` in a Debezium event: none",
            "schema-include",
        ),
        ('{"before": null, "after": ', "cannot read the record as JSON", "not valid JSON"),
        ("null", "cannot read the record as JSON", "not a JSON object"),
        ([INSERT], "cannot read the record as JSON", "structure"),
        (" \t", "cannot read the record as JSON", "only white space"),
        ({**INSERT, "after": 3}, "cannot read the record as JSON", "structure"),
        ({**INSERT, "after": {"id": "many"}}, "cannot read `id` as INT", "'many'"),
    ],
)
@WAYS
def test_a_bad_event_is_named_or_skipped(few: int, event: Any, problem: str, detail: str) -> None:
    with pytest.raises(DataError) as caught:
        events(FORMAT, TABLE, [INSERT, event], few=few)

    assert caught.value.message == f"f:2  {problem}"
    assert detail in str(caught.value)
    found = events(FORMAT, TABLE, [INSERT, event, DELETE], few=few, **IGNORE)
    kept = [2, None, 2] if "many" in str(event) else [2, 2]
    assert (found.rows["id"].to_list(), found.skipped) == (kept, 3 - len(kept))


SOURCE = {"ts_ms": 1714989600123, "db": "shop", "table": "orders", "lsn": 7, "nested": {"a": 1}}
STAMPED = {**UPDATE, "ts_ms": 1714989601000, "source": SOURCE}
EXPECTED = {
    "value.source.timestamp": dt.datetime(2024, 5, 6, 10, 0, 0, 123000, dt.UTC),
    "value.ingestion-timestamp": dt.datetime(2024, 5, 6, 10, 0, 1, tzinfo=dt.UTC),
    "value.source.database": "shop",
    "value.source.schema": None,
    "value.source.table": "orders",
    "db_operation_time": dt.datetime(2024, 5, 6, 10, 0, 0, 123000, dt.UTC),
}
PROPERTIES = {
    "ts_ms": "1714989600123", "db": "shop", "table": "orders", "lsn": "7", "nested": '{"a":1}',
}  # fmt: skip


@WAYS
def test_every_row_of_an_event_has_the_metadata_of_the_event(few: int) -> None:
    found = events(FORMAT, TABLE, [STAMPED, INSERT], few=few, metadata=tuple(EXPECTED))

    assert {key: column.to_list() for key, column in found.metadata.items()} == {
        key: [value, value, None] for key, value in EXPECTED.items()
    }


def test_the_properties_of_the_source_are_strings() -> None:
    found = events(FORMAT, TABLE, [STAMPED], metadata=("value.source.properties",))

    assert found.metadata["value.source.properties"].to_list() == [PROPERTIES] * 2


def test_the_schema_next_to_the_payload_is_metadata() -> None:
    option = {"debezium_json__schema_include": "true"}
    lines = [{"schema": {"type": "struct"}, "payload": INSERT}]

    found = events(FORMAT, TABLE, lines, metadata=("value.schema",), **option)

    assert found.metadata["value.schema"].to_list() == ['{"type":"struct"}']


@WAYS
def test_the_order_of_a_long_file_survives(few: int) -> None:
    lines = [
        {"after": {"id": n}, "op": "c"} if n % 3 else {"op": "r", "after": {"id": n}}
        for n in range(600)
    ]

    assert [row[0] for row in changes(FORMAT, TABLE, lines, few=few)] == list(range(600))
