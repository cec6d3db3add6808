"""Avro's container files: a header with the schema, and blocks of records between markers."""

from __future__ import annotations

import bz2
import json
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, Final

MAGIC: Final = b"Obj\x01"
MARKER: Final = 16  # the size of one
# Flink ends a block when it has this many bytes.
BLOCK: Final = 64_000
_MOST_OF_VARINT: Final = 10
_MOST_OF_HEADER: Final = 64 << 20


class BadContainer(Exception):
    """What is wrong with a file, and from which byte on."""

    def __init__(self, why: str, at: int | None = None) -> None:
        super().__init__(why)
        self.why, self.at = why, at


@dataclass(frozen=True, slots=True)
class Header:
    schema: bytes
    codec: str
    marker: bytes
    size: int  # bytes before the first block


@dataclass(frozen=True, slots=True)
class Block:
    start: int  # its place in the file
    count: int  # of its records
    content: bytes  # which is no longer compressed


# --- compression -------------------------------------------------------------------------------


def _deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def _inflate(data: bytes) -> bytes:
    unpacker = zlib.decompressobj(wbits=-15)
    content = unpacker.decompress(data) + unpacker.flush()
    if not unpacker.eof:
        raise ValueError("its end is missing")
    return content


def _snappy(data: bytes) -> bytes:
    import pyarrow as pa

    packed: bytes = pa.compress(data, "snappy", asbytes=True)
    return packed + zlib.crc32(data).to_bytes(4, "big")


def _unsnappy(data: bytes) -> bytes:
    import pyarrow as pa

    size, _ = _unsigned(data, 0)
    if size > len(data) << 6:  # no more is possible
        raise ValueError("it claims a size that it cannot have")
    content: bytes = pa.decompress(data[:-4], size, "snappy", asbytes=True)
    if zlib.crc32(content).to_bytes(4, "big") != data[-4:]:
        raise ValueError("its checksum differs")
    return content


def _zstandard(data: bytes) -> bytes:
    import pyarrow as pa

    packed: bytes = pa.compress(data, "zstd", asbytes=True)
    return packed


def _unzstandard(data: bytes) -> bytes:
    import pyarrow as pa

    with pa.CompressedInputStream(pa.py_buffer(data), "zstd") as content:
        return bytes(content.read())


def _as_it_is(data: bytes) -> bytes:
    return data


# How data is compressed and the other way, by the names that headers have.
CODECS: Final[Mapping[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]]] = {
    "null": (_as_it_is, _as_it_is),
    "deflate": (_deflate, _inflate),
    "snappy": (_snappy, _unsnappy),
    "bzip2": (bz2.compress, bz2.decompress),
    "xz": (lzma.compress, lzma.decompress),
    "zstandard": (_zstandard, _unzstandard),
}


# --- reading -----------------------------------------------------------------------------------


def header_of(file: IO[bytes]) -> Header:
    """What is at the beginning of a file."""
    file.seek(0)
    start, more = b"", 1 << 16
    while True:
        read = file.read(more)
        start += read
        if start[: len(MAGIC)] != MAGIC[: len(start)] or len(start) < len(MAGIC):
            raise BadContainer("it is not an Avro file")
        try:
            return _header(start)
        except IndexError:
            if not read or len(start) > _MOST_OF_HEADER:
                raise BadContainer("its header is incomplete") from None
            more = len(start)


def _header(start: bytes) -> Header:
    """Raises IndexError if there are not enough bytes."""
    about: dict[bytes, bytes] = {}
    count, at = _varint(start, len(MAGIC))
    while count:
        if count < 0:  # with its size in bytes
            _, at = _varint(start, at)
        for _ in range(abs(count)):
            key, at = _sized(start, at)
            about[key], at = _sized(start, at)
        count, at = _varint(start, at)
    if b"avro.schema" not in about:
        raise BadContainer("its header has no schema")
    if len(start) < at + MARKER:
        raise IndexError
    codec = about.get(b"avro.codec", b"null").decode("utf-8", "replace")
    if codec not in CODECS:
        known = ", ".join(CODECS)
        raise BadContainer(f"its codec '{codec}' is unknown; known are {known}")
    return Header(about[b"avro.schema"], codec, start[at : at + MARKER], at + MARKER)


def _sized(data: bytes, at: int) -> tuple[bytes, int]:
    size, at = _varint(data, at)
    if size < 0:
        raise BadContainer("its header is damaged")
    if len(data) < at + size:
        raise IndexError
    return data[at : at + size], at + size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number, and where it ends. Raises IndexError if it does not end."""
    value, at = _unsigned(data, at)
    return (value >> 1) ^ -(value & 1), at


def _unsigned(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift >= 7 * _MOST_OF_VARINT:
            raise BadContainer("a number has too many bytes")


def blocks_of(
    file: IO[bytes], header: Header, start: int = 0, end: int | None = None
) -> Iterator[Block]:
    """The blocks after those markers that begin in a range of the file's bytes."""
    size = file.seek(0, 2)
    at = header.size if start <= header.size - MARKER else _after_marker(file, header, start)
    unpack = CODECS[header.codec][1]
    while at is not None and at < size and (end is None or at - MARKER < end):
        file.seek(at)
        count, content, following = _block(file, header, at, size)
        try:
            yield Block(at, count, unpack(content))
        except BadContainer:
            raise
        except Exception as problem:  # each codec has errors of its own
            raise BadContainer(f"it cannot be decompressed: {problem}", at) from None
        at = following


def _block(file: IO[bytes], header: Header, at: int, size: int) -> tuple[int, bytes, int]:
    """How many records a block has, what is in it, and where the next one begins."""
    numbers = file.read(2 * _MOST_OF_VARINT)
    try:
        count, after = _varint(numbers, 0)
        length, after = _varint(numbers, after)
    except IndexError:
        raise BadContainer("it is incomplete", at) from None
    except BadContainer as problem:
        raise BadContainer(problem.why, at) from None
    if count < 0 or length < 0:
        raise BadContainer("it has a negative size", at)
    following = at + after + length + MARKER
    if following > size:
        raise BadContainer("it is incomplete", at)
    file.seek(at + after)
    content = file.read(length)
    if file.read(MARKER) != header.marker:
        raise BadContainer("the marker after it differs from that of the file", at)
    return count, content, following


def _after_marker(file: IO[bytes], header: Header, start: int) -> int | None:
    """The end of the first marker that begins there or later."""
    file.seek(start)
    before, at = b"", start
    while data := file.read(1 << 20):
        found = (before + data).find(header.marker)
        if found >= 0:
            return at - len(before) + found + MARKER
        at += len(data)
        before = (before + data)[-MARKER + 1 :]
    return None


# --- writing -----------------------------------------------------------------------------------


def number(value: int) -> bytes:
    value = (value << 1) ^ (value >> 63)
    digits = []
    while value >= 0x80:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])


def sized(data: bytes) -> bytes:
    return number(len(data)) + data


def header(schema: Any, codec: str, marker: bytes) -> bytes:
    text = json.dumps(schema, separators=(",", ":")).encode()
    about = {b"avro.schema": text, b"avro.codec": codec.encode()}
    entries = b"".join(sized(key) + sized(value) for key, value in about.items())
    return MAGIC + number(len(about)) + entries + number(0) + marker


def block(count: int, content: bytes, codec: str, marker: bytes) -> bytes:
    return number(count) + sized(CODECS[codec][0](content)) + marker
