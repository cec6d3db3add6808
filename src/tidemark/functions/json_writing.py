"""Whole columns of SQL values as JSON: Arrow arrays in, an Arrow array out.

Arrow has no kernel that writes JSON, so these loop over the rows.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
import math
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tidemark.functions import json_text

if TYPE_CHECKING:
    import pyarrow as pa


def strings(values: list[str | None]) -> pa.Array:
    """An Arrow column of strings."""
    import pyarrow as pa

    try:
        return pa.array(values, pa.string())
    except UnicodeEncodeError:
        # An unpaired surrogate, which JSON can spell, becomes a question mark, as in Flink.
        return pa.array(
            [v if v is None else v.encode("utf-8", "replace").decode() for v in values], pa.string()
        )


def write(values: pa.Array, shapes: pa.Array | None = None) -> pa.Array:
    """Values of any SQL type as JSON.

    Spark may use other names for the fields of a ROW; `shapes` then contains, the same in each row,
    the result of `json_calls.shape` for the type.
    """
    shape = None if shapes is None or not len(shapes) else json.loads(shapes[0].as_py())
    plain = values.to_pylist(maps_as_pydicts="strict")
    return strings([None if v is None else json_text.serialize(_json(v, shape)) for v in plain])


def _json(value: Any, shape: Any = None) -> Any:
    """A Python value as a JSON value."""
    if value is None:
        return None
    if isinstance(value, float):
        return _decimal_of(value)
    if isinstance(value, dt.datetime):
        return _timestamp_text(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict) and isinstance(shape, list):
        fields = zip(shape, value.values(), strict=True)
        return {name: _json(inner, inside) for (name, inside), inner in fields}
    inside = shape["each"] if shape else None
    if isinstance(value, dict):
        return {str(key): _json(inner, inside) for key, inner in value.items()}
    if isinstance(value, list):
        return [_json(inner, inside) for inner in value]
    return value


def _decimal_of(value: float) -> Decimal:
    """A double with the digits that Java prints for it, as a decimal to keep them."""
    if not math.isfinite(value):
        raise ValueError(f"JSON cannot represent the number {value}")
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return Decimal(repr(value))
    sign, digits, _ = Decimal(repr(value)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0")
    power = Decimal(repr(value)).adjusted()
    return Decimal(f"{'-' if sign else ''}{text[0]}.{text[1:] or '0'}E{power}")


def _timestamp_text(value: dt.datetime) -> str:
    """ISO 8601 without trailing zeros; instants in UTC."""
    zone = "" if value.tzinfo is None else "Z"
    if zone:
        value = value.astimezone(dt.UTC).replace(tzinfo=None)
    text = value.isoformat()
    return (text.rstrip("0") if "." in text else text) + zone


def normalize(documents: pa.Array) -> pa.Array:
    """JSON as it is inserted into other JSON; an empty string is null, others must be JSON."""
    return strings([_normalized(text) for text in documents.to_pylist()])


def _normalized(text: str | None) -> str | None:
    if text is None or not text.strip():
        return None
    try:
        return json_text.serialize(json_text.parse(text))
    except ValueError as problem:
        raise ValueError(f"the argument of JSON is not JSON: {text!r}: {problem}") from None


# --- JSON_QUOTE and JSON_UNQUOTE ---------------------------------------------------------------

_QUOTED = {
    '"': r"\"",
    "\\": r"\\",
    "/": r"\/",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
}
_TO_QUOTE = re.compile(r'["\\/\b\f\n\r\t\x80-\U0010ffff]')
_ESCAPE = re.compile(r'\\(?:(["\\/bfnrt])|u([0-9a-fA-F]{4}))')
_UNQUOTED = {written[1]: character for character, written in _QUOTED.items()}


def quote(documents: pa.Array) -> pa.Array:
    """Strings as JSON strings of ASCII characters."""
    return strings(
        [
            None if text is None else f'"{_TO_QUOTE.sub(_quoted, text)}"'
            for text in documents.to_pylist()
        ]
    )


def _quoted(match: re.Match[str]) -> str:
    character = match.group()
    if character in _QUOTED:
        return _QUOTED[character]
    escape = f"\\u{ord(character):04x}"
    if ord(character) > 0xFFFF:
        # Flink writes the whole code point and then its low surrogate once more.
        escape += f"\\u{0xDC00 + (ord(character) & 0x3FF):04x}"
    return escape


def unquote(documents: pa.Array) -> pa.Array:
    """The content of quoted JSON strings; other strings are unchanged."""
    return strings([_unquoted(text) for text in documents.to_pylist()])


def _unquoted(text: str | None) -> str | None:
    if text is None or len(text) < 2 or text[0] != '"' or text[-1] != '"':
        return text
    try:
        json_text.parse(text)
    except ValueError:
        return text
    return _ESCAPE.sub(_character, text[1:-1])


def _character(match: re.Match[str]) -> str:
    escaped, digits = match.groups()
    return _UNQUOTED[escaped] if escaped else chr(int(digits, 16))
