"""The maxwell-json format on Spark reads events as the columns do, and writes them."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.connectors.tables import files, read, rows, write
from tests.formats.examples import events
from tidemark.catalog.tables import Changelog
from tidemark.connectors import registry
from tidemark.errors import DataError, OptionError, PlanError

COLUMNS = "id INT, k STRING, r ROW<x INT, y STRING>"
DATA = {"id": 1, "k": "b", "r": {"x": 1}}
GOOD = [
    {"type": "insert", "data": {"id": 1}},
    {"type": "update", "data": DATA, "old": {"k": "a"}},
    {"type": "update", "data": DATA, "old": {"k": None, "other": 1}},
    {"type": "update", "data": DATA, "old": {"r": {"x": 2, "k": 7}}},
    {"type": "update", "data": DATA, "old": {"other": [{"r": 5}], "k": {"id": 2}}},
    {"type": "update", "data": DATA, "old": {"other": 'so "k": 5', "r": None}},
    {"type": "update", "data": DATA, "old": {}},
    {"type": "delete", "data": DATA, "old": None},
]
BAD = [
    {"type": "insert", "data": None},
    {"type": "update", "data": DATA},
    {"type": "update", "data": DATA, "old": "text"},
    {"type": "INSERT", "data": DATA},
    {"data": DATA},
    {"type": "insert", "data": "text"},
    {"type": "insert", "data": {"id": "x"}},
]


def written(folder: Path, lines: list[Any]) -> Path:
    path = folder / "events.json"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def on_spark(spark: SparkSession, path: Path, **options: str) -> list[Any]:
    found = rows(read(spark, files(COLUMNS, path, "maxwell-json", **options)))
    return [(id_, k, None if r is None else r.asDict(), kind) for id_, k, r, kind in found]


def in_columns(lines: list[Any], **options: str) -> list[Any]:
    found = events("maxwell-json", COLUMNS, lines, **options)
    assert found.kinds is not None
    return [(*row, kind) for row, kind in zip(found.rows.rows(), found.kinds, strict=True)]


def test_good_events_are_read_alike(spark: SparkSession, tmp_path: Path) -> None:
    assert on_spark(spark, written(tmp_path, GOOD)) == in_columns(GOOD)


def test_bad_events_are_skipped_alike(spark: SparkSession, tmp_path: Path) -> None:
    lines = [*BAD, {"type": "update", "data": DATA, "old": {"r": 5}}, *GOOD]
    ignoring = {"maxwell_json__ignore_parse_errors": "true"}

    assert on_spark(spark, written(tmp_path, lines), **ignoring) == in_columns(lines, **ignoring)


@pytest.mark.parametrize("bad", BAD)
def test_bad_events_are_named_alike(spark: SparkSession, tmp_path: Path, bad: Any) -> None:
    path = written(tmp_path, [GOOD[0], bad])
    with pytest.raises(DataError) as there:
        on_spark(spark, path)
    with pytest.raises(DataError) as here:
        in_columns([GOOD[0], bad])

    assert there.value.message == here.value.message.replace("f:2", f"{path}:2")
    assert there.value.hint == here.value.hint


def test_metadata_is_read(spark: SparkSession, tmp_path: Path) -> None:
    columns = """
        id INT,
        db STRING METADATA FROM 'value.database' VIRTUAL,
        tb STRING METADATA FROM 'value.table' VIRTUAL,
        pk ARRAY<STRING> METADATA FROM 'value.primary-key-columns' VIRTUAL,
        seen TIMESTAMP_LTZ(3) METADATA FROM 'value.ingestion-timestamp' VIRTUAL
    """
    about = {"database": "d", "table": "t", "primary_key_columns": ["id"], "ts": 1596684883}
    plain = {"type": "insert", "data": {"id": 2}}
    path = written(tmp_path, [{**plain, **about}, {**plain, "ts": "x"}, {**plain, "ts": 1.9}])

    assert rows(read(spark, files(columns, path, "maxwell-json"))) == [
        (2, "d", "t", ["id"], dt.datetime.fromtimestamp(1596684883), "+I"),
        (2, None, None, None, None, "+I"),
        (2, None, None, None, dt.datetime.fromtimestamp(1), "+I"),
    ]


# --- writing -----------------------------------------------------------------------------------

FORMATS = ("canal-json", "debezium-json", "maxwell-json", "ogg-json")
CHANGES = (
    "SELECT * FROM VALUES (1, 'a\"é', '+I'), (1, 'a\"é', '-U'), (1, NULL, '+U'), (1, NULL, '-D')"
    " AS t(id, k, _tm_kind)"
)


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("without_nulls", ["true", "false"])
def test_spark_writes_changes_as_workers_do(
    spark: SparkSession, tmp_path: Path, format_: str, without_nulls: str
) -> None:
    import polars as pl

    from tests.formats.examples import fields_of
    from tidemark.formats.encoders import bytes_of, encoded

    option = f"{format_}.encode.ignore-null-fields"
    options = {option.replace(".", "__").replace("-", "_"): without_nulls}
    table = files("id INT, k STRING", tmp_path / "out", format_, **options)
    assert registry.traits(table).accepts_updates
    frame = spark.sql(CHANGES).coalesce(1)

    write(table, frame, changelog=Changelog.RETRACT)

    [file] = (tmp_path / "out").iterdir()
    changes = pl.from_arrow(frame.toArrow())
    assert isinstance(changes, pl.DataFrame)
    fields = fields_of("id INT, k STRING")
    expected = encoded(format_, changes, fields, {option: without_nulls == "true"})
    assert file.read_bytes() == bytes_of(expected).to_pybytes()
    assert [kind for *_, kind in rows(read(spark, table))] == ["+I", "-D", "+I", "-D"]


def test_rows_that_are_all_inserts_are_written_too(spark: SparkSession, tmp_path: Path) -> None:
    table = files("id INT, p STRING", tmp_path / "out", "ogg-json", tail="PARTITIONED BY (p)")

    write(table, spark.sql("SELECT 1 AS id, 'x' AS p"))

    assert rows(read(spark, table)) == [(1, "x", "+I")]
    [file] = (tmp_path / "out" / "p=x").iterdir()
    assert file.read_text() == '{"before":null,"after":{"id":1},"op_type":"I"}\n'


def test_what_cannot_be_written_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.sql(CHANGES)
    table = files("id INT, k STRING", tmp_path / "out", "maxwell-json")
    with pytest.raises(PlanError, match="needs the rows before updates"):
        write(table, frame, changelog=Changelog.UPSERT)
    table = files("id INT", tmp_path / "out", "debezium-json", debezium_json__schema_include="true")
    with pytest.raises(OptionError, match="cannot be written with their schema"):
        write(table, frame, changelog=Changelog.RETRACT)
