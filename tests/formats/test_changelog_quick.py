"""The quick way of reading change events gives what the exact way gives."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.formats.examples import ALWAYS, NEVER, changes, events
from tests.searching import searched
from tidemark.errors import DataError

COLUMNS = "id INT, k STRING, d DECIMAL(6, 2), r ROW<x INT, y STRING>, a ARRAY<INT>"
several = searched(60, suppress_health_check=list(HealthCheck))

absent = st.just("absent")
leaves = st.sampled_from(
    [
        1,
        7,
        "12",
        "x",
        1.5,
        None,
        True,
        '\n"é',
        "2024-01-01",
        {"p": [1, " "], "id": {"k": 1}},
        [1],
        10**12,
    ]
)
row = st.fixed_dictionaries({}, optional={"x": leaves, "y": leaves}) | st.none() | leaves
image = st.fixed_dictionaries(
    {},
    optional={
        "id": st.integers(0, 9) | leaves, "k": leaves, "d": st.integers() | leaves, "r": row,
        "a": st.lists(st.integers(0, 3) | leaves, max_size=3) | leaves, "other": leaves,
    },
)  # fmt: skip
proper = st.fixed_dictionaries(
    {}, optional={"id": st.integers(0, 9), "k": st.text(max_size=3), "r": st.fixed_dictionaries({}, optional={"x": st.none() | st.integers(0, 9)}) | st.none(), "a": st.none() | st.just([1, None])}
)  # fmt: skip
images = proper | proper | image | st.none() | leaves
times = st.sampled_from([1714989601000, "1714989601000", 1.5, " 5 ", "x", None, 10**18, -1, True])
names = st.sampled_from(["shop", "shop", "other", None, 5])


def event(required: dict[str, Any], optional: dict[str, Any]) -> Any:
    return st.fixed_dictionaries(required, optional=optional)


source = event({}, {"db": names, "ts_ms": times, "table": names, "schema": leaves})
debezium = event(
    {"op": st.sampled_from(["c", "r", "u", "d", "d", "u", "x", None, 1])},
    {
        "before": images,
        "after": images,
        "ts_ms": times,
        "source": source | source | leaves,
        "more": leaves,
    },
)
wrapped = event({"payload": debezium | debezium | leaves}, {"schema": leaves})
lists = st.lists(proper, max_size=3)
old = st.lists(proper | proper | images, max_size=3)
canal = event(
    {"type": st.sampled_from(["INSERT", "UPDATE", "UPDATE", "UPDATE", "DELETE", "CREATE", "ALTER", None])},
    {
        "data": lists | lists | st.lists(images, max_size=3) | leaves, "old": old | old | leaves,
        "database": names, "table": names, "ts": times, "es": times,
        "pkNames": st.lists(leaves, max_size=2) | leaves, "sqlType": st.dictionaries(st.sampled_from("ab"), leaves) | leaves,
    },
)  # fmt: skip
seconds = st.sampled_from([1596684883, "1596684883", 1.5, " 5 ", "x", None, 10**18, -1, True])
maxwell = event(
    {"type": st.sampled_from(["insert", "update", "update", "update", "delete", "INSERT", None])},
    {
        "data": proper | proper | images, "old": proper | proper | images,
        "database": names, "table": names, "ts": seconds, "primary_key_columns": st.lists(leaves, max_size=2) | leaves,
    },
)  # fmt: skip
moments = st.sampled_from(
    ["2020-05-13 15:40:06.123456", "2020-05-13T15:40:07.123456", "2020-05-13T15:40:07", "2020-5-3", "2020-05-13 1:2:3.5",
     "1969-12-31 23:59:59.999999", "1969-12-31T23:59:59.999999", "2020-02-30 00:00:00.000000", "x", "", None, 5]
)  # fmt: skip
ogg = event(
    {"op_type": st.sampled_from(["I", "U", "D", "D", "U", "T", "i", None, 1])},
    {
        "before": images, "after": images, "op_ts": moments, "current_ts": moments, "table": names,
        "primary_keys": st.lists(leaves, max_size=2) | leaves,
    },
)  # fmt: skip

DEBEZIUM = (
    "value.source.database", "value.source.table", "value.source.timestamp", "value.ingestion-timestamp", "value.schema"
)  # fmt: skip
CANAL = (
    "value.database", "value.sql-type", "value.pk-names", "value.ingestion-timestamp", "value.event-timestamp"
)  # fmt: skip
MAXWELL = (
    "value.database", "value.table", "value.primary-key-columns", "value.ingestion-timestamp"
)  # fmt: skip
OGG = (
    "value.table", "value.primary-keys", "value.ingestion-timestamp", "value.event-timestamp"
)  # fmt: skip


def outcome(
    format_: str, lines: list[str], few: int, metadata: Any, options: dict[str, str]
) -> Any:
    try:
        found = events(format_, COLUMNS, lines, few=few, metadata=metadata, **options)
    except DataError as error:
        return str(error)
    assert found.kinds is not None
    about = {key: column.to_list() for key, column in found.metadata.items()}
    return found.rows.rows(), found.kinds.to_list(), found.record.to_list(), found.skipped, about


def same(format_: str, chosen: list[Any], metadata: Any, **more: str) -> None:
    lines = [json.dumps(each, ensure_ascii=i % 2 == 0) for i, each in enumerate(chosen)] + [
        "",
        "{",
    ][: len(chosen) % 3]
    name = format_.replace("-", "_")
    for options in ({}, {f"{name}__ignore_parse_errors": "true"}):
        for keys in ((), metadata):
            ways = [
                outcome(format_, lines, few, keys, {**options, **more}) for few in (ALWAYS, NEVER)
            ]
            assert repr(ways[0]) == repr(ways[1])


@several
@given(st.lists(debezium, min_size=1, max_size=6))
def test_debezium_events_are_read_alike(chosen: list[Any]) -> None:
    same("debezium-json", chosen, DEBEZIUM)


@several
@given(st.lists(wrapped, min_size=1, max_size=6))
def test_debezium_events_with_their_schema_are_read_alike(chosen: list[Any]) -> None:
    same("debezium-json", chosen, DEBEZIUM, debezium_json__schema_include="true")


@several
@given(st.lists(canal, min_size=1, max_size=6))
def test_canal_events_are_read_alike(chosen: list[Any]) -> None:
    same("canal-json", chosen, CANAL)


@several
@given(st.lists(canal, min_size=1, max_size=6))
def test_canal_events_of_some_databases_are_read_alike(chosen: list[Any]) -> None:
    same(
        "canal-json",
        chosen,
        CANAL,
        canal_json__database__include="sh.*",
        canal_json__table__include="shop|5",
    )


@several
@given(st.lists(maxwell, min_size=1, max_size=6))
def test_maxwell_events_are_read_alike(chosen: list[Any]) -> None:
    same("maxwell-json", chosen, MAXWELL)


@several
@given(st.lists(ogg, min_size=1, max_size=6))
def test_ogg_events_are_read_alike(chosen: list[Any]) -> None:
    same("ogg-json", chosen, OGG)


def test_maxwell_events_take_the_quick_way() -> None:
    lines = [
        {"database": "shop", "type": "insert", "ts": 1, "data": {"id": 1, "k": "a"}},
        {"type": "update", "ts": 2, "data": {"id": 1, "k": "b"}, "old": {"k": "a"}},
        {"type": "update", "data": {"id": 1, "k": "c"}, "old": {"k": None, "other": 5}},
        {"type": "delete", "data": {"id": 1, "k": "c"}, "commit": True},
    ] * 20

    found = events("maxwell-json", "id INT, k STRING", lines, metadata=MAXWELL)

    assert (found.slow, found.rows.height) == (0, 120)
    assert changes("maxwell-json", "id INT, k STRING", lines)[:6] == [
        (1, "a", "+I"), (1, "a", "-U"), (1, "b", "+U"), (1, None, "-U"), (1, "c", "+U"), (1, "c", "-D"),
    ]  # fmt: skip


def test_ogg_events_take_the_quick_way() -> None:
    lines = [
        {
            "table": "A.B", "op_type": op, "op_ts": "2020-05-13 15:40:06.000000",
            "current_ts": "2020-05-13T15:40:07.000001", "pos": "1", "before": before, "after": after,
        }
        for op, before, after in (("I", None, {"id": 1}), ("U", {"id": 1}, {"id": 2}), ("D", {"id": 2}, None))
    ] * 20  # fmt: skip

    found = events("ogg-json", "id INT, k STRING", lines, metadata=OGG)

    assert (found.slow, found.rows.height) == (0, 80)


def test_canal_events_take_the_quick_way() -> None:
    lines = [
        {"type": "INSERT", "data": [{"id": "1", "k": "a"}], "old": None},
        {
            "type": "UPDATE",
            "data": [{"id": "1", "k": "b"}, {"id": "2", "k": "b"}],
            "old": [{"k": "a"}, {}],
        },
        {"type": "DELETE", "data": [{"id": "1", "k": "b"}], "isDdl": False},
        {"type": "CREATE", "data": None, "sql": 'create "x"'},
    ] * 20

    assert events("canal-json", "id INT, k STRING", lines).slow == 0
    assert changes("canal-json", "id INT, k STRING", lines)[:6] == [
        (1, "a", "+I"), (1, "a", "-U"), (1, "b", "+U"), (2, None, "-U"), (2, "b", "+U"), (1, "b", "-D"),
    ]  # fmt: skip


@pytest.mark.parametrize("schema", [False, True])
def test_debezium_events_of_all_kinds_take_the_quick_way(schema: bool) -> None:
    old, new = {"id": 1, "k": None}, {"id": 1, "k": "é"}
    plain = [
        {"op": op, "before": before, "after": after, "ts_ms": 1, "source": {"db": "shop", "pos": 5}}
        for op, before, after in (
            ("c", None, new),
            ("u", old, new),
            ("d", new, None),
            ("r", None, {"id": 2}),
        )
    ]
    lines = [{"schema": {"fields": [1]}, "payload": each} for each in plain] if schema else plain
    options = {"debezium_json__schema_include": "true"} if schema else {}

    found = events(
        "debezium-json",
        "id INT, k STRING",
        lines * 20,
        metadata=("value.source.database", "value.schema"),
        **options,
    )

    assert found.slow == 0
    assert found.rows.height == 100
