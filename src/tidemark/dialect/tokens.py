"""Splits SQL into tokens by Flink's rules for words, quotes, numbers, comments and hints."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NoReturn

from sqlglot.tokenizer_core import Token, TokenType
from sqlglot.tokens import Tokenizer

from tidemark.errors import ParseError, Source, Span

PUNCTUATION = {
    "(": TokenType.L_PAREN,
    ")": TokenType.R_PAREN,
    "[": TokenType.L_BRACKET,
    "]": TokenType.R_BRACKET,
    "{": TokenType.L_BRACE,
    "}": TokenType.R_BRACE,
    ",": TokenType.COMMA,
    ".": TokenType.DOT,
    ";": TokenType.SEMICOLON,
    ":": TokenType.COLON,
    "::": TokenType.DCOLON,
    "+": TokenType.PLUS,
    "-": TokenType.DASH,
    "*": TokenType.STAR,
    "/": TokenType.SLASH,
    "%": TokenType.MOD,
    "||": TokenType.DPIPE,
    "|": TokenType.PIPE,
    "^": TokenType.CARET,
    "$": TokenType.DOLLAR,
    "?": TokenType.PLACEHOLDER,
    "=": TokenType.EQ,
    "<>": TokenType.NEQ,
    "!=": TokenType.NEQ,
    "<=": TokenType.LTE,
    ">=": TokenType.GTE,
    "<": TokenType.LT,
    ">": TokenType.GT,
    "=>": TokenType.FARROW,
}

# A hint opens with `/*+`. Its end looks like the end of a comment, so it is a token of its own that
# the scanner returns only outside of comments.
HINT_START, HINT_END = "/*+", "*/"

# `//` starts a comment, but not in `SET state.checkpoints.dir = s3://bucket/folder;`.
_TOKEN = re.compile(
    r"""
      (?P<space>    \s+ | (?:--|(?<![:/])//)[^\n\r]* | /\*(?!\+)(?s:.*?)\*/ )
    | (?P<hint>     /\*\+ | \*/ )
    | (?P<unclosed> /\* )
    | (?P<string>   (?: [Uu]& | [XxNn] | _[A-Za-z0-9\-_]+ )? '(?:[^']|'')*' )
    | (?P<name>     `(?:[^`]|``)*` )
    | (?P<double>   "(?:[^"]|"")*" )
    | (?P<number>   (?: \d+(?:\.\d*)? | \.\d+ ) (?:[eE][+-]?\d+)? )
    | (?P<word>     \$?[^\W\d][\w$]* )
    | (?P<mark>     <> | != | <= | >= | => | \|\| | :: | [()\[\]{},.;:+\-*/%|^$?=<>] )
    """,
    re.VERBOSE,
)

_TYPOGRAPHIC = {"‘": "'", "’": "'", "“": "'", "”": "'", "–": "--", "—": "--"}
_UNCLOSED = {
    "'": ("unclosed string", "close it with a single quote: '"),
    '"': ("unclosed string", "strings go in single quotes: '...'"),
    "`": ("unclosed name", "close it with a back quote: `"),
}


class Unclosed(ParseError):
    """A string, name or comment that is not closed yet."""


class FlinkTokenizer(Tokenizer):
    """Words keep their case and are all VAR: what is a keyword depends on the context.

    Strings keep their prefix and quotes, so that a later stage can decode them and point inside.
    """

    IDENTIFIERS = ["`"]  # noqa: RUF012
    QUOTES = ["'"]  # noqa: RUF012

    def tokenize(self, sql: str) -> list[Token]:
        return scan(Source(sql))


def scan(source: Source) -> list[Token]:
    """All tokens of the source, without whitespace and comments."""
    tokens: list[Token] = []
    text, at = source.text, 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup == "unclosed":
            _refuse(source, at)
        kind, end = found.lastgroup, found.end()
        if kind != "space":
            _check_number(source, found, tokens)
            tokens.append(_token(str(kind), found.group(), at, end))
        at = end
    return tokens


def _token(kind: str, text: str, start: int, end: int) -> Token:
    match kind:
        case "name":
            kind_of_token, text = TokenType.IDENTIFIER, text[1:-1].replace("``", "`")
        case "string":
            kind_of_token = TokenType.STRING
        case "double":
            kind_of_token = TokenType.HEREDOC_STRING
        case "number":
            kind_of_token = TokenType.NUMBER
        case "word":
            kind_of_token = TokenType.VAR
        case "hint":
            kind_of_token = TokenType.HINT
        case _:
            kind_of_token = PUNCTUATION[text]
    return Token(kind_of_token, text, start=start, end=end - 1)


def _begins_with_set(tokens: Sequence[Token]) -> bool:
    """Whether the last statement is a SET, whose value needs no quotes: `SET a.b = 3s`."""
    words = (token.text for token in reversed(tokens))
    *_, first = ("", *takewhile(lambda word: word != ";", words))
    return first.upper() == "SET"


def _check_number(source: Source, found: re.Match[str], before: Sequence[Token]) -> None:
    """`10L` and `1abc` are not numbers; a name that starts with a digit needs back quotes."""
    if found.lastgroup != "number":
        return
    rest = re.compile(r"\w+").match(source.text, found.end())
    if rest is not None and not _begins_with_set(before):
        whole = source.text[found.start() : rest.end()]
        raise ParseError(
            f"`{whole}` is neither a number nor a name",
            at=Span(found.start(), rest.end()),
            source=source,
            hint=f"a name that starts with a digit needs back quotes: `{whole}`",
        )


def _refuse(source: Source, at: int) -> NoReturn:
    text = source.text
    line_end = len(text) if (end := text.find("\n", at)) < 0 else end
    if text.startswith("/*", at):
        raise Unclosed(
            "unclosed comment",
            at=Span(at, line_end),
            source=source,
            hint="close it with */",
        )
    character = text[at]
    if character in _UNCLOSED:
        message, hint = _UNCLOSED[character]
        raise Unclosed(message, at=Span(at, line_end), source=source, hint=hint)
    raise ParseError(
        f"unexpected character {character!r}",
        at=Span(at, at + 1),
        source=source,
        hint=_hint_for(character),
    )


def _hint_for(character: str) -> str | None:
    if character in _TYPOGRAPHIC:
        return f"{character} is a typographic character; write {_TYPOGRAPHIC[character]} instead"
    if character == "#":
        return "comments start with --"
    return None
