"""Files as blocks of bytes, with errors that name the file."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import IO, Any, Final, Protocol

from tidemark.connectors.base import Part
from tidemark.errors import DataError
from tidemark.storage import Location, is_local

# How much of a file is decoded at once.
BLOCK: Final = 16 << 20


def _zstd(file: Any) -> Any:
    import pyarrow as pa

    return pa.CompressedInputStream(pa.OSFile(file) if isinstance(file, str) else file, "zstd")


class _Inflated(io.RawIOBase):
    """What a file has in the format of zlib, a piece at a time."""

    def __init__(self, file: Any) -> None:
        self._file = _plain(file)
        self._inflate = zlib.decompressobj()

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        while not self._inflate.eof:
            packed = self._inflate.unconsumed_tail or self._file.read(io.DEFAULT_BUFFER_SIZE)
            found = self._inflate.decompress(packed, len(target))
            if found:
                target[: len(found)] = found
                return len(found)
            if not packed:
                raise EOFError("the file ends before its compressed data does")
        return 0

    def close(self) -> None:
        self._file.close()
        super().close()


def _deflate(file: Any) -> Any:
    return io.BufferedReader(_Inflated(file))


_OPENERS: Mapping[str, Callable[[Any], Any]] = {
    ".gz": gzip.open,
    ".gzip": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".deflate": _deflate,
    ".zst": _zstd,
}
COMPRESSED: Final = tuple(_OPENERS)
# What these have is read by Spark as if it were not compressed.
UNKNOWN_TO_SPARK: Final = (".gzip", ".xz")
# Only Spark opens these.
_OTHERS: Final = (".snappy", ".lz4", ".lzo")


def can_open(file: str) -> bool:
    return not file.endswith(_OTHERS)


def is_compressed(file: str) -> bool:
    """Whether the file has to be read from its beginning."""
    return os.path.splitext(file)[1] in _OPENERS


class Cut(Protocol):
    """Where the bytes of a file may be cut."""

    def __hash__(self) -> int: ...

    def __call__(self, block: bytes, begins_file: bool) -> int:
        """How many bytes of a block are whole records. It begins with one, maybe with the first
        one of the file.
        """
        ...

    def all_at_lines(self, blocks: Iterable[bytes]) -> bool:
        """Whether each line of a file is a record; the blocks are whole lines."""
        ...


@dataclass(frozen=True, slots=True)
class LineCut:
    """Each line is a record."""

    def __call__(self, block: bytes, begins_file: bool) -> int:
        return block.rfind(b"\n") + 1

    def all_at_lines(self, blocks: Iterable[bytes]) -> bool:
        return True


def blocks(part: Part, size: int, cut: Cut = LineCut()) -> Iterator[bytes]:
    """The part in blocks of whole records, of about this size."""
    unchanged = Unchanged(part)
    with readable(part.file), opened(part) as content:
        left = sys.maxsize
        if part.end is not None:
            begin, left = _line_from(content, part.start), _line_from(content, part.end)
            left -= content.seek(begin)
        rest, begins_file = b"", part.start == 0
        # A block that is twice as large each time makes even a large record quick to cut.
        while block := content.read(min(max(size, len(rest)), left)):
            unchanged.check()
            left -= len(block)
            rest += block
            if end := cut(rest, begins_file):
                yield rest[:end]
                rest, begins_file = rest[end:], False
        unchanged.check()
        if rest:
            yield rest


class Unchanged:
    """Checks that a file does not change while a part of it is read, and has not since it was
    divided: its records would be neither the old nor the new ones.
    """

    def __init__(self, part: Part) -> None:
        self._file = part.file
        self._version = part.version or version_of(part.file)

    def check(self) -> None:
        """Raises DataError if the file has changed."""
        if self._version != version_of(self._file):
            raise unreadable(
                self._file,
                "it has changed while it was read",
                "write files under a hidden name, such as `.new`, and rename them when they are "
                "complete",
            )


def version_of(file: str) -> tuple[int, int] | None:
    """The size of a file and the time of its last change; None for a pipe, and for files that are
    not on this machine.
    """
    if not is_local(file):
        return None
    with readable(file):
        found = os.stat(file)
    return (found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None


def lines_before(part: Part) -> int:
    """How many lines of the file begin before the part."""
    with readable(part.file), opened(part) as content:
        left, lines = _line_from(content, part.start), 0
        content.seek(0)
        while block := content.read(min(BLOCK, left)):
            left -= len(block)
            lines += block.count(b"\n")
        return lines


def _line_from(content: IO[bytes], position: int) -> int:
    """Where the first line begins that does not begin before this position."""
    if position == 0:
        return 0
    content.seek(position - 1)
    content.readline()
    return content.tell()


def opened(part: Part) -> AbstractContextManager[IO[bytes]]:
    """What is in the file of a part, wherever it is, and no longer compressed."""
    file = part.file
    if not can_open(file):
        hint = "compress files with gzip, bzip2, xz, deflate or zstd"
        raise unreadable(file, "workers do not know its compression", hint)
    opener = _OPENERS.get(os.path.splitext(file)[1])
    place: Any = file
    if part.content is not None:
        place = io.BytesIO(part.content)
    elif not is_local(file):  # Arrow's file systems make something like a local one
        place = Location.of(file, part.access).input()
    opened: IO[bytes] = _plain(place) if opener is None else opener(place)
    return opened


def _plain(place: Any) -> Any:
    return open(place, "rb") if isinstance(place, str) else place


@contextmanager
def readable(file: str) -> Iterator[None]:
    """Raises DataError for what fails inside because the file is missing, damaged or private."""
    try:
        yield
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as problem:
        raise unreadable(file, getattr(problem, "strerror", None) or str(problem)) from None


def unreadable(file: str, why: str, hint: str | None = None) -> DataError:
    """The error for a file that cannot be read at all."""
    return DataError(f"{file}  cannot read the file", notes={"why": why}, hint=hint)
