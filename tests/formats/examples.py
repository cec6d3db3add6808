"""What tests of formats share: fields from SQL, and the two ways of a decoder."""

from __future__ import annotations

from typing import Any

from tidemark import types as t
from tidemark.dialect import parse_type
from tidemark.formats.decoded import Decoded
from tidemark.formats.decoders import DECODERS

ALWAYS, NEVER = 1, 1_000_000_000


def fields_of(columns: str) -> tuple[t.Field, ...]:
    """The fields of `ROW<...>` with this content."""
    row = parse_type(f"ROW<{columns}>")
    assert isinstance(row, t.Row)
    return row.fields


def options_of(options: dict[str, str]) -> dict[str, Any]:
    """Options named like `json.x` with `__` for `.` and `_` for `-`."""
    named = {key.replace("__", ".").replace("_", "-"): value for key, value in options.items()}
    return {
        key: value == "true" if value in ("true", "false") else value
        for key, value in named.items()
    }


def decoded(
    format_: str, columns: str, block: Any, *, few: int = ALWAYS, **options: str
) -> Decoded:
    """A block of `f`, the quick way where that is possible."""
    make: Any = DECODERS[format_]
    result: Decoded = make(fields_of(columns), options_of(options), few=few)(block, file="f")
    return result


def rows(format_: str, columns: str, block: Any, **options: Any) -> list[tuple[Any, ...]]:
    return decoded(format_, columns, block, **options).rows.rows()
