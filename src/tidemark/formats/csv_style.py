"""How a table's CSV records are written."""

from __future__ import annotations

import re
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

# What Java trims.
BLANKS = "".join(map(chr, range(0x21)))
UNBALANCED = "unclosed quotes, or text after them"


def miscounted(expected: int, found: str) -> str:
    return f"expected {expected} fields, found {found}"


_ESCAPES = re.compile(r"\\(?:u+([0-9a-fA-F]{4})|([0-3]?[0-7]{1,2})|(.))", re.DOTALL)
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def unescaped(delimiter: str) -> str:
    """The delimiter between fields may be written as in Java: `\\t`, `\\u0001`."""
    return _ESCAPES.sub(_character, delimiter)


def _character(escape: re.Match[str]) -> str:
    code, octal, letter = escape.groups()
    if letter is not None:
        return _LETTERS.get(letter, letter)
    return chr(int(code, 16) if code is not None else int(octal, 8))


@dataclass(frozen=True, slots=True)
class Style:
    delimiter: str = ","
    quote: str | None = '"'
    escape: str | None = None
    null: str | None = None
    elements: str = ";"
    comments: bool = False
    ignores_errors: bool = False
    scientific: bool = True

    @staticmethod
    def of(options: Mapping[str, Any]) -> Style:
        return Style(
            delimiter=unescaped(options.get(DELIMITER, ",")),
            quote=None if options.get(NO_QUOTE) else options.get(QUOTE, '"'),
            escape=options.get(ESCAPE),
            null=options.get(NULL),
            elements=options.get(ELEMENTS, ";"),
            comments=bool(options.get(COMMENTS)),
            ignores_errors=bool(options.get(IGNORE)),
            scientific=options.get(SCIENTIFIC) is not False,
        )
