"""The raw format's options, and the sizes of its values."""

from __future__ import annotations

from tidemark import types as t

CHARSET = "raw.charset"
ENDIANNESS = "raw.endianness"

# The size of a value in bytes.
WIDTHS: dict[type[t.DataType], int] = {
    t.Boolean: 1,
    t.TinyInt: 1,
    t.SmallInt: 2,
    t.Int: 4,
    t.BigInt: 8,
}


def wrong_size(expected: int, found: str) -> str:
    return f"expected {expected} bytes, found {found}"
