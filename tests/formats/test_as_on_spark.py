"""Nasty records are decoded as Spark reads them: one file with each value in each column."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pyspark.sql import SparkSession

from tests.connectors.tables import files, read
from tests.formats.examples import ALWAYS, NEVER, decoded
from tests.formats.test_json import VALUES

# A nested value that does not fit is NULL as a whole on Spark, if it is an element of an array.
NESTED = ("ARRAY", "MAP", "MULTISET", "ROW")
TYPES = [type_ for type_ in VALUES if not type_.startswith(NESTED)]
COLUMNS = ", ".join(f"v{i} {type_}" for i, type_ in enumerate(TYPES))
FRAGMENTS = sorted({value for values in VALUES.values() for value in values})
# Spark's reader does not tell a number from a string that looks like one, and returns the text of
# an array.
DIFFERENT = {
    **dict.fromkeys(("INT", "BIGINT"), re.compile(r'"[+-]?[0-9]*[.][0-9]*"')),
    "STRING": re.compile(r":\[.* "),
}
FIELDS = (
    "1", "-7", "+3", " 4 ", "1.5", "1.255", "x", "", "true", " TRUE", "1e2", "inf", "2024-01-01", "2024-1-1", "10:00", "10:00:00.123",
    "24:00:00", "2024-01-01 10:00:00.5", "2024-01-01 10:00:00.5Z", "2024-02-30 10:00:00", "aGVsbG8=", "é", "99999999999999999999",
)  # fmt: skip


def on_spark(spark: SparkSession, path: Path, format_: str, **options: str) -> pl.DataFrame:
    table: Any = read(spark, files(COLUMNS, path, format_, **options)).toArrow()
    found = pl.from_arrow(table)
    assert isinstance(found, pl.DataFrame)
    instants = [name for name, type_ in found.schema.items() if getattr(type_, "time_zone", None)]
    return found.with_columns(pl.col(instants).dt.convert_time_zone("UTC"))


@pytest.mark.parametrize("few", [ALWAYS, NEVER], ids=("quick", "exact"))
def test_each_json_value_is_the_same_in_each_column(
    spark: SparkSession, tmp_path: Path, few: int
) -> None:
    lines = [f'{{"v{i}":{value}}}' for i in range(len(TYPES)) for value in FRAGMENTS]
    path = tmp_path / "f.json"
    path.write_text("\n".join(lines), encoding="utf-8")
    options = {"json__ignore_parse_errors": "true"}

    found = decoded("json", COLUMNS, path.read_bytes(), few=few, **options)

    differing(on_spark(spark, path, "json", **options), found.rows, lines)


@pytest.mark.parametrize("few", [ALWAYS, NEVER], ids=("quick", "exact"))
def test_each_csv_field_is_the_same_in_each_column(
    spark: SparkSession, tmp_path: Path, few: int
) -> None:
    lines = [",".join([field] * len(TYPES)) for field in FIELDS]
    path = tmp_path / "f.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    options = {"csv__ignore_parse_errors": "true"}

    found = decoded("csv", COLUMNS, path.read_bytes(), few=few, **options)

    differing(on_spark(spark, path, "csv", **options), found.rows, lines)


def differing(there: pl.DataFrame, here: pl.DataFrame, lines: list[str]) -> None:
    """Compares column by column, so that a failure names type, record and values."""
    assert there.height == here.height == len(lines)
    found = [
        (type_, line, one, two)
        for type_, column in zip(TYPES, here.columns, strict=True)
        for line, one, two in zip(lines, there[column], here[column], strict=True)
        if repr(one) != repr(two) and not (type_ in DIFFERENT and DIFFERENT[type_].search(line))
    ]
    assert found == []
