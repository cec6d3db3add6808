"""The canal-json format on Spark: events with several rows, partial old images, filters."""

import datetime as dt
import json
from pathlib import Path

import pytest

from tests.connectors.tables import files, read, rows
from tidemark.catalog.tables import Changelog
from tidemark.connectors import registry
from tidemark.errors import DataError


def event(type_, data, old=None, **more):
    return {"data": data, "old": old, "type": type_, **more}


def row(id_, k, v):
    return {"id": str(id_), "k": k, "v": v}


@pytest.fixture
def written(tmp_path):
    """Writes a file of events, or of lines that are none; gives its path."""

    def put(*events):
        lines = (e if isinstance(e, str) else json.dumps(e) for e in events)
        path = tmp_path / "events.json"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    return put


def changes(spark, path: Path, columns: str = "id INT, k STRING, v INT", **options: str):
    return rows(read(spark, files(columns, path, "canal-json", **options)))


def problem(spark, path: Path, **options: str) -> DataError:
    with pytest.raises(DataError) as caught:
        changes(spark, path, **options)
    return caught.value


# --- row kinds ---------------------------------------------------------------------------------


def test_an_event_returns_all_its_rows_in_order(spark, written):
    path = written(
        event("INSERT", [row(1, "a", 10), row(2, "b", 20)]),
        event("UPDATE", [row(1, "c", 10), row(2, "c", 20)], [{"k": "a"}, {"k": "b"}]),
        event("DELETE", [row(2, "c", 20), row(1, "c", 10)]),
    )

    assert changes(spark, path) == [
        (1, "a", 10, "+I"),
        (2, "b", 20, "+I"),
        (1, "a", 10, "-U"),
        (1, "c", 10, "+U"),
        (2, "b", 20, "-U"),
        (2, "c", 20, "+U"),
        (2, "c", 20, "-D"),
        (1, "c", 10, "-D"),
    ]


def test_fields_that_old_does_not_name_are_as_in_data(spark, written):
    path = written(event("UPDATE", [row(1, "b", 11)], [{"v": "10"}]))

    assert changes(spark, path)[0] == (1, "b", 10, "-U")


def test_a_field_that_old_names_as_null_was_null(spark, written):
    path = written(event("UPDATE", [row(1, "b", 11)], [{"k": None}]))

    assert changes(spark, path)[0] == (1, None, 11, "-U")


def test_old_values_may_be_nested(spark, written):
    path = written(event("UPDATE", [{"r": {"x": 2, "y": [1]}}], [{"r": {"x": 1, "y": None}}]))

    before, after = changes(spark, path, "r ROW<x INT, y ARRAY<INT>>")

    assert (tuple(before[0]), tuple(after[0])) == ((1, None), (2, [1]))


@pytest.mark.parametrize("data", [None, []])
def test_statements_that_create_something_are_skipped(spark, written, data):
    path = written({"data": data, "type": "CREATE", "isDdl": True}, event("INSERT", []))

    assert changes(spark, path) == []


def test_empty_lines_are_skipped(spark, written):
    assert changes(spark, written("", event("INSERT", [row(1, "a", 1)]))) == [(1, "a", 1, "+I")]


# --- filters -----------------------------------------------------------------------------------


def test_only_included_databases_and_tables_are_read(spark, written):
    def of(id_, database, table):
        return event("INSERT", [row(id_, "a", 1)], database=database, table=table)

    path = written(of(1, "shop", "o_1"), of(2, "shop", "items"), of(3, "shops", "o_2"), of(4, "shop", "xo_1"))  # fmt: skip
    included = {"canal_json__database__include": "shop", "canal_json__table__include": "o_.|p"}

    assert [r[0] for r in changes(spark, path, **included)] == [1]


def test_events_of_other_tables_need_not_fit_the_columns(spark, written):
    path = written(event("STRANGE", [{"id": "x", "v": {"not": "a number"}}], table="other"))

    assert changes(spark, path, canal_json__table__include="mine") == []


def test_an_event_without_the_name_that_is_filtered_by_is_an_error(spark, written):
    path = written(event("INSERT", [row(1, "a", 1)]))

    error = problem(spark, path, canal_json__table__include="mine")

    assert "missing `table`" in error.message


# --- bad events --------------------------------------------------------------------------------


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
def test_bad_events_are_named_with_file_and_line(spark, written, bad, said):
    path = written(event("INSERT", [row(9, "z", 9)]), bad)

    error = problem(spark, path)

    assert error.message.startswith(f"{path}:2  ")
    assert said in error.message


def test_ignoring_errors_skips_bad_events_and_reads_bad_fields_as_null(spark, written):
    path = written(
        event("ALTER", None),
        event("INSERT", None),
        event("UPDATE", [row(1, "a", 1)]),
        "text",
        event("INSERT", [row(1, "a", "many"), row(2, "b", 2)]),
    )

    assert changes(spark, path, canal_json__ignore_parse_errors="true") == [
        (1, "a", None, "+I"),
        (2, "b", 2, "+I"),
    ]


# --- metadata ----------------------------------------------------------------------------------

ABOUT = """
    id INT,
    db STRING METADATA FROM 'value.database' VIRTUAL,
    tb STRING METADATA FROM 'value.table' VIRTUAL,
    kinds MAP<STRING, INT> METADATA FROM 'value.sql-type' VIRTUAL,
    pk ARRAY<STRING> METADATA FROM 'value.pk-names' VIRTUAL,
    seen TIMESTAMP_LTZ(3) METADATA FROM 'value.ingestion-timestamp' VIRTUAL,
    changed TIMESTAMP_LTZ(3) METADATA FROM 'value.event-timestamp' VIRTUAL,
    older TIMESTAMP_LTZ(3) AS SYSTEM_METADATA("db_operation_time")
"""


def test_every_row_of_an_event_has_the_metadata_of_the_event(spark, written):
    about = {
        "database": "shop",
        "table": "orders",
        "sqlType": {"id": 4, "k": 12},
        "pkNames": ["id"],
        "ts": 1714989601000,
        "es": 1714989600123,
    }
    path = written(event("INSERT", [{"id": 1}, {"id": 2}], **about))
    changed = dt.datetime.fromtimestamp(1714989600.123)

    first, second = changes(spark, path, ABOUT)

    assert first[1:] == second[1:]
    assert first[1:] == (
        "shop", "orders", {"id": 4, "k": 12}, ["id"],
        dt.datetime.fromtimestamp(1714989601), changed, changed, "+I",
    )  # fmt: skip


def test_an_event_without_metadata_has_null_metadata(spark, written):
    (only,) = changes(spark, written(event("INSERT", [{"id": 1}])), ABOUT)

    assert only == (1, *[None] * 7, "+I")


def test_the_planner_hears_of_a_changelog_that_can_be_written():
    traits = registry.traits(files("id INT", "/x", "canal-json"))

    assert (traits.changelog, traits.writable) == (Changelog.RETRACT, True)
    assert traits.accepts_updates
