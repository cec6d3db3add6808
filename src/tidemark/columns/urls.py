"""Functions over URLs and Internet addresses."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import polars as pl
import pyarrow as pa

from tidemark import types as t
from tidemark.columns.call import ColumnCall, WriteColumn
from tidemark.columns.distinct import for_each_distinct
from tidemark.columns.utf8 import decoded
from tidemark.functions.urls import ADDRESS, PARTS, key_pattern

# --- encoding and decoding ---------------------------------------------------------------------

_UNCHANGED = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-*_"


def _encodings() -> tuple[np.ndarray, np.ndarray]:
    """What each byte is written as, and how many bytes that takes."""
    written = np.array([list(f"%{byte:02X}".encode()) for byte in range(256)], np.uint8)
    lengths = np.full(256, 3)
    for byte in _UNCHANGED:
        written[byte, 0], lengths[byte] = byte, 1
    written[ord(" "), 0], lengths[ord(" ")] = ord("+"), 1
    return written, lengths


def _encoded(texts: pl.Series) -> pl.Series:
    written, lengths = _encodings()
    array = texts.fill_null("").to_arrow().cast(pa.large_string())
    _, offsets, data = array.buffers()
    begins = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    source = np.frombuffer(data or b"", np.uint8)[begins[0] : begins[-1]]
    taken = lengths[source]
    characters = written[source][np.arange(3) < taken[:, None]]
    ends = np.concatenate([[0], np.cumsum(taken)])[begins - begins[0]].astype(np.int64)
    buffers = pa.py_buffer(ends), pa.py_buffer(np.ascontiguousarray(characters))
    return pl.Series(pa.LargeStringArray.from_buffers(len(array), *buffers))


def _url_encode(call: ColumnCall) -> pl.Expr:
    encoded = call.active.batches(_encoded, call.args, t.STRING)
    return pl.when(call.args[0].is_not_null()).then(encoded)


# As Java reads two hexadecimal digits: a sign may come first.
_BYTES = re.compile(r"(?:%(?:[0-9A-Fa-f]{2}|\+[0-9A-Fa-f]|-0))+")
_BYTE = re.compile(r"%(..)")


def _url_decoded(text: str) -> str | None:
    """None if a percent sign is not followed by two digits."""
    if "%" in _BYTES.sub("", text):
        return None
    spaced = re.sub(r"(?<!%)\+", " ", text)
    return _BYTES.sub(
        lambda found: decoded(bytes(int(byte, 16) for byte in _BYTE.findall(found.group()))), spaced
    )


def _url_decode(call: ColumnCall) -> pl.Expr:
    text = call.args[0]
    escaped = text.str.contains("%", literal=True)
    rare = pl.when(escaped).then(text)
    exact = for_each_distinct(call.active, _url_decoded, (rare,), t.STRING)
    return pl.when(escaped).then(exact).otherwise(text.str.replace_all("+", " ", literal=True))


# --- parts of URLs -----------------------------------------------------------------------------


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # Like Java, without letters of other alphabets that are equal if case is ignored.
    return re.compile(pattern.replace(r"\z", r"\Z"), re.ASCII)


def _part(url: str, part: str) -> str | None:
    if part not in PARTS:
        return None
    found = _compiled(PARTS[part]).search(url)
    if found is None:
        return None
    value: str = found.group(1) or ""  # also without a host
    return value.lower() if part == "PROTOCOL" else value


def _value_of_key(url: str, part: str, key: str) -> str | None:
    found = _compiled(key_pattern(re.escape(key))).search(url) if part == "QUERY" else None
    return found.group(1) if found else None


def _parse_url(call: ColumnCall) -> pl.Expr:
    function = _value_of_key if len(call.args) == 3 else _part
    return for_each_distinct(call.active, function, call.args, t.STRING)


# --- addresses ---------------------------------------------------------------------------------


def _inet_aton(call: ColumnCall) -> pl.Expr:
    """The last number is the lowest byte however many there are: `1.2` is 1.0.0.2."""
    address = call.args[0]
    valid = pl.when(address.str.contains(ADDRESS)).then(address)
    numbers = valid.str.split(".").list.eval(pl.element().cast(pl.Int64))
    last = numbers.list.len() - 1
    upper = [
        pl.when(last > place).then(numbers.list.get(place, null_on_oob=True) * 256 ** (3 - place))
        .otherwise(0)
        for place in range(3)
    ]  # fmt: skip
    return numbers.list.last() + pl.sum_horizontal(upper)


def _inet_ntoa(call: ColumnCall) -> pl.Expr:
    number = call.args[0].cast(pl.Int64)
    parts = [(number // 256**place % 256).cast(pl.String) for place in (3, 2, 1, 0)]
    return pl.when(number.is_between(0, 2**32 - 1)).then(pl.concat_str(parts, separator="."))


COLUMNS: dict[str, WriteColumn] = {
    "URL_ENCODE": _url_encode,
    "URL_DECODE": _url_decode,
    "PARSE_URL": _parse_url,
    "INET_ATON": _inet_aton,
    "INET_NTOA": _inet_ntoa,
}
