"""Rows become records: keys, values, tombstones and metadata."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import polars as pl
import pyarrow as pa
import pytest

from tests.registry import running
from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.connectors.kafka.target import encoding_of
from tidemark.errors import DataError, PlanError
from tidemark.formats.decoders import decoder

from .tables import encoded, kafka_table, rows_of, target_of

JSON = "'format' = 'json'"
KEYED = "'key.format' = 'json', 'key.fields' = 'id', 'value.format' = 'json'"


def pairs(records):
    return [(record["key"], record["value"]) for record in records]


def test_without_a_key_all_columns_are_in_the_value():
    table = kafka_table("id INT, name STRING", JSON)

    assert pairs(encoded(table, rows_of({"id": [1], "name": ["x"]}))) == [
        (None, b'{"id":1,"name":"x"}')
    ]


def test_key_columns_are_in_the_value_too_unless_the_table_says_otherwise():
    rows = rows_of({"id": [1], "name": ["x"]})
    with_key = kafka_table("id INT, name STRING", KEYED)
    without = kafka_table("id INT, name STRING", f"{KEYED}, 'value.fields-include' = 'EXCEPT_KEY'")

    assert pairs(encoded(with_key, rows)) == [(b'{"id":1}', b'{"id":1,"name":"x"}')]
    assert pairs(encoded(without, rows)) == [(b'{"id":1}', b'{"name":"x"}')]


def test_a_value_may_have_no_columns():
    table = kafka_table("id INT", f"{KEYED}, 'value.fields-include' = 'EXCEPT_KEY'")

    assert pairs(encoded(table, rows_of({"id": [1, 2]}))) == [
        (b'{"id":1}', b"{}"),
        (b'{"id":2}', b"{}"),
    ]


def test_the_prefix_of_key_columns_is_not_in_the_key():
    table = kafka_table(
        "k_id INT, k_at INT, id INT",
        "'key.format' = 'csv', 'key.fields' = 'k_at;k_id', 'key.fields-prefix' = 'k_', "
        "'value.format' = 'json', 'value.fields-include' = 'EXCEPT_KEY'",
    )

    # Keys have the order of `key.fields`.
    assert pairs(encoded(table, rows_of({"k_id": [1], "k_at": [2], "id": [3]}))) == [
        (b"2,1", b'{"id":3}')
    ]


@pytest.mark.parametrize(
    ("format_", "value"),
    [
        ("'format' = 'csv'", b"7"),
        ("'format' = 'csv', 'csv.null-literal' = 'n'", b"7"),
        ("'format' = 'raw'", b"\x00\x00\x00\x07"),
        ("'format' = 'raw', 'raw.endianness' = 'little-endian'", b"\x07\x00\x00\x00"),
        ("'format' = 'avro'", b"\x02\x0e"),
        ("'value.format' = 'json'", b'{"id":7}'),
    ],
)
def test_values_are_single_messages_of_their_format(format_, value):
    assert pairs(
        encoded(kafka_table("id INT", format_), rows_of({"id": [7]}, {"id": pl.Int32}))
    ) == [(None, value)]


@pytest.mark.parametrize("type_", ["STRING", "INT", "BOOLEAN", "BYTES"])
def test_null_in_the_raw_format_is_a_record_without_a_value(type_):
    dtypes = {"STRING": pl.String, "INT": pl.Int32, "BOOLEAN": pl.Boolean, "BYTES": pl.Binary}
    rows = rows_of({"x": [None]}, {"x": dtypes[type_]})

    assert pairs(encoded(kafka_table(f"x {type_}", "'format' = 'raw'"), rows)) == [(None, None)]


def test_the_schema_of_avro_is_that_of_the_table_whatever_the_query_returns():
    # Observed in Flink 2.3: of a nullable column, the value is in a union.
    table = kafka_table(
        "id INT, n BIGINT, PRIMARY KEY (id) NOT ENFORCED",
        "'key.format' = 'avro', 'value.format' = 'avro'",
        "upsert-kafka",
    )
    never_null = replace(target_of(table), types=(t.Int(nullable=False), t.BigInt(nullable=False)))

    records = encoding_of(never_null)(rows_of({"id": [1], "n": [3]})).to_pylist()

    assert pairs(records) == [(b"\x02", b"\x02\x02\x06")]


def test_instants_are_written_to_avro_unless_times_are_mapped_as_they_once_were():
    # Observed in Flink 2.3.
    columns, rows = (
        "t TIMESTAMP_LTZ(3)",
        rows_of({"t": [dt.datetime(2024, 1, 2, 3, 4, 5, 678_000)]}),
    )
    table = kafka_table(columns, "'format' = 'avro', 'avro.timestamp_mapping.legacy' = 'false'")

    assert pairs(encoded(table, rows)) == [(None, b"\x02\xdc\xec\x86\x82\x99c")]
    with pytest.raises(PlanError, match="cannot represent column `t`"):
        encoded(kafka_table(columns, "'format' = 'avro'"), rows)


def test_times_with_microseconds_in_avro_have_a_hint():
    table = kafka_table("t TIMESTAMP", "'format' = 'avro'")

    with pytest.raises(PlanError) as caught:
        encoded(table, rows_of({"t": [dt.datetime(2024, 1, 2)]}))

    assert caught.value.hint == "declare it as TIMESTAMP(3)"


def test_options_of_formats_have_the_prefix_of_key_or_value():
    table = kafka_table(
        "id STRING, t TIMESTAMP(3)",
        "'key.format' = 'csv', 'key.csv.field-delimiter' = ';', 'key.fields' = 'id;t', "
        "'value.format' = 'json', 'value.json.timestamp-format.standard' = 'ISO-8601'",
    )
    rows = rows_of({"id": ["a"], "t": [dt.datetime(2024, 1, 1, 9)]})

    [(key, value)] = pairs(encoded(table, rows))
    assert key.startswith(b'a;"2024-01-01 09:00:00')
    assert value == b'{"id":"a","t":"2024-01-01T09:00:00"}'


# --- changes -----------------------------------------------------------------------------------

UPSERT = "'key.format' = 'json', 'value.format' = 'json'"
COUNTS = "id INT, n INT, PRIMARY KEY (id) NOT ENFORCED"


def changes(*each: str):
    """`+I 1 10` is a row 1, 10 with its kind."""
    kinds, ids, counts = zip(*(change.split() for change in each), strict=True)
    values = {"id": [*map(int, ids)], "n": [*map(int, counts)], "_tm_kind": [*kinds]}
    return rows_of(values)


def test_a_deleted_row_is_a_tombstone():
    table = kafka_table(COUNTS, UPSERT, "upsert-kafka")
    rows = changes("+I 1 10", "-D 1 10", "+I 2 20")

    assert pairs(encoded(table, rows, Changelog.RETRACT)) == [
        (b'{"id":1}', b'{"id":1,"n":10}'),
        (b'{"id":1}', None),
        (b'{"id":2}', b'{"id":2,"n":20}'),
    ]


def test_the_row_before_an_update_is_not_written_unless_its_key_ends():
    table = kafka_table(COUNTS, UPSERT, "upsert-kafka")
    rows = changes("-U 1 10", "+U 1 11", "-U 2 20", "+U 3 20")

    assert pairs(encoded(table, rows, Changelog.RETRACT)) == [
        (b'{"id":1}', b'{"id":1,"n":11}'),
        (b'{"id":2}', None),
        (b'{"id":3}', b'{"id":3,"n":20}'),
    ]


def test_with_a_buffer_only_the_last_change_of_each_key_is_written():
    buffer = "'sink.buffer-flush.max-rows' = '9', 'sink.buffer-flush.interval' = '1 s'"
    table = kafka_table(COUNTS, f"{UPSERT}, {buffer}", "upsert-kafka")
    rows = changes("+I 1 10", "+I 2 20", "-U 1 10", "+U 1 11", "-D 2 20")

    assert pairs(encoded(table, rows, Changelog.RETRACT)) == [
        (b'{"id":1}', b'{"id":1,"n":11}'),
        (b'{"id":2}', None),
    ]


def test_rows_that_are_all_inserts_are_upserts_too():
    table = kafka_table(COUNTS, UPSERT, "upsert-kafka")

    assert pairs(encoded(table, rows_of({"id": [1, 1], "n": [1, 2]}))) == [
        (b'{"id":1}', b'{"id":1,"n":1}'),
        (b'{"id":1}', b'{"id":1,"n":2}'),
    ]


def test_formats_of_changes_have_an_event_for_each():
    table = kafka_table("id INT, n INT", "'format' = 'debezium-json'")

    assert pairs(encoded(table, changes("+I 1 10", "-D 1 10"), Changelog.RETRACT)) == [
        (None, b'{"before":null,"after":{"id":1,"n":10},"op":"c"}'),
        (None, b'{"before":{"id":1,"n":10},"after":null,"op":"d"}'),
    ]


@pytest.mark.parametrize(
    ("format_", "changelog", "message"),
    [
        ("json", Changelog.RETRACT, "accepts only inserts"),
        ("canal-json", Changelog.UPSERT, "needs the rows before updates"),
    ],
)
def test_a_format_that_cannot_have_the_changes_is_an_error(format_, changelog, message):
    table = kafka_table("id INT, n INT", f"'format' = '{format_}'")

    with pytest.raises(PlanError, match=message):
        encoded(table, changes("+I 1 10"), changelog)


# --- metadata ----------------------------------------------------------------------------------


def test_times_and_headers_are_metadata():
    table = kafka_table(
        "ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', id INT, headers MAP<STRING, BYTES> METADATA",
        JSON,
    )

    time = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
    headers = pa.array([[("h", b"x")], None], pa.map_(pa.string(), pa.binary()))
    rows = rows_of({"ts": [time, None], "id": [1, 2]}).append_column("headers", headers)

    assert encoded(table, rows) == [
        {"key": None, "value": b'{"id":1}', "timestamp": 1704067200000, "headers": [("h", b"x")]},
        {"key": None, "value": b'{"id":2}', "timestamp": None, "headers": None},
    ]


def test_a_timestamp_without_a_zone_is_one_of_the_session():
    table = kafka_table("id INT, ts TIMESTAMP(3) METADATA FROM 'timestamp'", JSON)
    rows = rows_of({"id": [1], "ts": [dt.datetime(2024, 1, 1, 1)]})

    [record] = encoded(table, rows, zone="Europe/Berlin")
    assert record["timestamp"] == 1704067200000


def test_rows_say_their_topic_if_the_table_has_several():
    table = kafka_table("id INT, topic STRING NOT NULL METADATA", f"'topic' = 'a;b', {JSON}")

    records = encoded(table, rows_of({"id": [1, 2], "topic": ["a", "b"]}))
    assert [record["topic"] for record in records] == ["a", "b"]


@pytest.mark.parametrize(
    ("topics", "name", "why"),
    [
        ("'topic' = 'a;b'", "c", "the table allows a, b"),
        ("'topic-pattern' = 'a.*'", "ba", "the table allows a"),
        ("'topic-pattern' = 'a.*'", None, "is NULL"),
    ],
)
def test_a_topic_that_the_table_does_not_have_is_an_error(topics, name, why):
    table = kafka_table("id INT, topic STRING METADATA", f"{topics}, {JSON}")

    with pytest.raises(DataError) as caught:
        encoded(table, rows_of({"id": [1], "topic": [name]}, {"topic": pl.String}))
    assert why in str(caught.value.notes["why"])


def test_several_topics_need_a_column_that_says_which():
    with pytest.raises(PlanError, match="do not say which topic"):
        encoded(kafka_table("id INT", f"'topic' = 'a;b', {JSON}"), rows_of({"id": [1]}))


@pytest.mark.parametrize("key", ["partition", "offset", "topic", "nonsense"])
def test_other_metadata_must_be_virtual(key):
    table = kafka_table(f"id INT, x INT METADATA FROM '{key}'", JSON)

    with pytest.raises(PlanError, match="cannot write the metadata column `x`"):
        encoded(table, rows_of({"id": [1], "x": [1]}))


@pytest.mark.parametrize(
    ("column", "type_", "expected"),
    [
        ("timestamp", "STRING", "TIMESTAMP_LTZ(3)"),
        ("timestamp", "BIGINT", "TIMESTAMP_LTZ(3)"),
        ("headers", "MAP<INT, BYTES>", "MAP<STRING"),
    ],
)
def test_metadata_that_is_written_has_the_type_of_the_metadata(column, type_, expected):
    table = kafka_table(f"id INT, x {type_} METADATA FROM '{column}'", JSON)

    with pytest.raises(PlanError, match="cannot write the metadata column `x`") as caught:
        encoded(table, rows_of({"id": [1], "x": [None]}))
    assert expected in str(caught.value.notes["expected"])


@pytest.mark.parametrize("format_", ["avro-confluent", "debezium-avro-confluent"])
def test_schemas_are_registered_for_the_topic_and_found_by_readers(format_):
    with running() as registry:
        table = kafka_table(
            "id INT, name STRING",
            "'key.format' = 'avro-confluent', 'key.fields' = 'id', "
            f"'value.format' = '{format_}', 'value.{format_}.url' = '{registry.url}', "
            f"'key.avro-confluent.url' = '{registry.url}'",
        )
        rows = rows_of({"id": [7, None], "name": ["x", None]})
        records = encoded(table, rows)
        options = {f"{format_}.url": registry.url}
        fields = [t.Field("id", t.Int()), t.Field("name", t.STRING)]
        decoded = decoder(format_, fields, options)(pa.array([r["value"] for r in records]))

    assert sorted(registry.subjects) == ["t-key", "t-value"]
    assert decoded.rows.rows() == [(7, "x"), (None, None)]
