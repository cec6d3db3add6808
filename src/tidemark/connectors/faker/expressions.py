"""The expressions of Datafaker: text with calls such as `#{number.numberBetween '0','10'}`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

# An argument is in quotes; two of them mean one, and a backslash keeps what follows it.
_ARGUMENT: Final = re.compile(r"'((?:[^']|'')*)'")
_CALL: Final = re.compile(r"#\{\s*([A-Za-z_][\w.]*)((?:\s*,?\s*'(?:[^']|'')*')*)\s*\}")


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
