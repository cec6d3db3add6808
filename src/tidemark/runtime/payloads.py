"""The rows of a packed row: inside it as an Arrow stream, or in a file whose name it contains. In
the process that uses them, a frame may take the place of both.

Spark copies data a dozen times in a shuffle, so rows are compressed for it. If all workers are on
one machine, rows bypass the shuffle: they are written to a file, which the reader maps into memory,
so that nothing is copied or compressed.
"""

from __future__ import annotations

import contextlib
import io
import os
import uuid
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pyarrow as pa

# Less is not worth the start of a compressor for each column, nor a file.
_LARGE = 1 << 16
# An Arrow stream begins with four bytes of ones.
_IN_FILE = b"file:"
_IN_PART = b"part:"
_COMPRESSED = b"size:"

Payload = bytes | pl.DataFrame


def encode(frame: pl.DataFrame, *, compressed: bool = False) -> bytes:
    """`compressed` is for data that Spark moves or stores: it copies all bytes several times, and
    compresses them twice when it stores them.
    """
    buffer = io.BytesIO()
    if compressed and frame.estimated_size() > _LARGE:
        _write_compressed(frame, buffer)
    else:
        frame.write_ipc_stream(buffer, compression="uncompressed")
    return buffer.getvalue()


def _write_compressed(frame: pl.DataFrame, buffer: io.BytesIO) -> None:
    """Polars' own writer has a higher level: strings become a quarter smaller, and take nearly
    twice as long. Numbers become no smaller.
    """
    rows = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    options = pa.ipc.IpcWriteOptions(compression=pa.Codec("zstd", compression_level=1))
    with pa.ipc.new_stream(buffer, rows.schema, options=options) as stream:
        stream.write_table(rows)


def decode(payload: bytes) -> pl.DataFrame:
    """The rows, which refer to the bytes: nothing is copied that is not compressed."""
    with pa.ipc.open_stream(pa.py_buffer(payload)) as stream:
        return _frame(stream.read_all())


def write(frame: pl.DataFrame, path: Path) -> None:
    """Rows as an Arrow file. Polars takes twice as long if it opens the file itself."""
    with path.open("wb") as file:
        frame.write_ipc(file, compression="uncompressed")


def mapped(path: Path) -> pl.DataFrame:
    """The rows of an Arrow file, which may be removed afterwards. Unused columns are not read."""
    with pa.memory_map(os.fspath(path)) as file:
        return _frame(pa.ipc.open_file(file).read_all())


def _frame(table: pa.Table) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


@dataclass(frozen=True, slots=True)
class Payloads:
    """How the workers of a query exchange rows: in files of `folder`, which all of them must share,
    or inside packed rows if it is None.
    """

    folder: str | None = None
    more_than: int = _LARGE  # bytes of rows that are worth a file

    def wrapped(self, frame: pl.DataFrame, *, compressed: bool = False) -> bytes:
        """The payload for some rows, which `unwrapped` reads; compressed if it contains them."""
        size = frame.estimated_size()
        if self.folder is None or size <= self.more_than:
            payload = encode(frame, compressed=compressed)
            # Whoever opens it must know beforehand how much memory the rows need.
            is_smaller = compressed and size > _LARGE
            return b"%s%d:%s" % (_COMPRESSED, size, payload) if is_smaller else payload
        folder = self.place(Path(self.folder))
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / f"{uuid.uuid4().hex}.arrow"
        write(frame, path)
        return _IN_FILE + os.fsencode(path)

    def place(self, folder: Path) -> Path:
        """The folder of new files."""
        return folder


IN_ROWS = Payloads()


def in_file(payload: Payload) -> bool:
    return isinstance(payload, bytes) and payload.startswith(_IN_FILE)


def opens_at_once(payload: Payload) -> bool:
    """Whether the rows need not be read or decompressed before one of them can be used."""
    return not isinstance(payload, bytes) or not payload.startswith((_IN_PART, _COMPRESSED))


def appended(payload: bytes, path: Path) -> bytes:
    """A payload that refers to one appended to a file."""
    with path.open("ab") as file:
        offset = file.tell()
        file.write(payload)
    place = offset, len(payload), size_of(payload)
    return b"%s%d:%d:%d:%s" % (_IN_PART, *place, os.fsencode(path))


def size_of(payload: Payload) -> int:
    """The number of bytes of the rows in a payload."""
    if isinstance(payload, pl.DataFrame):
        return int(payload.estimated_size())
    if payload.startswith(_IN_PART):
        return int(payload.split(b":", 4)[3])
    if payload.startswith(_COMPRESSED):
        return int(payload[len(_COMPRESSED) : _rows_at(payload) - 1])
    return _path(payload).stat().st_size if in_file(payload) else len(payload)


def _rows_at(payload: bytes) -> int:
    """Where in a payload the rows begin, after their size."""
    return payload.index(b":", len(_COMPRESSED)) + 1


def _path(payload: bytes) -> Path:
    return Path(os.fsdecode(payload.removeprefix(_IN_FILE)))


def _read(payload: bytes) -> bytes:
    """A payload that is stored in a file with others."""
    _, offset, length, _, path = payload.split(b":", 4)
    with Path(os.fsdecode(path)).open("rb") as file:
        file.seek(int(offset))
        return file.read(int(length))


def unwrapped(payload: Payload, *, last: bool = False) -> pl.DataFrame:
    """The rows of a payload. The `last` reader removes the file."""
    if isinstance(payload, pl.DataFrame):
        return payload
    if payload.startswith(_IN_PART):
        return unwrapped(_read(payload))
    if payload.startswith(_COMPRESSED):
        return decode(payload[_rows_at(payload) :])
    if not in_file(payload):
        return decode(payload)
    path = _path(payload)
    frame = mapped(path)
    if last:
        # Not every system removes a file that is mapped; then its micro-batch does.
        with contextlib.suppress(OSError):
            path.unlink()
    return frame
