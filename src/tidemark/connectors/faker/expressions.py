"""The expressions of Datafaker: text with calls such as `#{number.numberBetween '0','10'}`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

# An argument is in quotes; two of them mean one, and a backslash keeps what follows it.
_ARGUMENT: Final = re.compile(r"'((?:[^']|'')*)'")
# Published examples have a parenthesis at the end, which opens nowhere.
_CALL: Final = re.compile(r"#\{\s*([A-Za-z_][\w.]*)((?:\s*,?\s*'(?:[^']|'')*')*)\s*\)?\s*\}")
_MOST_ELEMENTS: Final = 1000


@dataclass(frozen=True, slots=True)
class FakerCall:
    """A call; its name is as it is in the tables: without underscores, in lower case."""

    name: str
    arguments: tuple[str, ...]
    written: str


Expression: TypeAlias = Sequence[FakerCall | str]


class BadExpression(ValueError):
    """What is wrong with an expression, and a hint."""

    def __init__(self, problem: str, hint: str | None = None) -> None:
        super().__init__(problem)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a JSON object: its name and value are expressions; with a `count`, the value is
    an array of so many.
    """

    name: str
    value: str
    count: int | None = None


def members(call: FakerCall, *, arrays: bool) -> tuple[Member, ...]:
    """Those that a call names: `'name','value'` or, with arrays, `'count','name','value'` each,
    where a count that is not positive means no array. Raises BadExpression.
    """
    each = 3 if arrays else 2
    given = call.arguments
    if len(given) % each:
        names = "'count','name','value'" if arrays else "'name','value'"
        raise BadExpression(f"'{call.written}' takes {names} for each member")
    parts = (given[place : place + each] for place in range(0, len(given), each))
    if not arrays:
        return tuple(Member(name, value) for name, value in parts)
    return tuple(Member(name, value, _count(call, count)) for count, name, value in parts)


def _count(call: FakerCall, text: str) -> int | None:
    try:
        count = int(text)
    except ValueError:
        raise BadExpression(
            f"'{call.written}' does not take '{text}' as a count", "write a number, or '-1'"
        ) from None
    if count > _MOST_ELEMENTS:
        raise BadExpression(f"an array of '{call.written}' has at most {_MOST_ELEMENTS} elements")
    return count if count > 0 else None


def is_document(text: str) -> bool:
    """Whether the value is an object in another one, and not a string (the same in Datafaker)."""
    return text.startswith("#{json")


def folded(name: str) -> str:
    return name.replace("_", "").lower()


def parse(text: str) -> Expression:
    """The calls of an expression and the text between them. Raises BadExpression."""
    return tuple(_parts(text))


def _parts(text: str) -> Iterator[FakerCall | str]:
    end = 0
    while (start := text.find("#{", end)) >= 0:
        if start > end:
            yield text[end:start]
        found = _CALL.match(text, start)
        if found is None:
            raise BadExpression(
                f"cannot read '{text[start:]}'",
                "write #{name} or #{name 'argument','argument'}; in a WITH clause each quote of "
                "an argument is written twice",
            )
        arguments = (part.replace("''", "'") for part in _ARGUMENT.findall(found[2]))
        yield FakerCall(folded(found[1]), tuple(arguments), found[1])
        end = found.end()
    if end < len(text):
        yield text[end:]
