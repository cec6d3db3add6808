"""Bytes: digests and encodings."""

from __future__ import annotations

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


def _charset(call: ColumnCall) -> None:
    charset = call.constant(1, "a character set")
    if charset is None or charset.upper() != "UTF-8":
        raise NotInColumns(f"{call.name} with the character set {charset}")


def _encode(call: ColumnCall) -> pl.Expr:
    _charset(call)
    return call.args[0].cast(pl.Binary)


def _decode(call: ColumnCall) -> pl.Expr:
    _charset(call)
    return to_string(call.args[0], t.BYTES, call.active)


COLUMNS: dict[str, WriteColumn] = {
    **{
        name: _digest(name.lower())
        for name in ("MD5", "SHA1", "SHA224", "SHA256", "SHA384", "SHA512")
    },
    "SHA2": _sha2,
    "ENCODE": _encode,
    "DECODE": _decode,
    "TO_BASE64": lambda call: call.args[0].cast(pl.Binary).bin.encode("base64"),
}
