"""The ogg-json format on Spark reads events as the columns do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pyspark.sql import SparkSession

from tests.connectors.tables import files, read, rows
from tests.formats.examples import events
from tidemark.errors import DataError

TIMES = (
    "2020-05-13 15:40:06.123456", "2020-05-13T15:40:06.123456", "2020-05-13T15:40:06", "2020-5-3 1:2:3.5", "2020-05-13",
    "1969-12-31 23:59:59.999999", "1969-12-31T23:59:59.999999", "2020-02-30 00:00:00", "2020-05-13 24:00:00", "yesterday", "", None, 5,
)  # fmt: skip
GOOD: list[Any] = [
    *({"op_type": "I", "after": {"id": 1}, "op_ts": each, "current_ts": each} for each in TIMES),
    {"op_type": "U", "before": {"id": 1}, "after": {"id": 2, "k": "x"}, "table": "A.B"},
    {"op_type": "D", "before": {"id": 2}, "after": {"id": 3}, "primary_keys": ["id", None, 5]},
]
BAD: list[Any] = [
    {"op_type": "T"},
    {"op_type": "I"},
    {"op_type": "U", "after": {"id": 1}},
    {"op_type": "U", "before": {"id": 1}},
    {"op_type": "D"},
    {"after": {"id": 1}},
    {"op_type": "I", "after": 5},
]
COLUMNS = """
    id INT, k STRING,
    t STRING METADATA FROM 'value.table' VIRTUAL,
    pk ARRAY<STRING> METADATA FROM 'value.primary-keys' VIRTUAL,
    seen TIMESTAMP_LTZ(6) METADATA FROM 'value.ingestion-timestamp' VIRTUAL,
    changed TIMESTAMP_LTZ(6) METADATA FROM 'value.event-timestamp' VIRTUAL
"""
KEYS = ("value.table", "value.primary-keys", "value.ingestion-timestamp", "value.event-timestamp")


def table(folder: Path, lines: list[Any], **options: str) -> Any:
    path = folder / "events.json"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return files(COLUMNS, path, "ogg-json", **options)


def in_columns(lines: list[Any], **options: str) -> pl.DataFrame:
    found = events("ogg-json", "id INT, k STRING", lines, metadata=KEYS, **options)
    assert found.kinds is not None
    return found.rows.with_columns(**found.metadata).with_columns(kind=found.kinds)


@pytest.mark.parametrize("options", [{}, {"ogg_json__ignore_parse_errors": "true"}])
def test_events_are_read_alike(
    spark: SparkSession, tmp_path: Path, options: dict[str, str]
) -> None:
    lines = [*GOOD, *BAD] if options else GOOD
    there = pl.from_arrow(read(spark, table(tmp_path, lines, **options)).toArrow())
    assert isinstance(there, pl.DataFrame)
    instants = there.with_columns(pl.col("seen", "changed").dt.convert_time_zone("UTC"))

    assert instants.rows() == in_columns(lines, **options).rows()


@pytest.mark.parametrize("bad", BAD)
def test_bad_events_are_named_alike(spark: SparkSession, tmp_path: Path, bad: Any) -> None:
    lines = [GOOD[0], bad]
    with pytest.raises(DataError) as there:
        rows(read(spark, table(tmp_path, lines)))
    with pytest.raises(DataError) as here:
        in_columns(lines)

    assert there.value.message == here.value.message.replace("f:2", f"{tmp_path}/events.json:2")
    assert there.value.hint == here.value.hint
