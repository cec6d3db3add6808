"""The debezium-json format on Spark: events to rows with a kind, what events say of themselves."""

import datetime as dt
import json
from pathlib import Path

import pytest

from tests.connectors.tables import files, read, rows
from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.connectors import registry
from tidemark.errors import DataError

SNAPSHOT = {"before": None, "after": {"id": 1, "k": "a"}, "op": "r"}
INSERT = {"before": None, "after": {"id": 2, "k": "b"}, "op": "c"}
UPDATE = {"before": {"id": 1, "k": "a"}, "after": {"id": 1, "k": "c"}, "op": "u"}
DELETE = {"before": {"id": 2, "k": "b"}, "after": None, "op": "d"}


@pytest.fixture
def written(tmp_path):
    """Writes a file of events, or of lines that are none; gives its path."""

    def put(*events):
        lines = (event if isinstance(event, str) else json.dumps(event) for event in events)
        path = tmp_path / "events.json"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    return put


def changes(spark, path: Path, columns: str = "id INT, k STRING", **options: str):
    return rows(read(spark, files(columns, path, "debezium-json", **options)))


def problem(spark, path: Path, columns: str = "id INT, k STRING", **options: str) -> DataError:
    with pytest.raises(DataError) as caught:
        changes(spark, path, columns, **options)
    return caught.value


# --- row kinds ---------------------------------------------------------------------------------


def test_each_event_returns_its_rows_in_order(spark, written):
    assert changes(spark, written(SNAPSHOT, INSERT, UPDATE, DELETE)) == [
        (1, "a", "+I"),
        (2, "b", "+I"),
        (1, "a", "-U"),
        (1, "c", "+U"),
        (2, "b", "-D"),
    ]


def test_an_update_that_changes_nothing_is_still_two_rows(spark, written):
    same = {"before": {"id": 1, "k": "a"}, "after": {"id": 1, "k": "a"}, "op": "u"}

    assert [kind for *_, kind in changes(spark, written(same))] == ["-U", "+U"]


def test_empty_lines_after_deletes_are_skipped(spark, written):
    assert changes(spark, written(DELETE, "", INSERT, "")) == [(2, "b", "-D"), (2, "b", "+I")]


def test_the_order_of_a_long_file_survives(spark, written):
    events = [{"before": None, "after": {"id": n, "k": None}, "op": "c"} for n in range(2000)]

    assert [row[0] for row in changes(spark, written(*events))] == list(range(2000))


def test_fields_that_no_column_has_are_left_out_and_missing_ones_are_null(spark, written):
    event = {"after": {"id": 1, "other": {"deep": True}}, "op": "c", "transaction": None}

    assert changes(spark, written(event)) == [(1, None, "+I")]


def test_columns_may_be_called_like_parts_of_the_event(spark, written):
    event = {"after": {"before": "x", "op": "y", "schema": 5}, "op": "c"}

    assert changes(spark, written(event), "op STRING, `before` STRING, schema INT") == [
        ("y", "x", 5, "+I")
    ]


def test_values_are_converted_as_in_json(spark, written):
    after = {"d": "1.005", "ts": "2024-01-01T10:00:00", "r": {"x": "7"}, "l": [1, None]}
    columns = "d DECIMAL(10, 2), ts TIMESTAMP(3), r ROW<x INT>, l ARRAY<INT>"
    options = {"debezium_json__timestamp_format__standard": "ISO-8601"}

    ((d, ts, r, items, kind),) = changes(
        spark, written({"after": after, "op": "c"}), columns, **options
    )

    assert (str(d), ts, r.x, items, kind) == (
        "1.01", dt.datetime(2024, 1, 1, 10), 7, [1, None], "+I",
    )  # fmt: skip


def test_an_envelope_with_the_schema_is_opened(spark, written):
    path = written({"schema": {"type": "struct"}, "payload": UPDATE}, {"payload": DELETE})

    assert changes(spark, path, debezium_json__schema_include="true") == [
        (1, "a", "-U"),
        (1, "c", "+U"),
        (2, "b", "-D"),
    ]


def test_a_stream_has_the_row_kinds_too(spark, written, tmp_path):
    table = files("id INT, k STRING", written(SNAPSHOT, UPDATE), "debezium-json")
    query = (
        read(spark, table, streaming=True)
        .writeStream.format("memory")
        .queryName("debezium_stream")
        .trigger(availableNow=True)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    query.awaitTermination()

    assert [tuple(row) for row in spark.table("debezium_stream").collect()] == [
        (1, "a", "+I"),
        (1, "a", "-U"),
        (1, "c", "+U"),
    ]


# --- bad events --------------------------------------------------------------------------------


@pytest.mark.parametrize("op", ["u", "d"])
def test_a_change_without_its_row_before_speaks_of_replica_identity(spark, written, op):
    path = written(INSERT, {"before": None, "after": {"id": 1}, "op": op})

    error = problem(spark, path)

    assert error.message == f"{path}:2  missing `before` in an event with `op` = {op}"
    assert "REPLICA IDENTITY" in error.hint


def test_an_insert_without_a_row_is_an_error(spark, written):
    assert "missing `after`" in problem(spark, written({"before": None, "op": "c"})).message


@pytest.mark.parametrize(("event", "said"), [({**INSERT, "op": "t"}, "t"), ({"id": 1}, "none")])
def test_an_unknown_op_is_named(spark, written, event, said):
    error = problem(spark, written(INSERT, event))

    assert error.message.endswith(f"unknown `op` in a Debezium event: {said}")
    assert ":2" in error.message


def test_an_envelope_that_was_not_declared_is_explained(spark, written):
    error = problem(spark, written({"schema": {}, "payload": INSERT}))

    assert "'debezium-json.schema-include' = 'true'" in error.notes["why"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [('{"before": null, "after": ', "not valid JSON"), ("null", "not a JSON object")],
)
def test_a_line_that_is_not_a_json_object_names_file_line_and_reason(spark, written, line, reason):
    path = written(INSERT, line)

    error = problem(spark, path)

    assert error.message.startswith(f"{path}:2  cannot read the record as JSON")
    assert reason in error.notes["why"]


def test_a_bad_value_names_its_column_and_record(spark, written):
    path = written(INSERT, {"before": None, "after": {"id": "many", "k": "x"}, "op": "c"})

    error = problem(spark, path)

    assert error.message == f"{path}:2  cannot read `id` as INT"
    assert error.notes["value"] == "'many'"


def test_ignoring_errors_skips_bad_events_and_reads_bad_fields_as_null(spark, written):
    path = written(
        INSERT,
        "text",
        {**INSERT, "op": "t"},
        {"before": None, "after": {"id": 1}, "op": "u"},
        {"before": None, "after": {"id": "many", "k": "x"}, "op": "c"},
        UPDATE,
    )

    assert changes(spark, path, debezium_json__ignore_parse_errors="true") == [
        (2, "b", "+I"),
        (None, "x", "+I"),
        (1, "a", "-U"),
        (1, "c", "+U"),
    ]


# --- metadata ----------------------------------------------------------------------------------

ABOUT = """
    id INT,
    changed TIMESTAMP_LTZ(3) METADATA FROM 'value.source.timestamp' VIRTUAL,
    seen TIMESTAMP_LTZ(3) METADATA FROM 'value.ingestion-timestamp' VIRTUAL,
    db STRING METADATA FROM 'value.source.database' VIRTUAL,
    s STRING METADATA FROM 'value.source.schema' VIRTUAL,
    tb STRING METADATA FROM 'value.source.table' VIRTUAL,
    props MAP<STRING, STRING> METADATA FROM 'value.source.properties' VIRTUAL,
    described STRING METADATA FROM 'value.schema' VIRTUAL
"""
SOURCE = {"ts_ms": 1714989600123, "db": "shop", "table": "orders", "lsn": 7, "nested": {"a": 1}}
STAMPED = {**UPDATE, "ts_ms": 1714989601000, "source": SOURCE}


def instant(milliseconds: int) -> dt.datetime:
    return dt.datetime.fromtimestamp(milliseconds / 1000)


def test_every_row_of_an_event_has_the_metadata_of_the_event(spark, written):
    first, second = changes(spark, written(STAMPED), ABOUT)

    assert first[1:6] == second[1:6]
    assert first[1:6] == (
        instant(1714989600123), instant(1714989601000), "shop", None, "orders",
    )  # fmt: skip
    assert first[6] == {
        "ts_ms": "1714989600123", "db": "shop", "table": "orders", "lsn": "7", "nested": '{"a":1}',
    }  # fmt: skip
    assert first[7:] == (None, "-U")


def test_an_event_without_metadata_has_null_metadata(spark, written):
    (row,) = changes(spark, written(INSERT), ABOUT)

    assert row == (2, None, None, None, None, None, None, None, "+I")


def test_the_schema_next_to_the_payload_is_metadata(spark, written):
    path = written({"schema": {"type": "struct"}, "payload": STAMPED})

    first, _ = changes(spark, path, ABOUT, debezium_json__schema_include="true")

    assert json.loads(first[7]) == {"type": "struct"}
    assert first[3] == "shop"


def test_the_older_spelling_of_the_change_time_is_that_of_the_source(spark, written):
    columns = 'id INT, changed TIMESTAMP_LTZ(3) AS SYSTEM_METADATA("db_operation_time")'

    assert changes(spark, written(STAMPED), columns)[0] == (1, instant(1714989600123), "-U")


def test_metadata_of_the_file_and_of_the_event_can_be_combined(spark, written):
    columns = "id INT, db STRING METADATA FROM 'value.source.database', `file.name` STRING METADATA"

    assert changes(spark, written(STAMPED), columns)[1] == (1, "shop", "events.json", "+U")


def test_the_planner_hears_of_a_changelog_that_can_be_written():
    traits = registry.traits(files("id INT", "/x", "debezium-json"))

    assert (traits.changelog, traits.writable) == (Changelog.RETRACT, True)
    assert traits.accepts_updates
    assert traits.metadata["value.source.timestamp"] == t.TimestampLtz(3)
