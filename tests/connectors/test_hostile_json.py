"""Files that someone did not mean, or did mean: each record is read as Flink reads it, or refused
with its place and the true reason. Nothing vanishes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.connectors.tables import files, read, rows
from tests.formats.hostile import BEFORE, COLUMNS, READ, REFUSED, nested
from tidemark.errors import DataError


def in_files(folder: Path, contents: dict[str, bytes]) -> Path:
    for name, content in contents.items():
        (folder / f"{name}.json").write_bytes(content)
    return folder


def values_by_file(spark: SparkSession, folder: Path, **options: str) -> dict[str, list[Any]]:
    table = files(f"{COLUMNS}, `file.name` STRING METADATA", folder, **options)
    found: dict[str, list[Any]] = {}
    for row in rows(read(spark, table)):
        found.setdefault(row[-1].removesuffix(".json"), []).append(row[0])
    return found


@pytest.mark.parametrize("options", [{}, {"json__ignore_parse_errors": "true"}])
def test_unusual_files_are_read(
    spark: SparkSession, tmp_path: Path, options: dict[str, str]
) -> None:
    folder = in_files(tmp_path, {name: content for name, (content, _) in READ.items()})
    expected = {name: values for name, (_, values) in READ.items() if values}

    assert values_by_file(spark, folder, **options) == expected


# Each of them alone is refused in `formats/test_json.py`; a read of Spark begins and fails for each.
SOME_REFUSED = [*REFUSED][::4]


@pytest.mark.parametrize("name", SOME_REFUSED)
def test_a_record_is_refused_with_its_place_and_the_reason(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    record, reason = REFUSED[name]
    path = tmp_path / "f.json"
    path.write_bytes(BEFORE + record + b"\n" + BEFORE)

    with pytest.raises(DataError) as caught:
        rows(read(spark, files(COLUMNS, path)))

    assert caught.value.message == f"{path}:2  cannot read the record as JSON"
    assert re.search(re.escape(reason), str(caught.value.notes["why"]))
    assert len(str(caught.value)) < 1_000


def test_refused_records_are_left_out_if_errors_are_ignored(
    spark: SparkSession, tmp_path: Path
) -> None:
    contents = {name: record + b"\n" + BEFORE for name, (record, _) in REFUSED.items()}
    found = values_by_file(spark, in_files(tmp_path, contents), json__ignore_parse_errors="true")

    # An object that can be read is kept, without the value that does not fit.
    assert found.pop("a number for a row") == [None, 1]
    assert found == {name: [1] for name in contents if name != "a number for a row"}


# Readings that parse lines which were read as text.
BY_LINES = {
    "json": ({"json__fail_on_missing_field": "true"}, b'{"a":1}'),
    "debezium-json": ({}, b'{"op":"c","after":{"a":1}}'),
    "canal-json": ({}, b'{"type":"INSERT","data":[{"a":1}]}'),
}


@pytest.mark.parametrize("format_", BY_LINES)
def test_lines_may_be_empty_end_in_cr_lf_or_begin_with_a_mark(
    spark: SparkSession, tmp_path: Path, format_: str
) -> None:
    options, record = BY_LINES[format_]
    path = tmp_path / "f.json"
    path.write_bytes(b"\xef\xbb\xbf" + record + b"\r\n\r\n\n\xef\xbb\xbf" + record)

    assert [row[0] for row in rows(read(spark, files("a INT", path, format_, **options)))] == [1, 1]


@pytest.mark.parametrize("format_", BY_LINES)
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b" \t\r", "only white space"),
        (b'{"op":"\xff"}', "its bytes are not valid UTF-8"),
        (nested(2_000), "nested more than 1,000 deep"),
    ],
    ids=("blank", "not UTF-8", "deep"),
)
def test_lines_that_are_not_documents_are_refused(
    spark: SparkSession, tmp_path: Path, format_: str, line: bytes, reason: str
) -> None:
    options, record = BY_LINES[format_]
    path = tmp_path / "f.json"
    path.write_bytes(record + b"\n" + line + b"\n")

    with pytest.raises(DataError, match=r"f.json:2  cannot read the record as JSON") as caught:
        rows(read(spark, files("a INT", path, format_, **options)))

    assert reason in str(caught.value.notes["why"])
