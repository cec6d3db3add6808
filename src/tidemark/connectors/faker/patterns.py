"""The regular expressions of `regexify`, as what makes strings that match them."""

from __future__ import annotations

import string
from dataclasses import dataclass
from typing import Final, TypeAlias

from tidemark.connectors.faker.expressions import BadExpression


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of these characters."""

    characters: str


@dataclass(frozen=True, slots=True)
class Either:
    branches: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class InOrder:
    parts: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Repeated:
    part: Pattern
    least: int
    most: int


Pattern: TypeAlias = str | OneOf | Either | InOrder | Repeated

_WORD: Final = string.ascii_letters + string.digits + "_"
_CLASSES: Final = {"d": string.digits, "w": _WORD, "s": " ", "n": "\n", "t": "\t"}
_ANY: Final = string.ascii_letters + string.digits
_ENDLESS: Final = 10  # repetitions more than the least, without an upper bound
_MOST: Final = 1000


def pattern(text: str) -> Pattern:
    """What makes strings that match. Raises BadExpression."""
    reader = _Reader(text)
    found = reader.either()
    if reader.place < len(text):
        raise reader.problem(f"unexpected '{text[reader.place]}'")
    return found


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0

    def problem(self, what: str) -> BadExpression:
        return BadExpression(f"{what} at character {self.place + 1} of the pattern '{self.text}'")

    def peek(self) -> str:
        return self.text[self.place : self.place + 1]

    def take(self) -> str:
        taken = self.peek()
        if not taken:
            raise self.problem("the pattern ends too early")
        self.place += 1
        return taken

    def expect(self, wanted: str) -> None:
        if self.peek() != wanted:
            raise self.problem(f"expected '{wanted}'")
        self.place += 1

    def either(self) -> Pattern:
        branches = [self.sequence()]
        while self.peek() == "|":
            self.take()
            branches.append(self.sequence())
        return branches[0] if len(branches) == 1 else Either(tuple(branches))

    def sequence(self) -> Pattern:
        parts: list[Pattern] = []
        while self.peek() not in ("", "|", ")"):
            part = self.repeated(self.one())
            last = parts[-1] if parts else None
            if isinstance(part, str) and isinstance(last, str):
                parts[-1] = last + part
            else:
                parts.append(part)
        if len(parts) == 1:
            return parts[0]
        return InOrder(tuple(parts)) if parts else ""

    def one(self) -> Pattern:
        match self.take():
            case "(":
                if self.text.startswith("?:", self.place):
                    self.place += 2
                inner = self.either()
                self.expect(")")
                return inner
            case "[":
                return OneOf(self.characters())
            case ".":
                return OneOf(_ANY)
            case "\\":
                escaped = self.take()
                return OneOf(_CLASSES[escaped]) if escaped in _CLASSES else escaped
            case "^" | "$":
                return ""
            case ("*" | "+" | "?") as sign:
                self.place -= 1
                raise self.problem(f"nothing to repeat before '{sign}'")
            case character:
                return character

    def characters(self) -> str:
        """Those of a class, after its bracket."""
        if self.peek() == "^":
            raise self.problem("a class of other characters ([^...]) is not supported")
        found = ""
        while self.peek() != "]":
            first = self.take()
            if first == "\\":
                escaped = self.take()
                if escaped in _CLASSES:
                    found += _CLASSES[escaped]
                    continue
                first = escaped
            if self.peek() == "-" and self.text[self.place + 1 : self.place + 2] not in ("]", ""):
                self.take()
                last = self.take()
                if last < first:
                    raise self.problem(f"'{first}-{last}' is not a range")
                found += "".join(map(chr, range(ord(first), ord(last) + 1)))
            else:
                found += first
        self.expect("]")
        if not found:
            raise self.problem("an empty class")
        return "".join(dict.fromkeys(found))

    def repeated(self, part: Pattern) -> Pattern:
        match self.peek():
            case "?":
                least, most = 0, 1
            case "*":
                least, most = 0, _ENDLESS
            case "+":
                least, most = 1, 1 + _ENDLESS
            case "{":
                return self.counted(part)
            case _:
                return part
        self.take()
        return Repeated(part, least, most)

    def counted(self, part: Pattern) -> Pattern:
        end = self.text.find("}", self.place)
        first, comma, last = self.text[self.place + 1 : max(end, 0)].partition(",")
        try:
            least = int(first)
            most = least if not comma else int(last) if last else least + _ENDLESS
        except ValueError:
            raise self.problem("expected '{n}', '{n,}' or '{n,m}'") from None
        if not 0 <= least <= most <= _MOST:
            raise self.problem(f"repetitions must be between 0 and {_MOST}")
        self.place = end + 1
        return part if (least, most) == (1, 1) else Repeated(part, least, most)
