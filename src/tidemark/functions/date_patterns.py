"""Java's date patterns, as DATE_FORMAT takes them, in Spark SQL.

Spark's own `date_format` takes a TIMESTAMP, which moves a local time out of the missing hour in
spring, and it lacks some letters. So a pattern is split: what Spark formats correctly goes to Spark
in one piece, the rest is assembled from fields.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby

from tidemark.functions.moments_in_strings import read_lenient_moment, read_moment
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


def pieces(pattern: str) -> tuple[Piece, ...]:
    """The parts of a pattern. Raises SignatureMismatch for letters that DATE_FORMAT lacks."""
    found, position = [], 0
    while position < len(pattern):
        match = _PIECE.match(pattern, position)
        if match is None:
            raise SignatureMismatch(f"unclosed quote in pattern {pattern}")
        found.append(_piece(match, pattern))
        position = match.end()
    return tuple(found)


def _piece(match: re.Match[str], pattern: str) -> Piece:
    quoted, letter = match.group(1), match.group(2)
    if quoted is not None:
        return Piece("", quoted.replace("''", "'") or "'")
    if letter is None:
        if re.search(r"[\[\]{}#]", match.group()):
            raise SignatureMismatch(f"[ ] {{ }} and # must be quoted in pattern {pattern}")
        return Piece("", match.group())
    letter = _REPLACED.get(letter, letter)
    if letter in _NOT_IN_A_CLOCK:
        raise SignatureMismatch(
            f"pattern letter {letter} needs a time zone, and this value has none"
        )
    if letter not in (*_DATE_LETTERS, *_TIME_LETTERS, *_OWN_FIELDS):
        raise SignatureMismatch(f"unknown letter {letter} in pattern {pattern}")
    return Piece(letter, letter * len(match.group()))


# --- reading -----------------------------------------------------------------------------------

# The parts of `2024-01-31 12:30:00.5` by pattern letter, and the default for each that the pattern
# lacks.
_PLACES = {"y": "1970", "M": "01", "d": "01", "H": "00", "m": "00", "s": "00", "S": "0"}
_THIS_CENTURY = "20"


def is_numeric(pattern: str) -> bool:
    """Whether a pattern has only numeric fields, each at most once, on a 24-hour clock."""
    found = pieces(pattern)
    letters = [piece.letter for piece in found if piece.letter]
    if any(piece.text.startswith("MMM") for piece in found if piece.letter):
        return False  # months by their names
    return 0 < len(letters) == len(set(letters)) and set(letters) <= _PLACES.keys()


def fraction_digits(pattern: str) -> int:
    """How many digits of the fraction of a second a pattern has."""
    return max((len(piece.text) for piece in pieces(pattern) if piece.letter == "S"), default=0)


def read_clock(text: str, pattern: str) -> str:
    """A string parsed as a TIMESTAMP_NTZ by a numeric pattern; NULL if it does not match.

    As in SimpleDateFormat, a number may have fewer digits than its field, unless the next field
    follows immediately, and anything after the last field is ignored.
    """
    regex, places = clock_shape(pattern)
    shape = string(f"(?s)^{regex}.*$")
    spelled = f"regexp_replace({text}, {shape}, {_spelled(places)})"
    return f"if({text} RLIKE {shape}, {read_lenient_moment(spelled)}, NULL)"


def read_exact_clock(text: str, pattern: str) -> str:
    """The same by a DateTimeFormatter: with all digits, and nothing after them."""
    regex, places = clock_shape(pattern, exact=True)
    shape = string(rf"\A{regex}\z")
    spelled = f"regexp_replace({text}, {shape}, {_spelled(places)})"
    return f"if({text} RLIKE {shape}, {read_moment(spelled, 'TIMESTAMP_NTZ')}, NULL)"


def _spelled(places: dict[str, str]) -> str:
    return string("{y}-{M}-{d} {H}:{m}:{s}.{S}".format(**places))


def clock_shape(pattern: str, *, exact: bool = False) -> tuple[str, dict[str, str]]:
    """A numeric pattern as a regular expression; and what is in each place of a timestamp: a group
    of the expression, such as `$1`, or a default.
    """
    regex, places, count = "", dict(_PLACES), 0
    found = pieces(pattern)
    for piece, following in zip(found, (*found[1:], Piece("", "")), strict=True):
        if not piece.letter:
            regex += re.escape(piece.text)
            continue
        count += 1
        together = bool(following.letter) or (exact and _has_exact_width(piece))
        regex += _number(piece, together=together)
        century = _THIS_CENTURY if piece.text == "yy" else ""
        places[piece.letter] = f"{century}${count}"
    return regex, places


def _has_exact_width(piece: Piece) -> bool:
    return len(piece.text) > 1 or piece.letter == "S"


def _number(piece: Piece, *, together: bool) -> str:
    width = len(piece.text)
    if together or piece.text == "yy":
        return f"([0-9]{{{width}}})"
    most = max(width, {"y": 4, "S": 9}.get(piece.letter, 2))
    return f"([0-9]{{1,{most}}})"


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
    pattern = ""
    for quoted, same in groupby(run, key=lambda piece: not piece.letter):
        text = "".join(piece.text for piece in same)
        # One pair of quotes: the quotes between two texts would be one that is printed.
        pattern += "'" + text.replace("'", "''") + "'" if quoted else text
    # Every zone has every date, but not every hour.
    moment = f"CAST({clock} AS DATE)" if shifts else clock
    return f"date_format({moment}, {string(pattern)})"


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
