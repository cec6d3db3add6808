"""What tests of formats share: fields from SQL, and the two ways of a decoder."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import Any

from tidemark import types as t
from tidemark.dialect import parse_type
from tidemark.formats.decoded import Decoded
from tidemark.formats.decoders import CHANGELOG_DECODERS, decoder

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
    format_: str,
    columns: str,
    block: Any,
    *,
    few: int = ALWAYS,
    read: Collection[str] | None = None,
    **options: str,
) -> Decoded:
    """A block of `f`, the quick way where that is possible."""
    decode = decoder(format_, fields_of(columns), options_of(options), few=few, read=read)
    return decode(block, file="f")


def events(
    format_: str,
    columns: str,
    lines: Iterable[Any],
    *,
    few: int = ALWAYS,
    metadata: Any = (),
    **options: str,
) -> Decoded:
    """Events of `f`, or lines that are none."""
    block = "".join(f"{e if isinstance(e, str) else json.dumps(e)}\n" for e in lines).encode()
    make: Any = CHANGELOG_DECODERS[format_]
    decode = make(fields_of(columns), options_of(options), metadata, few=few)
    result: Decoded = decode(block, file="f")
    return result


def changes(*args: Any, **named: Any) -> list[tuple[Any, ...]]:
    """The rows of events, each with its kind."""
    found = events(*args, **named)
    assert found.kinds is not None
    return [(*row, kind) for row, kind in zip(found.rows.rows(), found.kinds, strict=True)]


def rows(format_: str, columns: str, block: Any, **options: Any) -> list[tuple[Any, ...]]:
    return decoded(format_, columns, block, **options).rows.rows()
