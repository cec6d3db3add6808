"""Blocks of records: where each begins, and which of them are valid UTF-8."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tidemark.formats.decoded import Block

LINE_END = 10
_NOT_ASCII = 128


@dataclass(frozen=True, slots=True)
class Records:
    """The records of a block. `text` is NULL where the bytes are not valid UTF-8."""

    binary: pl.Series
    text: pl.Series
    lines: bool  # lines with their ends, rather than values

    @property
    def is_utf_8(self) -> bool:
        return self.text.null_count() == self.binary.null_count()

    @property
    def count(self) -> int:
        return self.binary.len()


MARK = b"\xef\xbb\xbf"


def without_mark(block: Block) -> Block:
    """A block that begins a file, without the byte order mark."""
    if isinstance(block, pa.Array):
        return block
    view = memoryview(block)
    return view[len(MARK) :] if view[: len(MARK)] == MARK else block


def records_of(block: Block) -> Records:
    if isinstance(block, pa.Array):
        binary = _series(block.cast(pa.large_binary()))
        return Records(binary, _text(binary), lines=False)
    # Arrow shares the bytes of these, whatever they are.
    buffer = block if isinstance(block, pa.Buffer) else pa.py_buffer(block)
    data = np.frombuffer(buffer, np.uint8)
    lines = _lines(data, buffer)
    binary = _series(pa.Array.from_buffers(pa.large_binary(), *lines))
    if not len(data) or data.max() < _NOT_ASCII:
        return Records(
            binary, _series(pa.Array.from_buffers(pa.large_string(), *lines)), lines=True
        )
    return Records(binary, _text(binary), lines=True)


def _lines(data: npt.NDArray[np.uint8], buffer: pa.Buffer) -> tuple[int, list[pa.Buffer | None]]:
    """The lines with their ends, for `Array.from_buffers`."""
    ends = np.flatnonzero(data == LINE_END) + 1
    whole = len(data) == 0 or (len(ends) > 0 and ends[-1] == len(data))
    last = [] if whole else [len(data)]
    offsets = np.concatenate([[0], ends, last]).astype(np.int64)
    return len(offsets) - 1, [None, pa.py_buffer(offsets), buffer]


def _text(binary: pl.Series) -> pl.Series:
    try:
        return binary.cast(pl.String)
    except pl.exceptions.ComputeError:
        # Only in a block with other bytes is each record checked.
        return pl.Series([_text_of(each) for each in binary.to_list()], dtype=pl.String)


def _text_of(binary: bytes | None) -> str | None:
    try:
        return None if binary is None else binary.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _series(array: pa.Array) -> pl.Series:
    series = pl.from_arrow(array)
    assert isinstance(series, pl.Series)
    return series
