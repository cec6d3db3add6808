"""Walking over tokens: look ahead, consume, record where nodes come from, and raise errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn, TypeVar

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from tidemark.dialect.keywords import RESERVED
from tidemark.dialect.spans import mark
from tidemark.dialect.tokens import scan
from tidemark.errors import ParseError, Source, Span
from tidemark.unsupported import Unsupported

# Deeper expressions are rejected, so that code that walks a tree does not overflow the stack.
MAX_DEPTH = 100

STRING, NAME, NUMBER, DOUBLE, END = "<string>", "<name>", "<number>", "<double>", "<end>"

_KEYS = {
    TokenType.STRING: STRING,
    TokenType.IDENTIFIER: NAME,
    TokenType.NUMBER: NUMBER,
    TokenType.HEREDOC_STRING: DOUBLE,
}
_DESCRIBED = {STRING: "a string", NAME: "a name", NUMBER: "a number", END: "the end of the input"}

Node = TypeVar("Node", bound=exp.Expression)
Item = TypeVar("Item")


class Cursor:
    """A position in a list of tokens.

    `key` is what grammar rules look at: a word in upper case, a mark such as `(`, or one of the
    classes STRING, NAME, NUMBER, DOUBLE and END.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tokens = scan(source)
        self.keys = [key_of(token) for token in self.tokens] + [END]
        self.here = 0
        self.depth = 0
        self._closing: dict[int, int] | None = None

    # --- looking and taking --------------------------------------------------------------------

    @property
    def key(self) -> str:
        return self.keys[self.here]

    @property
    def token(self) -> Token:
        return self.tokens[self.here]

    def peek(self, ahead: int = 1) -> str:
        index = self.here + ahead
        return self.keys[index] if index < len(self.keys) else END

    def at(self, *options: str) -> bool:
        return self.keys[self.here] in options

    def sees(self, *sequence: str) -> bool:
        return tuple(self.keys[self.here : self.here + len(sequence)]) == sequence

    def take(self, *sequence: str) -> bool:
        """Consume the sequence if it comes next."""
        if not self.sees(*sequence):
            return False
        self.here += len(sequence)
        return True

    def take_any(self, *options: str) -> str | None:
        """Consume one of the options if it comes next, and return it."""
        key = self.key
        if key not in options:
            return None
        self.here += 1
        return key

    def next(self) -> Token:
        token = self.token
        self.here += 1
        return token

    def expect(self, *sequence: str, hint: str | None = None) -> None:
        for key in sequence:
            if not self.take(key):
                self.fail_expecting(f"`{key}`", hint=hint)

    def expect_any(self, *options: str) -> str:
        found = self.take_any(*options)
        if found is None:
            self.fail_expecting(one_of(options))
        return found

    def key_after_closing(self, opening: int) -> str:
        """The key after the parenthesis that closes the one at token `opening`."""
        if self._closing is None:
            self._closing = _match_parentheses(self.keys)
        closing = self._closing.get(opening)
        return END if closing is None else self.keys[closing + 1]

    # --- lists ---------------------------------------------------------------------------------

    def listed(self, item: Callable[[], Item]) -> list[Item]:
        """`item, item, ...`"""
        items = [item()]
        while self.take(","):
            items.append(item())
        return items

    def enclosed(self, item: Callable[[], Item], close: str = ")") -> list[Item]:
        """`item, item, ... )` after the opening mark: at least one."""
        items = self.listed(item)
        self.expect_close(close)
        return items

    def expect_close(self, close: str) -> None:
        """The end of a list; on failure, hint that a comma is missing."""
        if self.take(close):
            return
        starts_item = self.at(STRING, NAME, NUMBER, DOUBLE) or self.key.isidentifier()
        hint = "is a comma missing before it?" if starts_item else None
        self.fail_expecting(f"`,` or `{close}`", hint=hint)

    # --- names and strings ---------------------------------------------------------------------

    def at_name(self) -> bool:
        return self.key == NAME or (self.at_word() and self.key not in RESERVED)

    def at_alias(self) -> bool:
        """A name that can follow without AS. Flink does not allow EMIT here: it begins a clause."""
        return self.at_name() and not (self.at("EMIT") and self.peek() in ("WITH", "WITHOUT"))

    def at_word(self) -> bool:
        return self.here < len(self.tokens) and self.token.token_type is TokenType.VAR

    def name(self, what: str = "a name") -> str:
        """A name without its quotes; reserved words are not allowed."""
        if not self.at_name():
            self.fail_expecting(what)
        return self.next().text

    def any_word(self, what: str) -> str:
        """A name in a position where keywords are allowed too, such as after a dot."""
        if self.key != NAME and not self.at_word():
            self.fail_expecting(what)
        return self.next().text

    # --- places --------------------------------------------------------------------------------

    def span_from(self, start: int) -> Span:
        """The span from token number `start` to the last token taken."""
        if not self.tokens:
            return self.span_here()
        first = min(start, len(self.tokens) - 1)
        last = max(min(self.here, len(self.tokens)) - 1, first)
        return Span(self.tokens[first].start, self.tokens[last].end + 1)

    def span_here(self) -> Span:
        if self.here < len(self.tokens):
            return Span(self.token.start, self.token.end + 1)
        # At the end, the caret points after the last token: something is missing there.
        end = self.tokens[-1].end + 1 if self.tokens else 0
        return Span(end, end + 1)

    def located(self, node: Node, start: int) -> Node:
        """The node, marked as parsed from the tokens from `start` to here."""
        mark(node, self.span_from(start))
        return node

    # --- errors --------------------------------------------------------------------------------

    def fail(self, message: str, *, at: Span | None = None, hint: str | None = None) -> NoReturn:
        raise ParseError(message, at=at or self.span_here(), source=self.source, hint=hint)

    def fail_expecting(self, what: str, hint: str | None = None) -> NoReturn:
        self.fail(f"expected {what}, found {self.found()}", hint=hint or self._hint(what))

    def refuse(self, feature: Unsupported, word: str = "", *, start: int | None = None) -> NoReturn:
        """Reject a known feature that is not supported; the span runs from token `start`."""
        at = self.span_here() if start is None else self.span_from(start)
        raise feature.error(at, word, source=self.source)

    def found(self) -> str:
        key = self.key
        if key == NAME:
            return f"the name `{self.token.text}`"
        if key == NUMBER:
            return f"the number {self.token.text}"
        if key in (STRING, DOUBLE):
            return f"the string {self.token.text}"
        if key in _DESCRIBED:
            return _DESCRIBED[key]
        if self.at_word():
            kind = "keyword" if key in RESERVED else "word"
            return f"the {kind} `{self.token.text}`"
        return f"`{key}`"

    def _hint(self, what: str) -> str | None:
        if self.at("{", "$") and (self.peek() == "{" or self.sees("{", "{")):
            return "this is a template: replace its variables first, as envsubst does"
        if self.key == DOUBLE:
            return "strings go in single quotes, names in back quotes"
        if "name" in what and self.at_word() and self.key in RESERVED:
            return f"to use it as a name, write it in back quotes: `{self.token.text}`"
        return None

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """One more level of nesting."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(
                f"nesting is more than {MAX_DEPTH} levels deep",
                hint="split the query into views or common table expressions (WITH)",
            )
        try:
            yield
        finally:
            self.depth -= 1


def key_of(token: Token) -> str:
    """What grammar rules look at; see `Cursor`."""
    if token.token_type is TokenType.VAR:
        return token.text.upper()
    return _KEYS.get(token.token_type, token.text)


def _match_parentheses(keys: Sequence[str]) -> dict[int, int]:
    """For each opening parenthesis the one that closes it."""
    closing: dict[int, int] = {}
    opened: list[int] = []
    for index, key in enumerate(keys):
        if key == "(":
            opened.append(index)
        elif key == ")" and opened:
            closing[opened.pop()] = index
    return closing


def one_of(options: Sequence[str]) -> str:
    quoted = [f"`{option}`" for option in options]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"
