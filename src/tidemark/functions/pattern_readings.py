"""How strings are read by Java's date patterns: as regular expressions with groups for the fields.

`exact` means DateTimeFormatter, which TO_TIMESTAMP uses: it requires all digits, takes names as
they are written, and has optional sections `[...]`. Otherwise it is SimpleDateFormat, of TO_DATE
and UNIX_TIMESTAMP, for which brackets are text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tidemark.functions.date_patterns import Piece, pieces
from tidemark.functions.registry import SignatureMismatch

MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
DAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
# The parts of `2024-01-31 12:30:00.5` by pattern letter, where a pattern lacks them.
DEFAULTS: Final = {"y": "1970", "M": "01", "d": "01", "H": "00", "m": "00", "s": "00", "S": "0"}
# Hours by letter, as numbers from and to: DateTimeFormatter takes 0 for 12 and 24.
HOURS: Final = {"h": (0, 12), "K": (0, 11), "k": (0, 24)}
# SimpleDateFormat reads years of two digits as those from so long ago on.
YEARS_AGO: Final = 80
_LONGEST_YEAR: Final = 4
_SHORT: Final = 3  # letters of a name
_MOST_VARIANTS: Final = 32
_MINUTES: Final = "[0-5][0-9]"


def _offsets(hours: str, minutes: str, zones: str) -> dict[str, str]:
    """Regular expressions of offsets by letters: `minutes` after one X, `zones` in place of Z."""
    digits, parted = f"[+-]{hours}{_MINUTES}", f"[+-]{hours}:{_MINUTES}"
    alone = f"[+-]{hours}{minutes}"
    named = {"X": f"Z|{alone}", "XX": f"Z|{digits}", "XXX": f"Z|{parted}"}
    unnamed = {"x": alone, "xx": digits, "xxx": parted}
    return {**named, **unnamed, **dict.fromkeys(("Z", "ZZ", "ZZZ"), digits + zones)}


_EXACT_OFFSETS: Final = _offsets("(?:0[0-9]|1[0-8])", f"(?:{_MINUTES})?", "")
_SIMPLE_OFFSETS: Final = _offsets("(?:[01][0-9]|2[0-3])", "", "|UTC|GMT")
_OFFSET_LETTERS: Final = frozenset("XxZ")
_NAMED_ZONES: Final = frozenset("zVvO")
_CLOCK: Final = frozenset("HhKk")
_READ: Final = frozenset("yMdmsSaE") | _CLOCK | _OFFSET_LETTERS
_TOKEN = re.compile(r"'(?:[^']|'')*'|\[|\]|[^'\[\]]+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PatternReading:
    """A regular expression, and the number of the group of each letter in it. The letter of an
    offset is Z, whichever it is."""

    regex: str
    groups: Mapping[str, int]
    names_months: bool
    short_years: bool  # of two digits

    @property
    def is_numeric(self) -> bool:
        """Whether all fields are plain numbers."""
        return not self.names_months and self.groups.keys() <= DEFAULTS.keys()

    @property
    def has_offset(self) -> bool:
        return "Z" in self.groups


def readings(pattern: str, *, exact: bool) -> tuple[PatternReading, ...] | None:
    """How strings are read by a pattern, to be tried one after the other; None if it has fields
    that are not supported here. Raises SignatureMismatch if it is not a valid pattern."""
    variants = _variants(pattern) if exact else (pattern,)
    found = [_reading(pieces(each, simple=not exact, zones=True), exact) for each in variants]
    known = [each for each in found if each is not None]
    return tuple(known) if len(known) == len(found) else None


def check_pattern(pattern: str, *, exact: bool) -> None:
    """Raises SignatureMismatch if strings cannot be read by it."""
    known = readings(pattern, exact=exact)
    for variant in _variants(pattern) if exact else (pattern,):
        for piece in pieces(variant, simple=not exact, zones=True):
            # Spark, which reads what is not read here, adds an offset of its own.
            if piece.letter in _NAMED_ZONES or (known is None and piece.letter in _OFFSET_LETTERS):
                raise SignatureMismatch(
                    f"pattern letter {piece.letter} is not supported in {pattern}: zones are read "
                    "as offsets, by up to three X, x or Z, beside fields of a date and a time"
                )


def has_offset(pattern: object) -> bool:
    """Whether SimpleDateFormat reads an offset by the pattern."""
    found = readings(pattern, exact=False) if isinstance(pattern, str) else None
    return bool(found and found[0].has_offset)


def fraction_digits(pattern: str) -> int:
    """How many digits of the fraction of a second a pattern ends with; Flink counts no others."""
    return len(pattern) - len(pattern.rstrip("S"))


def without_sections(pattern: str) -> str:
    """A pattern with its optional sections, which DateTimeFormatter always writes."""
    return _variants(pattern)[0]


def _variants(pattern: str) -> tuple[str, ...]:
    """The pattern with each of its optional sections and without, those with more of them first."""
    tokens = _TOKEN.findall(pattern)
    if "".join(tokens) != pattern:
        raise SignatureMismatch(f"unclosed quote in pattern {pattern}")
    # A section that is not closed ends with the pattern.
    found, rest = _section(tokens, 0)
    if len(found) > _MOST_VARIANTS:
        raise SignatureMismatch(f"too many optional sections in pattern {pattern}")
    if rest < len(tokens):
        raise SignatureMismatch(f"`]` without `[` in pattern {pattern}")
    return tuple(dict.fromkeys(found))


def _section(tokens: Sequence[str], here: int) -> tuple[list[str], int]:
    found = [""]
    while here < len(tokens) and tokens[here] != "]":
        if tokens[here] == "[":
            inside, here = _section(tokens, here + 1)
            found = [before + each for before in found for each in (*inside, "")]
        else:
            found = [before + tokens[here] for before in found]
        here += 1
        if len(found) > _MOST_VARIANTS:
            break
    return found, here


def _reading(found: Sequence[Piece], exact: bool) -> PatternReading | None:
    letters = [_letter(piece) for piece in found if piece.letter]
    clock = _CLOCK.intersection(letters)
    halves = "a" in letters
    if not letters or len({*letters}) < len(letters) or len(clock) > 1:
        return None
    if not _READ.issuperset(letters) or halves != bool(clock & {"h", "K"}):
        return None
    regex, groups = "", dict[str, int]()
    for piece, following in zip(found, (*found[1:], Piece("", "")), strict=True):
        if not piece.letter:
            regex += re.escape(piece.text)
            continue
        groups[_letter(piece)] = len(groups) + 1
        field = _field(piece, following, exact)
        if field is None:
            return None
        regex += f"({field})"
    months = any(_names_month(piece) for piece in found)
    return PatternReading(regex, groups, months, any(piece.text == "yy" for piece in found))


def _letter(piece: Piece) -> str:
    return "Z" if piece.letter in _OFFSET_LETTERS else piece.letter


def _names_month(piece: Piece) -> bool:
    return piece.letter == "M" and len(piece.text) >= _SHORT


def _is_number(piece: Piece) -> bool:
    return piece.letter in _CLOCK or (piece.letter in DEFAULTS and not _names_month(piece))


def _field(piece: Piece, following: Piece, exact: bool) -> str | None:
    """The regular expression of a field; None if it is not read here."""
    letter, width = piece.letter, len(piece.text)
    if letter in _OFFSET_LETTERS:
        return (_EXACT_OFFSETS if exact else _SIMPLE_OFFSETS).get(piece.text)
    if letter == "a":
        return _one_of(("AM", "PM"), exact)
    if letter == "E" or _names_month(piece):
        return _name(MONTHS if letter == "M" else DAYS, width, exact)
    if letter == "y" and width > _LONGEST_YEAR:
        return None
    together = _is_number(following) or (exact and (width > 1 or letter == "S"))
    if together or piece.text == "yy":
        return f"[0-9]{{{width}}}"
    return f"[0-9]{{1,{max(width, {'y': 4, 'S': 9}.get(letter, 2))}}}"


def _name(names: Sequence[str], width: int, exact: bool) -> str | None:
    """SimpleDateFormat reads names of any length, DateTimeFormatter those that the pattern has."""
    if width > _SHORT + 1:
        return None  # the first letter alone
    short = [name[:_SHORT] for name in names]
    if not exact:
        return _one_of((*names, *short), exact)
    return _one_of(names if width > _SHORT else short, exact)


def names_of(names: Sequence[str]) -> tuple[str, ...]:
    """By what names are found: their first letters, as small ones."""
    return tuple(name[:_SHORT].lower() for name in names)


def _one_of(words: Sequence[str], exact: bool) -> str:
    return f"(?:{'|'.join(words)})" if exact else f"(?i:{'|'.join(words)})"
