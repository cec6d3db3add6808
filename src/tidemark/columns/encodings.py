"""Bytes: digests and encodings."""

from __future__ import annotations

import binascii
import hashlib

import polars as pl

from tidemark import types as t
from tidemark.columns.call import ColumnCall, WriteColumn
from tidemark.columns.refusals import NotInColumns
from tidemark.columns.to_strings import to_string


def _digest(algorithm: str) -> WriteColumn:
    return lambda call: _hashed(call, algorithm)


def _hashed(call: ColumnCall, algorithm: str) -> pl.Expr:
    """Neither Polars nor Arrow has digests, so this loops over the rows."""

    def compute(values: pl.Series) -> pl.Series:
        digests = [None if v is None else hashlib.new(algorithm, v).hexdigest() for v in values]
        return pl.Series(digests, dtype=pl.String)

    return call.active.batches(compute, (call.args[0].cast(pl.Binary),), t.STRING)


def _sha2(call: ColumnCall) -> pl.Expr:
    bits = call.constant(1, "a length")
    return _hashed(call, f"sha{bits}") if bits is not None else pl.lit(None, dtype=pl.String)


def _charset(call: ColumnCall) -> str:
    charset = call.constant(1, "a character set")
    if charset is None:
        raise NotInColumns(f"{call.name} with the character set NULL")
    return str(charset).upper()


def _encode(call: ColumnCall) -> pl.Expr:
    """What the character set lacks becomes `?`."""
    charset = _charset(call)
    if charset == "UTF-8":
        return call.args[0].cast(pl.Binary)

    def compute(values: pl.Series) -> pl.Series:
        data = [None if v is None else _encoded(v, charset) for v in values]
        return pl.Series(data, dtype=pl.Binary)

    return call.active.batches(compute, (call.args[0],), t.BYTES)


def _encoded(text: str, charset: str) -> bytes:
    if charset == "UTF-16":  # with the mark of big-endian bytes, but for an empty string
        return b"\xfe\xff" + text.encode("UTF-16BE") if text else b""
    return text.encode(charset, "replace")


# Where each byte is a character of its own: Java has rules of its own for pairs that are not valid.
_SINGLE_BYTES = ("US-ASCII", "ISO-8859-1")


def _decode(call: ColumnCall) -> pl.Expr:
    """What is not valid becomes U+FFFD."""
    charset = _charset(call)
    if charset == "UTF-8":
        return to_string(call.args[0], t.BYTES, call.active)
    if charset not in _SINGLE_BYTES:
        raise NotInColumns(f"{call.name} with the character set {charset}")

    def compute(values: pl.Series) -> pl.Series:
        texts = [None if v is None else v.decode(charset, "replace") for v in values]
        return pl.Series(texts, dtype=pl.String)

    return call.active.batches(compute, (call.args[0],), t.STRING)


# Java needs no padding at the end, and ignores the bits that are not of a byte.
_BASE64 = r"\A(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?\z"


def _from_base64(call: ColumnCall) -> pl.Expr:
    text = call.args[0]
    if isinstance(call.type(0), t.BINARIES):
        text = to_string(text, t.BYTES, call.active)
    valid = text.str.contains(_BASE64)
    what = pl.concat_str(pl.lit("'"), text, pl.lit("' is not valid Base64"))
    call.active.fail(~valid, what)
    digits = pl.when(valid).then(text.str.strip_chars_end("="))
    data = call.active.batches(_decoded, (digits,), t.BYTES)
    return to_string(data, t.BYTES, call.active)


def _decoded(texts: pl.Series) -> pl.Series:
    missing = (4 - texts.str.len_bytes() % 4) % 4
    padded = texts + pl.select(pl.lit("==").str.head(missing)).to_series()
    data = padded.str.decode("base64", strict=False)
    if data.null_count() == texts.null_count():
        return data
    return pl.Series(
        [None if v is None else binascii.a2b_base64(v) for v in padded], dtype=pl.Binary
    )


COLUMNS: dict[str, WriteColumn] = {
    **{
        name: _digest(name.lower())
        for name in ("MD5", "SHA1", "SHA224", "SHA256", "SHA384", "SHA512")
    },
    "SHA2": _sha2,
    "ENCODE": _encode,
    "DECODE": _decode,
    "TO_BASE64": lambda call: call.args[0].cast(pl.Binary).bin.encode("base64"),
    "FROM_BASE64": _from_base64,
}
