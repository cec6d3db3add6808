"""What is known about a Java regular expression without running it.

Flink returns NULL for an invalid pattern and for a group that did not participate in the match;
Spark fails for the first and returns an empty string for the second. Analyzing the pattern shows
which of the two can happen, so that ordinary patterns cost nothing extra.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tidemark.functions.spark_text import string

_ESCAPES_WITHOUT_ARGUMENT = "dDwWsSbBAzZGtnrfaehHvVR"
_QUOTED_END = r"\E\\E\Q"
_QUANTIFIER = re.compile(r"(?:[*+?]|\{\d+(?:,\d*)?\})[?+]?")
_OPENING = re.compile(r"\((?:\?(?::|=|!|<=|<!|>|<[A-Za-z][A-Za-z0-9]*>))?")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A valid pattern, and which of its groups are in every match."""

    always_matched: tuple[bool, ...]

    @property
    def groups(self) -> int:
        return len(self.always_matched)


@dataclass(slots=True)
class _Open:
    """A parenthesis that is still open, and the index of its first group."""

    first_inside: int
    captures: bool = False
    negated: bool = False
    has_alternatives: bool = False

    @property
    def first_within(self) -> int:
        """The first group inside this one, not counting itself."""
        return self.first_inside + self.captures


def read(pattern: str) -> Pattern | None:
    """The pattern's groups, or None if only Java can decide whether the pattern is valid."""
    reader = _Reader(pattern)
    return Pattern(tuple(reader.always)) if reader.read() else None


class _Reader:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.here = 0
        self.always: list[bool] = []
        # The outermost level counts as a parenthesis around everything.
        self.open = [_Open(0)]
        self.repeatable = False

    def read(self) -> bool:
        while self.here < len(self.pattern):
            if not self._step(self.pattern[self.here]):
                return False
        if self.open[0].has_alternatives:
            self._mark_optional(0)
        return len(self.open) == 1

    def _step(self, character: str) -> bool:
        if character == "(":
            return self._enter()
        if character == ")":
            return self._leave()
        if character == "|":
            return self._next_alternative()
        if character in "*+?{":
            return self._quantify()
        if character == "[":
            return self._character_class()
        length = self._escape() if character == "\\" else 1
        self.here += length
        self.repeatable = character not in "^$"
        return length > 0 and character not in "]}"

    def _enter(self) -> bool:
        opening = _OPENING.match(self.pattern, self.here)
        assert opening is not None
        text = opening.group()
        if text == "(" and self.pattern.startswith("(?", self.here):
            return False  # flags and other Java syntax
        captures = text == "(" or (text.endswith(">") and text != "(?>")
        negated = text in ("(?!", "(?<!")
        self.open.append(_Open(len(self.always), captures, negated))
        if captures:
            self.always.append(True)
        self.here = opening.end()
        self.repeatable = False
        return True

    def _leave(self) -> bool:
        if len(self.open) == 1:
            return False
        closed = self.open.pop()
        self.here += 1
        quantifier = _QUANTIFIER.match(self.pattern, self.here)
        repetition = quantifier.group() if quantifier else ""
        if repetition.startswith(("*", "?", "{0")) or closed.negated:
            self._mark_optional(closed.first_inside)
        elif closed.has_alternatives:
            self._mark_optional(closed.first_within)
        self.here += len(repetition)
        self.repeatable = not repetition
        return True

    def _mark_optional(self, first: int) -> None:
        self.always[first:] = [False] * (len(self.always) - first)

    def _next_alternative(self) -> bool:
        self.open[-1].has_alternatives = True
        self._mark_optional(self.open[-1].first_within)
        self.here += 1
        self.repeatable = False
        return True

    def _quantify(self) -> bool:
        quantifier = _QUANTIFIER.match(self.pattern, self.here)
        if quantifier is None or not self.repeatable:
            return False
        self.here = quantifier.end()
        self.repeatable = False
        return True

    def _character_class(self) -> bool:
        """`[...]` with single characters, ranges and simple escapes; no nested classes."""
        start = self.here + 1 + self.pattern.startswith("^", self.here + 1)
        place, previous = start, ""
        while place < len(self.pattern):
            character = self.pattern[place]
            if character == "]" and place > start:
                self.here = place + 1
                self.repeatable = True
                return True
            if character in "[]" or self.pattern.startswith("&&", place):
                return False  # nested, or an intersection
            if character == "-" and not self._is_range(place, previous):
                return False
            if character == "\\":
                self.here = place
                length = self._escape()
                if length == 0:
                    return False
                previous, place = "", place + length
            else:
                previous, place = character, place + 1
        return False

    def _is_range(self, place: int, previous: str) -> bool:
        """A hyphen between two characters in order, or at either end."""
        following = self.pattern[place + 1 : place + 2]
        if previous == "" or following == "]":
            return following != "" and following != "["
        return following.isalnum() and previous <= following

    def _escape(self) -> int:
        """The length of the escape here; 0 if it takes an argument."""
        escaped = self.pattern[self.here + 1 : self.here + 2]
        if not escaped or (escaped.isalnum() and escaped not in _ESCAPES_WITHOUT_ARGUMENT):
            return 0
        return 2


# --- as Spark SQL ------------------------------------------------------------------------------


def sound(text: str, value: object = None) -> str:
    """Spark SQL for a pattern that is NULL if Java cannot compile it.

    `value` is the pattern if it is known. Compiling is the only test; Spark can do it through
    reflection, which returns the pattern as a string.
    """
    if isinstance(value, str) and read(value) is not None:
        return text
    return f"try_reflect('java.util.regex.Pattern', 'compile', {text})"


def quoted(text: str, value: object = None) -> str:
    """Spark SQL for a pattern that matches exactly the value of another Spark expression."""
    if isinstance(value, str):
        return string(re.escape(value))
    begin, end = string(r"\Q"), string(r"\E")
    # The string may contain an end of quotation: end it, write the two characters, begin again.
    inside = f"replace({text}, {end}, {string(_QUOTED_END)})"
    return f"concat({begin}, {inside}, {end})"


def quoted_replacement(text: str, value: object = None) -> str:
    r"""Spark SQL for a replacement in which `$` and `\` are literal."""
    if isinstance(value, str):
        return string(re.sub(r"([\\$])", r"\\\1", value))
    for character in ("\\", "$"):
        text = f"replace({text}, {string(character)}, {string(chr(92) + character)})"
    return text
