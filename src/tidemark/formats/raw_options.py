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
    t.Float: 4,
    t.Double: 8,
}


def wrong_size(expected: int, found: str) -> str:
    return f"expected {expected} bytes, found {found}"


def no_null(field: str) -> tuple[str, str, str]:
    """What to say about a NULL that is to be written: the problem, the reason and a hint."""
    return (
        f"cannot write NULL in `{field}` with the raw format",
        "the raw format cannot represent NULL",
        f"filter such rows, or use COALESCE({field}, ...)",
    )
