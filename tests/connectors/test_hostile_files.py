"""Files of another format than their table's, and damaged ones: refused with a reason."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import orc, parquet
from pyspark.sql import SparkSession

from tests.connectors.tables import files, read
from tidemark.errors import DataError, TidemarkError
from tidemark.session.failures import diagnose

TABLE = pa.table({"a": pa.array([1, 2], pa.int32())})


def as_parquet(table: pa.Table) -> bytes:
    file = io.BytesIO()
    parquet.write_table(table, file)
    return file.getvalue()


def as_orc(table: pa.Table) -> bytes:
    file = io.BytesIO()
    orc.write_table(table, file)
    return file.getvalue()


def as_damaged_parquet() -> bytes:
    """With another value than was written."""
    file, values = io.BytesIO(), pa.table({"a": pa.array(range(1000), pa.int32())})
    parquet.write_table(values, file, None, use_dictionary=False, compression="none", write_page_checksum=True)  # fmt: skip
    return file.getvalue().replace(b"\xf4\x01\0\0", b"\xf5\x01\0\0", 1)


TEXT = b"not what was expected\n" * 3
REFUSED: dict[str, tuple[str, str, bytes, str]] = {
    "text as parquet": ("parquet", "x", TEXT, "not a Parquet file"),
    "a parquet file of 4 bytes": ("parquet", "x", b"PAR1", "not a Parquet file"),
    "a parquet file cut off": ("parquet", "x", as_parquet(TABLE)[:-20], "not a Parquet file"),
    "an empty parquet file": ("parquet", "x", b"", "it is empty"),
    "another type": ("parquet", "x", as_parquet(pa.table({"a": [2**40]})), "INT64"),
    "orc as parquet": ("parquet", "x", as_orc(TABLE), "not a Parquet file"),
    "a damaged parquet file": ("parquet", "x", as_damaged_parquet(), "CRC"),
    "text as orc": ("orc", "x", TEXT, "Malformed ORC file"),
    "parquet as orc": ("orc", "x", as_parquet(TABLE), "Malformed ORC file"),
    "gzip cut off": ("json", "x.gz", gzip.compress(b'{"a":1}\n' * 1_000)[:-10], "stream"),
    "no gzip": ("json", "x.gz", b'{"a":1}\n' * 9, "gzip"),
}


def failure_of(read_it: Any) -> TidemarkError:
    try:
        read_it()
    except TidemarkError as failure:
        return failure
    except Exception as failure:
        return diagnose(failure)
    pytest.fail("the file was read")


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_cannot_be_read_is_refused_with_its_name_and_the_reason(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    format_, file, content, reason = REFUSED[name]
    path = tmp_path / file
    path.write_bytes(content)

    failure = failure_of(lambda: read(spark, files("a INT", path, format_)).collect())

    assert (type(failure), failure.message) == (DataError, f"{path}  cannot read the file")
    assert reason in str(failure.notes["why"])


@pytest.mark.parametrize("ignore", ["true", "false"])
def test_a_csv_record_of_many_fields_is_like_any_with_too_many(
    spark: SparkSession, tmp_path: Path, ignore: str
) -> None:
    path = tmp_path / "f.csv"
    path.write_bytes(b"1,x\n" + b"1," * 30_000 + b"\n2,y\n")
    table = files("a INT, s STRING", path, "csv", csv__ignore_parse_errors=ignore)

    if ignore == "true":
        assert [tuple(row) for row in read(spark, table).collect()] == [(1, "x"), (2, "y")]
    else:
        failure = failure_of(lambda: read(spark, table).collect())
        assert failure.notes["why"] == "expected 2 fields, found 30001"
