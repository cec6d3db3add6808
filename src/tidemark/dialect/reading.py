"""Entry points of the parser: SQL text in, typed values out; every failure is an `SqlError` with
a location.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sqlglot import exp

from tidemark.dialect.cursor import END, key_of
from tidemark.dialect.script import ScriptParser
from tidemark.dialect.statements import Script
from tidemark.dialect.tokens import Unclosed, scan
from tidemark.errors import ParseError, Source, Span
from tidemark.types import DataType

Found = TypeVar("Found")


def parse_script(text: str, name: str = "<sql>") -> Script:
    """All statements of a script. Error messages call it `name`, such as a file name."""
    return _read(text, name, ScriptParser.script)


def parse_query(text: str, name: str = "<sql>") -> exp.Expression:
    """One query, without EMIT."""
    return _read(text, name, lambda parser: parser.whole(parser.query))


def parse_expression(text: str, name: str = "<sql>") -> exp.Expression:
    """One scalar expression."""
    return _read(text, name, lambda parser: parser.whole(parser.expression))


def parse_type(text: str, name: str = "<sql>") -> DataType:
    """One type, such as `ARRAY<ROW<a INT NOT NULL>>`."""
    return _read(text, name, lambda parser: parser.whole(parser.data_type))


def _read(text: str, name: str, read: Callable[[ScriptParser], Found]) -> Found:
    source = Source(text, name)
    try:
        return read(ScriptParser(source))
    except RecursionError:
        # The parser limits its depth, but a caller deep in its own stack may still overflow it.
        raise ParseError(
            "nesting is too deep",
            at=Span(0, len(text)),
            source=source,
            hint="split it into views or common table expressions (WITH)",
        ) from None


def is_complete(text: str) -> bool:
    """Whether the text contains at least one complete statement and no incomplete one after it.

    For shells that read line by line: semicolons inside strings, names, comments and open statement
    sets do not end a statement.
    """
    try:
        keys = [key_of(token) for token in scan(Source(text))]
    except Unclosed:
        return False
    except ParseError:
        return text.rstrip().endswith(";")
    return _ends_statement(keys)


def _ends_statement(keys: list[str]) -> bool:
    if not keys or keys[-1] != ";":
        return False
    opened = False
    for index, key in enumerate(keys):
        before = keys[index - 1] if index else ";"
        if key == "STATEMENT" and keys[index + 1 : index + 2] == ["SET"]:
            opened = opened or before == "BEGIN" or keys[index + 2 : index + 3] == ["BEGIN"]
        elif key == "END" and before == ";":
            opened = False
    return not opened and any(key not in (";", END) for key in keys)
