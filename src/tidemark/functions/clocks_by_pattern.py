"""Strings read by a date pattern, in Spark SQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tidemark.functions.moments_in_strings import read_lenient_moment, read_moment
from tidemark.functions.pattern_readings import (
    DAYS,
    DEFAULTS,
    HOURS,
    MONTHS,
    YEARS_AGO,
    PatternReading,
    names_of,
)
from tidemark.functions.spark_text import bound, string


def read_clock(text: str, known: Sequence[PatternReading], *, exact: bool) -> str:
    """The local time of a string by the first reading that it matches, in UTC if that has an offset
    which counts; NULL if it matches none.

    As in SimpleDateFormat, a number may have fewer digits than its field unless the next number
    follows immediately, and anything after the last field is ignored; if `exact`, it is read as by
    DateTimeFormatter.
    """
    tried = [_read(text, reading, exact) for reading in known]
    return tried[0] if len(tried) == 1 else f"coalesce({', '.join(tried)})"


def _read(text: str, reading: PatternReading, exact: bool) -> str:
    shape = string(rf"\A{reading.regex}\z" if exact else f"(?s)^{reading.regex}.*$")

    def field(letter: str) -> str:
        return f"regexp_extract({text}, {shape}, {reading.groups[letter]})"

    spelled = _spelled(text, shape, reading, field, exact)
    moment = read_moment(spelled, "TIMESTAMP_NTZ") if exact else read_lenient_moment(spelled)
    if "S" in reading.groups and not exact:
        # Milliseconds, however many digits there are.
        millis = f"CAST({field('S')} AS DECIMAL(18, 6)) / 1000"
        moment = f"({moment} + make_dt_interval(0, 0, 0, {millis}))"
    if reading.has_offset and not exact:
        moment = f"({moment} - make_dt_interval(0, 0, {_offset(field('Z'))}))"
    if "E" in reading.groups and exact:
        day = _place(field("E"), names_of(DAYS))
        moment = bound(moment, lambda x: f"if(dayofweek({x}) = {day}, {x}, NULL)")
    return f"if({text} RLIKE {shape}, {moment}, NULL)"


def _spelled(
    text: str, shape: str, reading: PatternReading, field: Callable[[str], str], exact: bool
) -> str:
    """The string as `2024-01-31 12:30:00.5`."""
    groups = dict(reading.groups)
    if not exact:
        groups.pop("S", None)
    if reading.is_numeric and (exact or not reading.short_years):
        places = DEFAULTS | {letter: f"${number}" for letter, number in groups.items()}
        if reading.short_years:
            places["y"] = f"20{places['y']}"
        written = string("{y}-{M}-{d} {H}:{m}:{s}.{S}".format(**places))
        return f"regexp_replace({text}, {shape}, {written})"
    places = {
        letter: field(letter) if letter in groups else string(default)
        for letter, default in DEFAULTS.items()
    }
    if reading.names_months:
        places["M"] = _place(places["M"], names_of(MONTHS))
    if reading.short_years:
        places["y"] = _whole_year(places["y"], exact)
    places["H"] = _hour(reading, field, exact) or places["H"]
    y, month, d, h, m, s, fraction = (places[letter] for letter in "yMdHmsS")
    parts = (y, "'-'", month, "'-'", d, "' '", h, "':'", m, "':'", s, "'.'", fraction)
    return f"concat({', '.join(parts)})"


def _whole_year(year: str, exact: bool) -> str:
    if exact:
        return f"concat('20', {year})"
    first = f"(year(current_date()) - {YEARS_AGO})"
    return f"({first} + pmod(CAST({year} AS INT) - {first}, 100))"


def _place(name: str, names: Sequence[str]) -> str:
    """Which of the names it is, by its first letters."""
    listed = ", ".join(map(string, names))
    return f"array_position(array({listed}), lower(left({name}, 3)))"


def _hour(reading: PatternReading, field: Callable[[str], str], exact: bool) -> str | None:
    """The hour of a day, if it is not written as that; NULL if there is none that is so called."""
    letter = next((each for each in HOURS if each in reading.groups), None)
    if letter is None:
        return None
    hour, (least, most) = f"CAST({field(letter)} AS INT)", HOURS[letter]
    valid = f"BETWEEN {least} AND {most}"
    value = {"k": "if({0} = 24, 0, {0})", "h": "if({0} = 12, 0, {0})", "K": "{0}"}[letter]
    if letter != "k":
        value += f" + if(upper({field('a')}) = 'PM', 12, 0)"

    def counted(x: str) -> str:
        return f"if({x} {valid}, {value.format(x)}, NULL)" if exact else value.format(x)

    return bound(hour, counted)


def _offset(written: str) -> str:
    """The minutes of an offset such as +02:00."""

    def minutes(x: str) -> str:
        digits = f"rpad(replace(substr({x}, 2), ':', ''), 4, '0')"
        number = f"CAST(left({digits}, 2) AS INT) * 60 + CAST(right({digits}, 2) AS INT)"
        return f"if({x} RLIKE '^[A-Z]', 0, if({x} LIKE '-%', -1, 1) * ({number}))"

    return bound(written, minutes)
