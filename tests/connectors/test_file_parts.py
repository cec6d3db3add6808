"""The parts of files that workers share: each line is read once, wherever the cuts are."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import zlib
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.connectors.tables import files
from tests.searching import searched
from tidemark import types as t
from tidemark.connectors import registry
from tidemark.connectors.base import ColumnsRequest, Part
from tidemark.connectors.filesystem import connector, file_parts, files_columns
from tidemark.connectors.filesystem.file_blocks import blocks
from tidemark.errors import DataError
from tidemark.formats.csv_cut import CsvCut
from tidemark.formats.csv_style import Style
from tidemark.storage import Location

STRINGS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


def request_of(path: Path, format_: str = "json", **options: str) -> ColumnsRequest:
    table = files("id INT, s STRING", path, format_, **options)
    return ColumnsRequest(
        table=table,
        options=registry.options_of(table),
        columns=("id", "s"),
        types=(t.Int(), t.VarChar()),
        metadata=(),
        zone="UTC",
        now=datetime.now(UTC),
    )


def read(request: ColumnsRequest, *parts: Part) -> list[tuple[int, str]]:
    frames = connector.read_columns(replace(request, parts=parts))
    return [row for frame in frames() for row in frame.rows()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("parts")


@searched(60)
@given(
    strings=st.lists(STRINGS, max_size=12),
    cuts=st.lists(st.integers(0, 600), max_size=4),
    ends=st.booleans(),
)
def test_each_line_is_in_one_part(folder, strings, cuts, ends):
    rows = list(enumerate(strings))
    lines = [json.dumps({"id": i, "s": s}, ensure_ascii=False) for i, s in rows]
    content = ("\n".join(lines) + "\n" * (ends and bool(lines))).encode()
    file = folder / "rows.json"
    file.write_bytes(content)
    bounds = sorted({0, len(content), *(min(cut, len(content)) for cut in cuts)})

    request = request_of(file)
    parts = [read(request, Part(str(file), *bounds)) for bounds in pairwise(bounds)]

    assert [row for part in parts for row in part] == rows
    assert read(request, Part(str(file))) == rows


def test_an_error_has_the_number_of_its_line_in_the_file(tmp_path):
    file = tmp_path / "rows.json"
    good = json.dumps({"id": 1, "s": "a"}) + "\n"
    file.write_text(good * 10 + '{"id": "x"}\n' + good)

    with pytest.raises(DataError, match=r"rows\.json:11  cannot read `id` as INT"):
        read(request_of(file), Part(str(file), 8 * len(good) + 3, file.stat().st_size))


def test_large_tables_have_parts_and_small_ones_do_not(tmp_path, monkeypatch):
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text((json.dumps({"id": 1, "s": "a"}) + "\n") * 100)
    assert connector.parts(request_of(tmp_path)) is None
    monkeypatch.setattr(file_parts, "_SHARED_FROM", 1000)
    monkeypatch.setattr(file_parts, "_SHARE", 1000)

    tasks = connector.parts(request_of(tmp_path))

    assert tasks is not None
    assert [Path(part.file).name for [part] in tasks] == ["a.json"] * 2 + ["b.json"] * 2
    assert sum(len(read(request_of(tmp_path), *task)) for task in tasks) == 200


def test_a_stream_of_files_is_read_in_pieces_of_which_the_smaller_ones_are_kept(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(file_parts, "_SHARE", 1000)
    sizes = {"a.json": 400, "b.json": 500, "c.json": 3000, "d.json.gz": 400, "e.json": 10}
    for name, size in sizes.items():
        (tmp_path / name).write_bytes(b"x" * size)
    parts = [Part(str(tmp_path / name)) for name in sizes]
    ranges = [Part(str(tmp_path / "c.json"), n * 1000, n * 1000 + 1000) for n in range(3)]

    found = [
        ([Path(part.file).name for part in few], kept)
        for few, kept in file_parts.pieces([*parts, *ranges])
    ]

    assert found == [
        (["a.json", "b.json"], True),
        (["c.json"], False),
        (["d.json.gz"], False),
        (["e.json", "c.json"], True),
        *[(["c.json"], True)] * 2,
    ]


def test_streams_of_lines_are_read_once(tmp_path):
    (tmp_path / "a.json").write_text('{"id": 1, "s": "a"}\n')

    assert connector.reads_once(request_of(tmp_path), True)
    assert not connector.reads_once(request_of(tmp_path), False)
    assert not connector.reads_once(request_of(tmp_path, "parquet"), True)


def test_compressed_files_have_one_part_each(tmp_path, monkeypatch):
    monkeypatch.setattr(file_parts, "_SHARED_FROM", 10)
    monkeypatch.setattr(file_parts, "_SHARE", 10)
    file = tmp_path / "rows.json.gz"
    file.write_bytes(gzip.compress((json.dumps({"id": 1, "s": "a"}) + "\n").encode() * 100))

    assert connector.parts(request_of(file)) == [(Part(str(file)),)]
    assert len(read(request_of(file), Part(str(file)))) == 100


def test_csv_files_have_several_parts_if_each_line_is_a_record(tmp_path, monkeypatch):
    monkeypatch.setattr(file_parts, "_SHARED_FROM", 10)
    monkeypatch.setattr(file_parts, "_SHARE", 100)
    file = tmp_path / "rows.csv"
    file.write_text("1,a\n" * 100)
    tasks = connector.parts(request_of(file, "csv"))
    assert tasks is not None and len(tasks) == 4
    assert sum(len(read(request_of(file, "csv"), *task)) for task in tasks) == 100

    file.write_text("1,a\n" * 99 + '2,"b\n"\n')

    assert connector.parts(request_of(file, "csv")) == [(Part(str(file)),)]
    assert read(request_of(file, "csv"), Part(str(file)))[-1] == (2, "b\n")


def test_large_csv_files_are_read_in_blocks_of_whole_records(tmp_path, monkeypatch):
    file = tmp_path / "rows.csv"
    file.write_text("".join(f'{number},"a\nb""{number}"\n' for number in range(500)))
    monkeypatch.setattr(files_columns, "BLOCK", 100)

    rows = read(request_of(file, "csv"), Part(str(file)))

    assert rows == [(number, f'a\nb"{number}') for number in range(500)]


def test_spark_reads_what_it_alone_can_count_or_open(tmp_path, monkeypatch):
    monkeypatch.setattr(file_parts, "_SHARED_FROM", 10)
    (tmp_path / "rows.json").write_text((json.dumps({"id": 1, "s": "a"}) + "\n") * 100)

    assert connector.parts(request_of(tmp_path, json__ignore_parse_errors="true")) is None
    assert connector.parts(request_of(Path("s3a://bucket/rows"))) is None


def test_spark_reads_records_that_workers_would_read_one_by_one(tmp_path, monkeypatch):
    monkeypatch.setattr(file_parts, "_SHARED_FROM", 10)
    regular, slow = '{"id": 1, "s": "a"}\n', '[{"id": 1}]\n'
    file = tmp_path / "rows.json"
    request = request_of(file)
    file.write_text(regular * 1000 + slow * 10)
    assert connector.parts(request) is not None

    file.write_text(regular * 1000 + slow * 100)

    assert connector.parts(request) is None


def test_workers_read_streams_of_few_records_too(tmp_path):
    (tmp_path / "rows.json").write_text('{"id": 1, "s": "a"}\n')
    assert connector.can_stream_columns(request_of(tmp_path))

    (tmp_path / "rows.json").write_text('[{"id": 1}]\n')
    assert not connector.can_stream_columns(request_of(tmp_path))


def test_sample_with_a_bad_record_is_left_to_the_worker_that_reads_it(tmp_path, monkeypatch):
    monkeypatch.setattr(file_parts, "_SHARED_FROM", 10)
    file = tmp_path / "rows.json"
    file.write_text("broken\n" * 100)

    [[part]] = connector.parts(request_of(file))

    with pytest.raises(DataError, match=r"rows\.json:1 "):
        read(request_of(file), part)


COMPRESS = {
    "": bytes,
    ".gz": gzip.compress,
    ".gzip": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".deflate": zlib.compress,
}


@pytest.mark.parametrize(("ending", "compress"), COMPRESS.items(), ids=COMPRESS)
def test_compressed_files_are_read_as_others_are(tmp_path, ending, compress):
    lines = b"".join(b"%d,a\n" % n for n in range(20_000))
    file = tmp_path / f"rows.csv{ending}"
    file.write_bytes(compress(lines))

    assert b"".join(blocks(Part(str(file)), 1000, CsvCut(Style()))) == lines


@pytest.mark.parametrize("ending", COMPRESS)
def test_workers_read_small_files_whose_compression_spark_does_not_know(tmp_path, ending):
    (tmp_path / f"rows.json{ending}").write_bytes(COMPRESS[ending](b'{"id": 1}\n'))

    by_workers = connector.parts(request_of(tmp_path)) is not None

    assert by_workers == (ending in (".gzip", ".xz"))


@pytest.mark.parametrize(("ending", "compress"), COMPRESS.items(), ids=COMPRESS)
def test_files_elsewhere_are_read_through_arrow(monkeypatch, ending, compress):
    content = pa.py_buffer(compress(b"1,a\n2,b\n"))
    monkeypatch.setattr(Location, "input", lambda place: pa.BufferReader(content))

    [block] = blocks(Part(f"s3a://bucket/rows.csv{ending}"), 100, CsvCut(Style()))

    assert block == b"1,a\n2,b\n"


DAMAGED = {
    "x.json.gz": b"not gzip",
    "cut.json.gz": gzip.compress(b'{"id": 1}\n' * 1000)[:-20],
    "x.json.bz2": b"BZh9junk",
    "x.json.xz": b"not xz",
    "cut.json.xz": lzma.compress(b'{"id": 1}\n' * 1000)[:-20],
    "x.json.deflate": b"not deflate",
    "cut.json.deflate": zlib.compress(b'{"id": 1}\n' * 1000)[:-20],
    "x.parquet": b"PAR1 junk",
    "empty.parquet": b"",
    "missing.json": None,
}


@pytest.mark.parametrize("name", DAMAGED)
def test_file_that_cannot_be_read_is_named(tmp_path, name):
    file = tmp_path / name
    if (content := DAMAGED[name]) is not None:
        file.write_bytes(content)
    request = request_of(tmp_path, "parquet" if "parquet" in name else "json")

    with pytest.raises(DataError, match=rf"{name}  cannot read the file") as failure:
        read(request, Part(str(file)))

    assert failure.value.notes["why"]


def test_small_files_go_to_a_task_together_in_order(tmp_path: Path):
    def whole(name: str, size: int) -> Part:
        (tmp_path / name).write_bytes(bytes(size))
        return Part(str(tmp_path / name))

    a, b, c, d = (whole(name, size) for name, size in [("a", 4), ("b", 4), ("c", 4), ("d", 30)])
    first, second = (Part(d.file, start, start + 15) for start in (0, 15))
    packed = whole("e.gz", 2)

    assert [*file_parts.in_tasks([a, b, c], 10)] == [(a, b, c)]
    assert [*file_parts.in_tasks([a, b, c], 8)] == [(a, b), (c,)]
    assert [*file_parts.in_tasks([a, first, second, b, c], 10)] == [(a, first), (second,), (b, c)]
    # What is in compressed files is several times as large.
    assert [*file_parts.in_tasks([a, packed, b], 8)] == [(a,), (packed,), (b,)]
