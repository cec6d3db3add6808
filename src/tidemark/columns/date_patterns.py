"""Java's date patterns with constant letters, read and written in columns."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from tidemark.columns.moments_in_strings import read_lenient_moment, read_moment
from tidemark.columns.refusals import NotInColumns
from tidemark.functions.date_patterns import Piece, clock_shape, is_numeric, pieces

_LONGEST_YEAR = 4

# Fields that are numbers, padded with zeros to the width of the pattern.
_NUMBERS: dict[str, Callable[[pl.Expr], pl.Expr]] = {
    "y": lambda clock: clock.dt.year(),
    "M": lambda clock: clock.dt.month(),
    "L": lambda clock: clock.dt.month(),
    "d": lambda clock: clock.dt.day(),
    "D": lambda clock: clock.dt.ordinal_day(),
    "H": lambda clock: clock.dt.hour(),
    "k": lambda clock: (clock.dt.hour() + 23) % 24 + 1,
    "K": lambda clock: clock.dt.hour() % 12,
    "h": lambda clock: (clock.dt.hour() + 11) % 12 + 1,
    "m": lambda clock: clock.dt.minute(),
    "s": lambda clock: clock.dt.second(),
    "e": lambda clock: clock.dt.weekday() % 7 + 1,
    "c": lambda clock: clock.dt.weekday() % 7 + 1,
}
# Names, by letters.
_NAMES = {
    "MMM": "%b",
    "MMMM": "%B",
    "E": "%a",
    "EE": "%a",
    "EEE": "%a",
    "EEEE": "%A",
    "a": "%p",
}
_MOST_DIGITS = 2


def read_clock(text: pl.Expr, pattern: str, name: str, *, exact: bool) -> pl.Expr:
    """A string as the local time that it is by a pattern; NULL if it does not match. If `exact`, as
    DateTimeFormatter reads it, otherwise as SimpleDateFormat does, which ignores what follows.
    `name` is the function that reads it.
    """
    if not is_numeric(pattern) or any(
        piece.letter == "y" and len(piece.text) > _LONGEST_YEAR for piece in pieces(pattern)
    ):
        raise NotInColumns(f"{name} with the pattern '{pattern}'")
    regex, places = clock_shape(pattern, exact=exact)
    groups = text.str.extract_groups(rf"\A{regex}\z" if exact else f"(?s)^{regex}")
    spelled = pl.concat_str(
        *_written(places, groups, (("y", "-"), ("M", "-"), ("d", " "))),
        *_written(places, groups, (("H", ":"), ("m", ":"), ("s", "."), ("S", ""))),
    )
    return read_moment(spelled) if exact else read_lenient_moment(spelled)


def _written(
    places: dict[str, str], groups: pl.Expr, fields: tuple[tuple[str, str], ...]
) -> list[pl.Expr]:
    """The fields, each with what separates it from the next one."""
    parts = []
    for letter, separator in fields:
        before, _, group = places[letter].partition("$")
        if group:
            parts.append(pl.lit(before) + groups.struct.field(group) + separator)
        else:
            parts.append(pl.lit(before + separator))
    return parts


def format_clock(clock: pl.Expr, pattern: str, name: str) -> pl.Expr:
    """A local time written by a pattern."""
    parts = [_field(clock, piece, pattern, name) for piece in pieces(pattern)]
    text = pl.concat_str(*parts) if parts else pl.lit("")
    return pl.when(clock.is_not_null()).then(text)


def _field(clock: pl.Expr, piece: Piece, pattern: str, name: str) -> pl.Expr:
    letter, width = piece.letter, len(piece.text)
    if not letter:
        return pl.lit(piece.text)
    if letter == "S" and width <= 9:
        micros = (clock.to_physical() % 1_000_000).cast(pl.String).str.zfill(6)
        return micros.str.head(width).str.pad_end(width, "0")
    if piece.text in _NAMES:
        return clock.dt.to_string(_NAMES[piece.text])
    if piece.text == "yy":
        return (clock.dt.year() % 100).cast(pl.String).str.zfill(2)
    if letter in _NUMBERS and width <= _widest(letter):
        return _NUMBERS[letter](clock).cast(pl.Int32).cast(pl.String).str.zfill(width)
    raise NotInColumns(f"{name} with the pattern '{pattern}'")


def _widest(letter: str) -> int:
    """How many letters still mean a number."""
    return {"y": _LONGEST_YEAR, "D": 3, "e": 1, "c": 1}.get(letter, _MOST_DIGITS)
