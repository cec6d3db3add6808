"""Avro files: read in parts, written in blocks, and refused by name if they are damaged."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.connectors.tables import files
from tests.connectors.test_file_parts import folder, read, request_of
from tests.connectors.test_files_by_workers import target
from tests.searching import searched
from tidemark.connectors import registry
from tidemark.connectors.base import Part
from tidemark.connectors.filesystem import connector, file_parts
from tidemark.connectors.filesystem.connector import local_sink
from tidemark.connectors.formats.base import FormatField
from tidemark.errors import DataError, PlanError
from tidemark.formats import avro_container as container

__all__ = ["folder"]

CODECS = ("null", "deflate", "snappy", "bzip2", "xz", "zstandard")
ROWS = [(n, None if n % 7 == 0 else f"{n} " * (n % 50)) for n in range(2000)]


def written(path: Path, rows: list[tuple[int, str | None]], **options: str) -> Path:
    """A file that the sink has made of the rows."""
    table = files("id INT, s STRING", path, "avro", **options)
    sink = local_sink(target(table, columns=("id", "s")))
    assert sink is not None
    numbers, strings = zip(*rows, strict=True) if rows else ([], [])
    batch = pa.record_batch(
        [pa.array(numbers, pa.int32()), pa.array(strings, pa.string())], ["id", "s"]
    )
    sink.commit(lambda: [note for _, note in sink.write(iter([batch])) if note], None)
    [file] = path.glob("[!._]*")
    return file


@pytest.mark.parametrize("codec", CODECS)
def test_files_are_read_as_they_were_written(tmp_path, codec):
    file = written(tmp_path, ROWS, avro__codec=codec)

    assert read(request_of(file, "avro"), Part(str(file))) == ROWS
    with file.open("rb") as opened:
        assert container.header_of(opened).codec == codec


@searched(30)
@given(cuts=st.lists(st.integers(0, 60_000), max_size=5))
def test_each_block_is_in_one_part(folder, in_small_blocks, cuts):
    file = in_small_blocks
    bounds = [0, *sorted(cuts), os.path.getsize(file)]
    parts = [Part(str(file), start, end) for start, end in pairwise(bounds)]

    assert read(request_of(file, "avro"), *parts) == ROWS


@pytest.fixture(scope="module")
def in_small_blocks(folder) -> Iterator[Path]:
    """A file of many small blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(container, "BLOCK", 700)
        yield written(folder / "blocks", ROWS, avro__codec="deflate")


def test_large_files_are_shared(in_small_blocks, monkeypatch):
    file = in_small_blocks
    monkeypatch.setattr(file_parts, "_SHARED_FROM", 1000)
    monkeypatch.setattr(file_parts, "_SHARE", 10_000)
    request = request_of(file, "avro")

    parts = file_parts.parts(request, [FormatField("id", "id", request.types[0])])

    assert parts is not None and len(parts) == -(-os.path.getsize(file) // 10_000)
    assert read(request, *(part for task in parts for part in task)) == ROWS


def test_a_file_without_rows_has_none(tmp_path):
    schema = {"type": "record", "name": "r", "fields": [{"name": "id", "type": "int"}]}
    (tmp_path / "x").write_bytes(container.header(schema, "null", bytes(16)))

    assert read(request_of(tmp_path, "avro"), Part(str(tmp_path / "x"))) == []


def test_columns_that_a_file_lacks_are_null(tmp_path):
    file = written(tmp_path, ROWS[:3])
    request = request_of(file, "avro")
    table = files("other INT, s STRING", file, "avro")
    request = connector.ColumnsRequest(
        **{
            **{name: getattr(request, name) for name in request.__dataclass_fields__},
            "table": table,
            "columns": ("other", "s"),
            "parts": [Part(str(file))],
        }
    )

    [frame] = connector.read_columns(request)()

    assert frame.rows() == [(None, s) for _, s in ROWS[:3]]


# --- damaged files -----------------------------------------------------------------------------


def problem(file: Path) -> DataError:
    with pytest.raises(DataError) as caught:
        read(request_of(file, "avro"), Part(str(file)))
    assert str(file) in caught.value.message
    return caught.value


def with_header(schema: object, codec: str = "null", *, rest: bytes = b"") -> bytes:
    return container.header(schema, codec, b"m" * 16) + rest


RECORD = {"type": "record", "name": "r", "fields": [{"name": "id", "type": "int"}]}
NODE = {"type": "record", "name": "r", "fields": [{"name": "next", "type": ["null", "r"]}]}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "it is not an Avro file"),
        (b'{"id": 1}', "it is not an Avro file"),
        (b"Obj", "it is not an Avro file"),
        (b"Obj\x01\x02", "its header is incomplete"),
        (with_header(RECORD, "lzo"), "its codec 'lzo' is unknown"),
        (with_header("int"), "its records are not of a record type, but int"),
        (with_header(NODE), "records of type `r` contain themselves"),
        (with_header(RECORD, rest=b"\x02\x02\x02"), "the block at byte 118: it is incomplete"),
        (with_header(RECORD, rest=b"\x02\x02\x02" + b"x" * 16), "the marker after it differs"),
        (with_header(RECORD, "deflate", rest=b"\x02\x02\xff" + b"m" * 16), "cannot be decompressed"),
        (with_header(RECORD, rest=b"\x04\x02\x02" + b"m" * 16), "record 2 of the block at byte 118: `id`"),
        (with_header(RECORD, rest=b"\x02\x04\x02\x02" + b"m" * 16), "1 bytes are left after it"),
        (with_header({**RECORD, "fields": [{"name": "id", "type": "string"}]}), "cannot read `id` as INT: it is string"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_an_error_that_says_where(tmp_path, content, why):
    file = tmp_path / "x.avro"
    file.write_bytes(content)

    assert why in str(problem(file).notes["why"])


def test_a_file_that_was_cut_off_is_an_error(tmp_path):
    file = written(tmp_path, ROWS)
    file.write_bytes(file.read_bytes()[:-100])

    assert "it is incomplete" in str(problem(file).notes["why"])


@searched(60)
@given(at=st.integers(0, 10_000), byte=st.integers(0, 255))
def test_any_other_byte_is_an_error_that_says_so_or_other_rows(folder, in_small_blocks, at, byte):
    content = bytearray(in_small_blocks.read_bytes())
    content[at % len(content)] = byte
    file = folder / "damaged"
    file.write_bytes(content)

    with contextlib.suppress(DataError):
        read(request_of(file, "avro"), Part(str(file)))


# --- what cannot be represented ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ("t TIMESTAMP(6)", "no more than milliseconds"),
        ("t TIMESTAMP_LTZ(3)", "does not write instants"),
        ("`a b` INT", "is not a name in Avro"),
        ("a ROW<b ROW<c INT>>, a_b ROW<d INT>", "two types of the name"),
    ],
)
def test_a_column_that_avro_does_not_have_is_refused(columns, why):
    with pytest.raises(
        PlanError, match=r"the avro format cannot represent (the )?column"
    ) as caught:
        registry.options_of(files(columns, "/x", "avro"))

    assert why in str(caught.value.notes["why"])


def test_the_schema_is_that_of_flink(tmp_path):
    file = written(tmp_path, ROWS[:1])

    with file.open("rb") as opened:
        schema = json.loads(container.header_of(opened).schema)

    assert schema[1]["name"] == "record"
    assert schema[1]["namespace"] == "org.apache.flink.avro.generated"
