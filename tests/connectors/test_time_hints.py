"""A time in another spelling than its table's: the error says which option or type reads it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.connectors.tables import files, read, rows
from tidemark.errors import DataError

STANDARD = "'json.timestamp-format.standard'"
ISO = f"{STANDARD} = 'ISO-8601' reads times with a T"
SQL = f"{STANDARD} = 'SQL', the default, reads times with a space"
INSTANT = "TIMESTAMP_LTZ(3) reads times that end in Z"
WALL_CLOCK = "an instant ends in Z; TIMESTAMP(3) reads times without it"
NULL = "'json.ignore-parse-errors' = 'true' reads such fields as NULL"


@pytest.mark.parametrize(
    ("type_", "standard", "text", "hint"),
    [
        ("TIMESTAMP(3)", "SQL", "2024-01-01T00:00:01", ISO),
        ("TIMESTAMP(3)", "SQL", "2024-01-01T00:00:01Z", f"{ISO}; {INSTANT}"),
        ("TIMESTAMP(3)", "ISO-8601", "2024-01-01T00:00:01Z", INSTANT),
        ("TIMESTAMP(3)", "ISO-8601", "2024-01-01 00:00:01", SQL),
        ("TIMESTAMP_LTZ(3)", "SQL", "2024-01-01T00:00:01Z", ISO),
        ("TIMESTAMP_LTZ(3)", "SQL", "2024-01-01 00:00:01", WALL_CLOCK),
        ("TIMESTAMP_LTZ(3)", "ISO-8601", "2024-01-01 00:00:01", f"{SQL}; {WALL_CLOCK}"),
        ("TIMESTAMP(3)", "SQL", "2024-13-01 00:00:01", NULL),
        ("TIMESTAMP(3)", "SQL", "yesterday", NULL),
        ("INT", "SQL", "2024-01-01T00:00:01", NULL),
    ],
)
def test_a_time_in_another_spelling_names_what_reads_it(
    spark: SparkSession, tmp_path: Path, type_: str, standard: str, text: str, hint: str
) -> None:
    path = tmp_path / "f.json"
    path.write_text(f'{{"seen": "{text}"}}\n')
    table = files(f"seen {type_}", path, json__timestamp_format__standard=standard)

    with pytest.raises(DataError) as caught:
        rows(read(spark, table))

    assert caught.value.hint == hint


def test_csv_has_one_spelling_of_times(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text("2024-01-01T00:00:01\n")

    with pytest.raises(DataError) as caught:
        rows(read(spark, files("seen TIMESTAMP(3)", path, "csv")))

    assert caught.value.hint == "write a space between date and time: 2024-01-01 00:00:01"
