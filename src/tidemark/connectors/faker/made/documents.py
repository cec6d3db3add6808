"""JSON objects as columns, whose values are expressions themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from tidemark.connectors.faker.expressions import Member, is_document
from tidemark.connectors.faker.made.pattern_columns import constant
from tidemark.connectors.made_rows.columns import strings
from tidemark.connectors.made_rows.columns.draws import Draws

# The strings of an expression, for some draws.
Made = Callable[[str, Draws], pa.Array]

_SHORT: Final = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
# The backslash first: those of other characters come after it.
_ESCAPES: Final = {
    "\\": "\\\\",
    '"': '\\"',
    **{chr(code): _SHORT.get(chr(code), f"\\u{code:04x}") for code in range(0x20)},
}


def document(members: tuple[Member, ...], draws: Draws, made: Made) -> pa.Array:
    """An object for each row, with Datafaker's spaces."""
    if not members:
        return constant("{}", len(draws.numbers))
    parts: list[pa.Array | str] = []
    for place, member in enumerate(members):
        inner = draws.field(str(place))
        parts += [", " if place else "{", _quoted(made(member.name, inner.field("name"))), ": "]
        if member.count is None:
            parts.append(_value(member.value, inner, made))
            continue
        for nth in range(member.count):
            parts += [", " if nth else "[", _value(member.value, inner.field(str(nth)), made)]
        parts.append("]")
    return strings.joined(*parts, "}")


def _value(text: str, draws: Draws, made: Made) -> pa.Array:
    values = made(text, draws)
    return values if is_document(text) else _quoted(values)


def _quoted(values: pa.Array) -> pa.Array:
    text = values.cast(pa.large_string())
    if pc.any(pc.match_substring_regex(text, r'[\\"\x00-\x1f]')).as_py():
        for character, escaped in _ESCAPES.items():
            text = pc.replace_substring(text, character, escaped)
    return strings.joined('"', text, '"')
