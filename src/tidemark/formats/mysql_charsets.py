"""Strings in the character sets of MySQL."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import polars as pl

_UTF_8: Final = ("utf8mb4", "utf8mb3", "utf8", "ascii")
# Python's names of those in which each byte is a character. Only what is the same there is here.
_SINGLE: Final = {
    "cp1250": "cp1250",
    "cp1251": "cp1251",
    "cp850": "cp850",
    "cp852": "cp852",
    "koi8r": "koi8-r",
    "latin1": "cp1252",
    "latin2": "iso8859-2",
    "latin5": "iso8859-9",
    "latin7": "iso8859-13",
}
# And of those in which one has several bytes.
_SEVERAL: Final = {
    "big5": "big5",
    "euckr": "cp949",
    "gb2312": "gb2312",
    "gbk": "gbk",
    "ucs2": "utf-16-be",
    "ujis": "euc_jp",
    "utf16": "utf-16-be",
    "utf16le": "utf-16-le",
    "utf32": "utf-32-be",
}
CHARACTER_SETS: Final = frozenset({*_UTF_8, *_SINGLE, *_SEVERAL})


def decoded(values: pl.Series, character_set: str) -> pl.Series:
    """The strings that bytes are in one of CHARACTER_SETS. Raises UnicodeDecodeError, or what
    Polars raises, if they are not."""
    import polars as pl

    if character_set in _UTF_8:
        return values.cast(pl.String)
    if character_set in _SINGLE:
        return _by_table(values, _table(_SINGLE[character_set]))
    # Those who need speed have tables in utf8mb4.
    codec = _SEVERAL[character_set]
    strings = [None if value is None else value.decode(codec) for value in values]
    return pl.Series(strings, dtype=pl.String)


class _Table(NamedTuple):
    """What each byte is in UTF-8: where it begins in all of them, and its size."""

    letters: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]


@cache
def _table(codec: str) -> _Table:
    letters = [_letter(byte, codec).encode() for byte in range(256)]
    sizes = np.array([len(letter) for letter in letters], np.int64)
    starts = np.cumsum(sizes) - sizes
    return _Table(np.frombuffer(b"".join(letters), np.uint8), starts, sizes)


def _letter(byte: int, codec: str) -> str:
    """What MySQL makes of a byte. Latin 1 leaves none open, unlike its namesake of Windows."""
    try:
        return bytes([byte]).decode(codec)
    except UnicodeDecodeError:
        return chr(byte) if codec == _SINGLE["latin1"] else "?"


def _by_table(values: pl.Series, table: _Table) -> pl.Series:
    import polars as pl
    import pyarrow as pa

    array = values.cast(pl.Binary).to_arrow(compat_level=pl.CompatLevel.oldest())
    bounds = np.frombuffer(array.buffers()[1], np.int64)[array.offset :][: len(array) + 1]
    content = array.buffers()[2]
    taken = np.frombuffer(content if content is not None else b"", np.uint8)
    taken = taken[bounds[0] : bounds[-1]]
    sizes = table.sizes[taken]
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    # Each byte of the result: where its letter begins, and how far it is in it.
    inside = np.arange(ends[-1]) - np.repeat(ends[:-1], sizes)
    made = table.letters[np.repeat(table.starts[taken], sizes) + inside]
    offsets = ends[bounds - bounds[0]]
    valid = array.is_valid().buffers()[1]
    strings = pa.LargeStringArray.from_buffers(
        len(array), pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(made)), valid
    )
    found = pl.from_arrow(strings)
    assert isinstance(found, pl.Series)
    return found
