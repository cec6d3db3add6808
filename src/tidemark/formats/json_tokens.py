"""The leaves of documents: from their tokens, as they are written, to strings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tidemark.formats.json_documents import unescaped
from tidemark.formats.json_trees import tree_text
from tidemark.formats.leaf_values import Flags

# Comes after each token. None contains it: even in strings it would have to be escaped.
_END = b"\0"
_QUOTE, _NULL, _OBJECT, _ARRAY, _BACKSLASH = b'"n{[\\'

_read_strings = msgspec.json.Decoder(list[str]).decode


def joined(tokens: Iterable[msgspec.Raw]) -> bytes:
    return _END.join([*tokens, b""])


@dataclass(frozen=True, slots=True)
class Leaves:
    """The strings of some leaves, which are NULL where a document has null, or nothing."""

    text: pl.Series
    absent: Flags
    bare: bool  # none of them is written as a string, an object or an array


def leaves(tokens: bytes, *, decimals: bool) -> Leaves:
    """`tokens` have been joined. With `decimals`, numbers in objects and arrays are exact."""
    data = np.frombuffer(tokens, np.uint8)
    ends = np.flatnonzero(data == 0)
    starts = np.concatenate([[0], ends[:-1] + 1])
    first = data[starts] if len(ends) else data
    absent = first == 0
    found = _Tokens(
        tokens.translate(None, _END), ends - starts, first == _QUOTE, ~absent & (first != _NULL)
    )
    nested = (first == _OBJECT) | (first == _ARRAY)
    bare = not (found.quoted.any() or nested.any())
    escaped = np.zeros(len(ends), np.bool_)
    if b"\\" in tokens:
        escaped[np.searchsorted(ends, np.flatnonzero(data == _BACKSLASH))] = True
    return Leaves(_text(found, escaped & found.quoted, nested, decimals), absent, bare)


@dataclass(frozen=True, slots=True)
class _Tokens:
    """Tokens one after the other, and of each its size and what it is."""

    content: bytes
    size: npt.NDArray[np.int64]
    quoted: Flags
    there: Flags

    def only(self, chosen: Flags) -> _Tokens:
        content = np.frombuffer(self.content, np.uint8)[np.repeat(chosen, self.size)].tobytes()
        return _Tokens(content, self.size[chosen], self.quoted[chosen], self.there[chosen])

    def plain(self) -> pl.Series:
        """Their strings, if quotes are only around them."""
        content = self.content.translate(None, b'"') if self.quoted.any() else self.content
        return _strings(content, self.size - 2 * self.quoted, self.there)

    def as_written(self) -> pl.Series:
        return _strings(self.content, self.size, self.there)


def _strings(content: bytes, size: npt.NDArray[np.int64], there: Flags) -> pl.Series:
    """Strings of these sizes, which are one after the other in bytes that are UTF-8."""
    offsets = np.concatenate([[0], np.cumsum(size)])
    valid = None if there.all() else pa.py_buffer(np.packbits(there, bitorder="little"))
    buffers = [valid, pa.py_buffer(offsets), pa.py_buffer(content)]
    series = pl.from_arrow(pa.Array.from_buffers(pa.large_string(), len(size), buffers))
    assert isinstance(series, pl.Series)
    return series


def _text(tokens: _Tokens, escaped: Flags, nested: Flags, decimals: bool) -> pl.Series:
    if not escaped.any() and not nested.any():
        return tokens.plain()
    plain = ~escaped & ~nested
    order = np.argsort(np.concatenate([np.flatnonzero(f) for f in (plain, escaped, nested)]))
    parts = [
        tokens.only(plain).plain(),
        _unescaped(tokens.only(escaped).as_written()),
        _nested(tokens.only(nested).as_written(), decimals),
    ]
    return pl.concat(parts).gather(pl.Series(order))


def _unescaped(tokens: pl.Series) -> pl.Series:
    try:
        strings = _read_strings("[" + ",".join(tokens) + "]")
    except msgspec.DecodeError:
        strings = [unescaped(token[1:-1]) for token in tokens]
    return pl.Series(strings, dtype=pl.String)


def _nested(tokens: pl.Series, decimals: bool) -> pl.Series:
    known = {token: tree_text(token, decimals=decimals) for token in tokens.unique()}
    return pl.Series([known[token] for token in tokens], dtype=pl.String)
