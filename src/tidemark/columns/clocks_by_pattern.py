"""Strings read by a date pattern, in columns."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from tidemark.columns.call import ColumnCall
from tidemark.columns.moments_in_strings import read_lenient_moment, read_moment
from tidemark.columns.refusals import NotInColumns
from tidemark.functions.pattern_readings import (
    DAYS,
    DEFAULTS,
    HOURS,
    MONTHS,
    YEARS_AGO,
    PatternReading,
    names_of,
    readings,
)


def read_clock(call: ColumnCall, pattern: str, *, exact: bool) -> pl.Expr:
    """A string as the local time that it is by a pattern, in UTC if it has an offset that counts;
    NULL if it does not match. If `exact`, as DateTimeFormatter reads it, otherwise as
    SimpleDateFormat does, which ignores what follows.
    """
    known = readings(pattern, exact=exact)
    if known is None:
        raise NotInColumns(f"{call.name} with the pattern '{pattern}'")
    first_year = None if exact else call.active.surroundings.now.year - YEARS_AGO
    return pl.coalesce([_read(call.args[0], reading, first_year) for reading in known])


def _read(text: pl.Expr, reading: PatternReading, first_year: int | None) -> pl.Expr:
    """`first_year` is that of years of two digits; None if the string is read exactly."""
    exact = first_year is None
    regex = reading.regex
    found = text.str.extract_groups(rf"\A{regex}\z" if exact else f"(?s)^{regex}")
    groups = {letter: found.struct.field(str(number)) for letter, number in reading.groups.items()}
    spelled = _spelled(groups, reading, first_year)
    moment = read_moment(spelled) if exact else read_lenient_moment(spelled)
    if "S" in groups and not exact:
        # Milliseconds, however many digits there are.
        moment = moment + pl.duration(milliseconds=groups["S"].cast(pl.Int64))
    if "Z" in groups and not exact:
        moment = moment - _offset(groups["Z"])
    if "E" in groups and exact:
        # A Sunday is the seventh day of Polars.
        day = moment.dt.weekday() % 7 + 1
        moment = pl.when(day == _place(groups["E"], names_of(DAYS))).then(moment)
    return moment


def _spelled(
    groups: dict[str, pl.Expr], reading: PatternReading, first_year: int | None
) -> pl.Expr:
    """The string as `2024-01-31 12:30:00.5`."""
    exact = first_year is None
    places = {letter: groups.get(letter, pl.lit(text)) for letter, text in DEFAULTS.items()}
    if not exact:
        places["S"] = pl.lit(DEFAULTS["S"])
    if reading.names_months:
        places["M"] = _place(groups["M"], names_of(MONTHS)).cast(pl.String)
    if reading.short_years:
        year, first = groups["y"].cast(pl.Int64), 2000 if first_year is None else first_year
        places["y"] = (first + (year - first) % 100).cast(pl.String)
    hour = _hour(groups, exact)
    if hour is not None:
        places["H"] = hour.cast(pl.String)
    y, month, d, h, m, s, fraction = (places[letter] for letter in "yMdHmsS")
    date = (y, pl.lit("-"), month, pl.lit("-"), d, pl.lit(" "))
    return pl.concat_str(*date, h, pl.lit(":"), m, pl.lit(":"), s, pl.lit("."), fraction)


def _place(name: pl.Expr, names: Sequence[str]) -> pl.Expr:
    """Which of the names it is, by its first letters."""
    places = {each: place for place, each in enumerate(names, start=1)}
    first = name.str.head(3).str.to_lowercase()
    return first.replace_strict(places, default=None, return_dtype=pl.Int64)


def _hour(groups: dict[str, pl.Expr], exact: bool) -> pl.Expr | None:
    """The hour of a day, if it is not written as that; NULL if there is none that is so called."""
    letter = next((each for each in HOURS if each in groups), None)
    if letter is None:
        return None
    hour = groups[letter].cast(pl.Int64)
    if exact:
        hour = pl.when(hour.is_between(*HOURS[letter])).then(hour)
    noon_or_midnight = {"h": 12, "k": 24}.get(letter)
    if noon_or_midnight is not None:
        hour = pl.when(hour != noon_or_midnight).then(hour).when(hour.is_not_null()).then(0)
    if letter == "k":
        return hour
    afternoon = groups["a"].str.to_uppercase() == "PM"
    return hour + pl.when(afternoon).then(12).otherwise(0)


def _offset(written: pl.Expr) -> pl.Expr:
    """An offset such as +02:00."""
    digits = written.str.slice(1).str.replace(":", "", literal=True).str.pad_end(4, "0")
    number = digits.cast(pl.Int64, strict=False)
    minutes = (number // 100 * 60 + number % 100).fill_null(0)
    signed = pl.when(written.str.starts_with("-")).then(-minutes).otherwise(minutes)
    return pl.duration(minutes=signed)
