"""A Pygments lexer for Flink SQL, to highlight what is typed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar

from pygments.lexer import RegexLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

from tidemark import functions
from tidemark.cli.shell.vocabulary import KEYWORDS, PHRASES, TYPES


def _word(lexer: object, match: re.Match[str]) -> Iterator[tuple[int, Any, str]]:
    yield match.start(), _kind_of(match[0].upper()), match[0]


def _called_word(lexer: object, match: re.Match[str]) -> Iterator[tuple[int, Any, str]]:
    """A word before a parenthesis: usually a function, but also `IN (`, `VALUES (` and the like."""
    word = match[0].upper()
    is_function = word in functions.BUILT_IN and word not in PHRASES
    yield match.start(), Name.Function if is_function else _kind_of(word), match[0]


def _kind_of(word: str) -> Any:
    if word in TYPES:
        return Keyword.Type
    return Keyword if word in KEYWORDS else Name


class FlinkSqlLexer(RegexLexer):  # type: ignore[misc]  # Pygments is untyped
    """Highlights by word lists: good enough while a statement is still being written."""

    name = "Flink SQL"
    aliases: ClassVar[list[str]] = ["flinksql"]
    filenames: ClassVar[list[str]] = []

    tokens: ClassVar[dict[str, list[tuple[Any, ...]]]] = {
        "root": [
            (r"\s+", Text),
            (r"(--|//).*", Comment.Single),
            (r"/\*\+", Comment.Preproc, "hint"),
            (r"/\*", Comment.Multiline, "comment"),
            (r"'(?:[^']|'')*'?", String),
            (r"`(?:[^`]|``)*`?", Name.Variable),
            (r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?", Number),
            (r"[^\W\d][\w$]*(?=\s*\()", _called_word),
            (r"[^\W\d][\w$]*", _word),
            (r"[()\[\]{},.;:]", Punctuation),
            (r"[^\s\w]", Operator),
        ],
        "comment": [(r"\*/", Comment.Multiline, "#pop"), (r"(?s).", Comment.Multiline)],
        "hint": [(r"\*/", Comment.Preproc, "#pop"), (r"(?s).", Comment.Preproc)],
    }
