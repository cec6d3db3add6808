"""Java's date patterns, as DATE_FORMAT takes them, in Spark SQL.

Spark's own `date_format` takes a TIMESTAMP, which moves a local time out of the missing hour in
spring, and it lacks some letters. So a pattern is split: what Spark formats correctly goes to Spark
in one piece, the rest is assembled from fields.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby

from tidemark.functions.registry import SignatureMismatch
from tidemark.functions.spark_text import string
from tidemark.functions.times_of_day import time_of

# Date letters that Spark formats as Java does.
_DATE_LETTERS = "GyMLdDQqE"
# Time-of-day letters ...
_TIME_LETTERS = "ahKkHmsS"
# ... and how each is computed when Spark's formatter cannot be used.
_TIME_FIELDS = {
    "a": "if(hour({0}) < 12, 'AM', 'PM')",
    "h": "(hour({0}) + 11) % 12 + 1",
    "K": "hour({0}) % 12",
    "k": "(hour({0}) + 23) % 24 + 1",
    "H": "hour({0})",
    "m": "minute({0})",
    "s": "second({0})",
}
# Letters of Java that Spark does not have at all.
_OWN_FIELDS = {
    "e": "dayofweek({0})",
    "c": "dayofweek({0})",
    # US weeks: they begin on Sunday, and the first one contains January 1. A week belongs to the
    # year of its Saturday.
    "w": "(dayofyear(date_add({0}, 7 - dayofweek({0}))) - 1) div 7 + 1",
    "Y": "year(date_add({0}, 7 - dayofweek({0})))",
    "A": f"time_to_millis({time_of('{0}')})",
    "n": f"time_to_micros({time_of('{0}')}) % 1000000 * 1000",
    "N": f"time_to_micros({time_of('{0}')}) * 1000",
}
_REPLACED = {"u": "y"}
_NOT_IN_A_CLOCK = "zVvOXxZ"
_PIECE = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of one pattern letter, or literal text (`letter` is empty)."""

    letter: str
    text: str

    @property
    def kind(self) -> str:
        if not self.letter:
            return "text"
        if self.letter in _DATE_LETTERS:
            return "date"
        return "time" if self.letter in _TIME_LETTERS else "own"


def pieces(pattern: str, *, simple: bool = False, zones: bool = False) -> tuple[Piece, ...]:
    """The parts of a pattern: of SimpleDateFormat, for which brackets are text, if it is `simple`.
    Raises SignatureMismatch for letters that Java lacks, and for those of `zones` unless allowed.
    """
    found, position = [], 0
    while position < len(pattern):
        match = _PIECE.match(pattern, position)
        if match is None:
            raise SignatureMismatch(f"unclosed quote in pattern {pattern}")
        found.append(_piece(match, pattern, simple, zones))
        position = match.end()
    return tuple(found)


def _piece(match: re.Match[str], pattern: str, simple: bool, zones: bool) -> Piece:
    quoted, letter = match.group(1), match.group(2)
    if quoted is not None:
        return Piece("", quoted.replace("''", "'") or "'")
    if letter is None:
        if not simple and re.search(r"[\[\]{}#]", match.group()):
            raise SignatureMismatch(f"[ ] {{ }} and # must be quoted in pattern {pattern}")
        return Piece("", match.group())
    letter = _REPLACED.get(letter, letter)
    if letter in _NOT_IN_A_CLOCK and not zones:
        raise SignatureMismatch(
            f"pattern letter {letter} needs a time zone, and this value has none"
        )
    if letter not in (*_DATE_LETTERS, *_TIME_LETTERS, *_OWN_FIELDS, *_NOT_IN_A_CLOCK):
        raise SignatureMismatch(f"unknown letter {letter} in pattern {pattern}")
    return Piece(letter, letter * len(match.group()))


# --- writing -----------------------------------------------------------------------------------


def format_clock(clock: str, pattern: str, *, shifts: bool) -> str:
    """A TIMESTAMP_NTZ formatted by a pattern; `shifts` is whether the session zone's offset
    changes.
    """
    parts = []
    native = ("date", "text") if shifts else ("date", "time", "text")
    for by_spark, run in groupby(pieces(pattern), key=lambda piece: piece.kind in native):
        if by_spark:
            parts.append(_format_by_spark(clock, tuple(run), shifts))
        else:
            parts.extend(_format_field(clock, piece) for piece in run)
    if not parts:
        return f"if({clock} IS NULL, NULL, '')"
    return parts[0] if len(parts) == 1 else f"concat({', '.join(parts)})"


def _format_by_spark(clock: str, run: tuple[Piece, ...], shifts: bool) -> str:
    # Every zone has every date, but not every hour.
    moment = f"CAST({clock} AS DATE)" if shifts else clock
    return f"date_format({moment}, {string(joined(run))})"


def joined(run: tuple[Piece, ...]) -> str:
    """The parts as a pattern in which all text is quoted."""
    pattern = ""
    for quoted, same in groupby(run, key=lambda piece: not piece.letter):
        text = "".join(piece.text for piece in same)
        # One pair of quotes: the quotes between two texts would be one that is printed.
        pattern += "'" + text.replace("'", "''") + "'" if quoted else text
    return pattern


def _format_field(clock: str, piece: Piece) -> str:
    width = len(piece.text)
    if piece.letter == "S":
        micros = f"lpad(CAST(time_to_micros({time_of(clock)}) % 1000000 AS STRING), 6, '0')"
        return f"rpad({micros}, {width}, '0')"
    field = (_TIME_FIELDS | _OWN_FIELDS)[piece.letter].format(clock)
    if piece.letter == "a":
        return field
    # Java widens a number that is too long for its field; lpad would truncate it.
    text = f"CAST({field} AS STRING)"
    return text if width == 1 else f"lpad({text}, greatest({width}, length({text})), '0')"
