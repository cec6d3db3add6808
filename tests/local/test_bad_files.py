"""Damaged, changing, missing and private files: an error that names the file, never other rows."""

from __future__ import annotations

import gzip
import io
import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import tidemark
from tests.connectors.test_file_parts import request_of
from tidemark.connectors.filesystem import connector, file_parts, files_columns, parquet_columns
from tidemark.errors import DataError, OptionError, SetupError

TABLE = pa.table({"id": pa.array(range(20_000), pa.int32()), "s": ["x"] * 20_000})
JSON = b"".join(b'{"id":%d,"s":"x"}\n' % i for i in range(1000))
CSV = b"".join(b"%d,x\n" % i for i in range(1000))


def as_parquet(**options: object) -> bytes:
    file = io.BytesIO()
    parquet.write_table(TABLE, file, row_group_size=2000, write_page_checksum=True, **options)
    return file.getvalue()


def damaged(content: bytes) -> bytes:
    """With a hole in the middle, as a failing disk leaves it."""
    middle = len(content) // 2
    return content[:middle] + bytes(1000) + content[middle + 1000 :]


PARQUET = as_parquet()
PLAIN = as_parquet(compression="none", use_dictionary=False)


@pytest.fixture
def session() -> tidemark.Session:
    return tidemark.connect(engine="local")


def count(session: tidemark.Session, path: Path | str, format_: str, more: str = "") -> int:
    session.sql(
        "CREATE OR REPLACE TABLE t (id INT, s STRING) WITH ('connector' = 'filesystem', "
        f"'path' = '{path}', 'format' = '{format_}'{more})"
    )
    return len(session.sql("SELECT * FROM t").rows())


# --- damaged, or of another format -------------------------------------------------------------

BAD: dict[str, tuple[str, str, bytes, str, str]] = {
    "json, cut off": ("json", "f", JSON[:-9], ":1000  cannot read the record", "not valid JSON"),
    "csv, cut off": ("csv", "f", CSV + b'7,"a', ":1001  cannot read the record", "unclosed quotes"),
    "gzip, cut off": ("json", "f.gz", gzip.compress(JSON)[:-9], "  cannot read the file", "ended"),
    "gzip, damaged": ("json", "f.gz", gzip.compress(JSON)[:-8] + b"12345678", "  cannot", "CRC"),
    "parquet, cut off": ("parquet", "f", PARQUET[:-99], "  cannot read the file", "magic bytes"),
    "parquet, damaged": ("parquet", "f", damaged(PARQUET), "  cannot read the file", ""),
    "parquet, another value": (
        "parquet",
        "f",
        PLAIN.replace(b"\xf4\x01\0\0", b"\xf5\x01\0\0", 1),
        "  cannot read the file",
        "CRC",
    ),
    "parquet as json": ("json", "f", PARQUET, ":1  cannot read the record", "not valid UTF-8"),
    "parquet as csv": ("csv", "f", PARQUET, ":1  cannot read the record", ""),
    "csv as json": ("json", "f", CSV, ":1  cannot read the record", "not valid JSON"),
    "json as csv": ("csv", "f", JSON, ":1  cannot read the record", "unclosed quotes"),
    "json as parquet": ("parquet", "f", JSON, "  cannot read the file", "magic bytes"),
    "zeros as json": ("json", "f", bytes(100_000), ":1  cannot read the record", "not valid JSON"),
    "zeros as csv": ("csv", "f", bytes(100_000), ":1  cannot read the record", "found 1"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_damaged_file_is_refused_with_its_place_and_the_reason(
    session: tidemark.Session, tmp_path: Path, name: str
) -> None:
    format_, file, content, problem, why = BAD[name]
    (tmp_path / file).write_bytes(content)

    with pytest.raises(DataError) as failure:
        count(session, tmp_path, format_)

    assert failure.value.message.startswith(f"{tmp_path / file}{problem}")
    assert why in str(failure.value.notes["why"])
    assert len(str(failure.value)) < 1000


# A line of 200 MB takes 10 to 25 seconds to be refused, and one that is right 4 seconds.
LONG = b"x" * (5 << 20)


@pytest.mark.parametrize(
    ("format_", "content"),
    [
        ("json", b'{"id":1,"s":"y"}\n{"id":2,"s":"%b\n{"id":3,"s":"y"}\n' % LONG),
        ("csv", b"1,y\n2,%b,3,4\n3,y\n" % LONG),
    ],
)
def test_a_very_long_bad_line_is_named_or_skipped(
    session: tidemark.Session, tmp_path: Path, format_: str, content: bytes
) -> None:
    (tmp_path / "f").write_bytes(content)

    with pytest.raises(DataError, match=r"f:2  cannot read the record") as failure:
        count(session, tmp_path, format_)
    assert len(str(failure.value)) < 1000
    assert count(session, tmp_path, format_, f", '{format_}.ignore-parse-errors' = 'true'") == 2


@pytest.mark.parametrize(
    ("format_", "content"),
    [("json", b'{"id":1,"s":"%b"}\n{"id":2,"s":"y"}\n'), ("csv", b"1,%b\n2,y\n")],
)
def test_a_very_long_line_is_read(
    session: tidemark.Session, tmp_path: Path, format_: str, content: bytes
) -> None:
    (tmp_path / "f").write_bytes(content % LONG)

    assert count(session, tmp_path, format_) == 2


@pytest.mark.parametrize(
    ("format_", "good", "bad"),
    [("json", b'{"id":1,"s":"x"}\n', b"broken\n"), ("csv", b"1,x\n", b"1,2,3,4\n")],
)
def test_each_of_many_bad_records_is_counted(
    session: tidemark.Session, tmp_path: Path, format_: str, good: bytes, bad: bytes
) -> None:
    (tmp_path / "f").write_bytes((good + bad * 100) * 300)
    option = f", '{format_}.ignore-parse-errors' = 'true'"

    assert count(session, tmp_path, format_, option) == 300
    assert session.jobs[-1].progress().skipped == 30_000


# --- files that change or vanish while they are read -------------------------------------------


def reading(file: Path, format_: str) -> Iterator[int]:
    """Reads a file; the number of rows in each block."""
    frames = connector.read_columns(request_of(file, format_))()
    yield from (frame.height for frame in frames)


def grown(file: Path) -> None:
    with file.open("ab") as content:
        content.write(b'{"id":1')


def cut_off(file: Path) -> None:
    os.truncate(file, 5000)


def replaced(file: Path) -> None:
    other = file.with_name("other")
    other.write_bytes(CSV)
    other.rename(file)


@pytest.mark.parametrize("format_", ["json", "csv", "parquet"])
@pytest.mark.parametrize("change", [grown, cut_off, replaced, Path.unlink])
def test_a_file_that_changes_while_it_is_read_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format_: str, change: object
) -> None:
    monkeypatch.setattr(files_columns, "BLOCK", 4096)
    monkeypatch.setattr(parquet_columns, "ROWS", 1000)
    file = tmp_path / "f"
    file.write_bytes({"json": JSON, "csv": CSV * 4, "parquet": PARQUET}[format_])
    rows = reading(file, format_)
    next(rows)

    assert callable(change)
    change(file)

    with pytest.raises(DataError, match=r"/f  cannot read the file") as failure:
        list(rows)
    reasons = ("it has changed while it was read", "No such file or directory")
    assert failure.value.notes["why"] == reasons[change is Path.unlink]


@pytest.mark.parametrize("format_", ["json", "parquet"])
def test_a_file_that_has_changed_since_it_was_divided_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format_: str
) -> None:
    monkeypatch.setattr(file_parts, "_SHARED_FROM", 10)
    monkeypatch.setattr(file_parts, "_SHARED_COLUMNS_FROM", 10)
    monkeypatch.setattr(file_parts, "_SHARE", 5000)
    monkeypatch.setattr(file_parts, "_SHARE_OF_COLUMNS", 5000)
    file = tmp_path / "f"
    file.write_bytes({"json": JSON, "parquet": PARQUET}[format_])
    request = request_of(file, format_)
    tasks = connector.parts(request)
    assert tasks is not None and len(tasks) > 1
    os.utime(file, (0, 0))

    with pytest.raises(DataError, match=r"/f  cannot read the file") as failure:
        list(connector.read_columns(replace(request, parts=tasks[-1]))())
    assert failure.value.notes["why"] == "it has changed while it was read"


# --- private files and folders -----------------------------------------------------------------


@pytest.fixture
def private() -> Iterator[Path]:
    """A folder with rows, and below it a file and a folder that this process may not use."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for inside in ("file", "folder", "folder/closed"):
            (folder / inside).mkdir()
        (folder / "folder" / "a").write_bytes(JSON)
        (folder / "folder" / "closed" / "b").write_bytes(JSON)
        (folder / "file" / "closed").write_bytes(JSON)
        folder.chmod(0o755)
        for closed in (folder / "file" / "closed", folder / "folder" / "closed"):
            closed.chmod(0)
        root = os.geteuid() == 0
        if root:  # who may use everything
            os.seteuid(65534)
        try:
            yield folder
        finally:
            if root:
                os.seteuid(0)
            (folder / "folder" / "closed").chmod(0o700)


def test_what_may_not_be_read_is_an_error(session: tidemark.Session, private: Path) -> None:
    with pytest.raises(DataError, match="closed  cannot read the folder") as failure:
        count(session, private / "folder", "json")
    assert failure.value.notes["why"] == "Permission denied"

    with pytest.raises(DataError, match="closed  cannot read the file") as failure:
        count(session, private / "file", "json")
    assert failure.value.notes["why"] == "Permission denied"

    with pytest.raises(OptionError, match="file or folder not found") as hidden:
        count(session, private / "folder" / "closed" / "b", "json")
    assert hidden.value.notes["why"] == "Permission denied"


def test_a_folder_that_may_not_be_written_is_an_error(
    session: tidemark.Session, private: Path
) -> None:
    session.sql(
        "CREATE TABLE t (id INT) WITH ('connector' = 'filesystem', "
        f"'path' = '{private}/folder/closed/out', 'format' = 'json')"
    )
    with pytest.raises(SetupError, match=r"cannot write to .*/out: .*Permission denied"):
        session.sql("INSERT INTO t VALUES (1)").job.wait()
