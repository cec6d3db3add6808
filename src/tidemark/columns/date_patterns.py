"""Times written by Java's date patterns with constant letters, in columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from tidemark.columns.refusals import NotInColumns
from tidemark.functions.date_patterns import Piece

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


def format_clock(clock: pl.Expr, written: Sequence[Piece], pattern: str, name: str) -> pl.Expr:
    """A local time written by the parts of a pattern."""
    parts = [_field(clock, piece, pattern, name) for piece in written]
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
