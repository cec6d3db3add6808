"""How a table's CSV records are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

IGNORE = "csv.ignore-parse-errors"
DELIMITER = "csv.field-delimiter"
QUOTE = "csv.quote-character"
NO_QUOTE = "csv.disable-quote-character"
ESCAPE = "csv.escape-character"
NULL = "csv.null-literal"
COMMENTS = "csv.allow-comments"
ELEMENTS = "csv.array-element-delimiter"
SCIENTIFIC = "csv.write-bigdecimal-in-scientific-notation"

# Longer strings are always quoted, as in the library of Flink's format.
ALWAYS_QUOTED_FROM = 25
# Without an escape character, a string with this one is quoted.
BACKSLASH = "\\"

UNBALANCED = "unclosed quotes, or text after them"


def miscounted(expected: int, found: str) -> str:
    return f"expected {expected} fields, found {found}"


def unescaped(text: str) -> str:
    """`\\t` and the like may be written with a backslash."""
    return {"\\t": "\t", "\\\\": "\\", "\\n": "\n", "\\r": "\r"}.get(text, text)


@dataclass(frozen=True, slots=True)
class Style:
    delimiter: str = ","
    quote: str | None = '"'
    escape: str | None = None
    null: str | None = None
    elements: str = ";"
    comments: bool = False
    ignores_errors: bool = False

    @staticmethod
    def of(options: Mapping[str, Any]) -> Style:
        escape = options.get(ESCAPE)
        return Style(
            delimiter=unescaped(options.get(DELIMITER, ",")),
            quote=None if options.get(NO_QUOTE) else unescaped(options.get(QUOTE, '"')),
            escape=None if escape is None else unescaped(escape),
            null=options.get(NULL),
            elements=unescaped(options.get(ELEMENTS, ";")),
            comments=bool(options.get(COMMENTS)),
            ignores_errors=bool(options.get(IGNORE)),
        )
