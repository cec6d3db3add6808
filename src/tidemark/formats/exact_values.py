"""Strings to values of a type, one by one: what each format accepts, to the letter.

Values are as Arrow takes them: days for dates, microseconds for times. The rules are those of Java,
and differ from CAST in places: a JSON number may be truncated, a time must be complete. What Spark
computes instead, in `connectors/formats/conversions.py`, is a little stricter about days.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal, DecimalException
from typing import Any

import polars as pl

from tidemark import types as t

MILLISECONDS = 3
MICROSECONDS = 6


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a format writes times and numbers."""

    iso_times: bool = False
    integers_truncate: bool = False  # 1.9 is the INT 1
    loose_dates: bool = False  # 2024-1-1
    short_times: bool = False  # 10:00
    padded_times: bool = False  # with blanks around a timestamp
    tight_decimals: bool = False  # without blanks around a DECIMAL


class Quoted(str):
    """What a document has as a string: it is not a number, even if it looks like one."""

    __slots__ = ()


class NotAValue(Exception):
    """The string is not a value of the type."""

    def __init__(self, text: str, type_: t.DataType) -> None:
        super().__init__(text, type_)
        self.text = text
        self.type = type_


Read = Callable[[str], Any]


def reader(type_: t.DataType, spelling: Spelling) -> Read:
    """A function from a string to its value; it raises NotAValue for strings that have none."""
    parse = _parser(type_, spelling)
    around = "" if spelling.tight_decimals else _AROUND

    def read(text: str) -> Any:
        value = parse(text)
        if value is None and not (
            isinstance(type_, t.Decimal) and _NUMBER.fullmatch(text.strip(around))
        ):
            raise NotAValue(text, type_)
        # In Flink, a number too large for a DECIMAL is NULL, not an error.
        return value

    return read


def _parser(type_: t.DataType, spelling: Spelling) -> Read:
    """The same, but strings without a value are None."""
    match type_:
        case t.Char() | t.VarChar():
            return lambda text: text
        case t.Boolean():
            return lambda text: text.strip(" ").lower() == "true"
        case t.TinyInt() | t.SmallInt() | t.Int() | t.BigInt():
            truncates = spelling.integers_truncate and isinstance(type_, t.Int | t.BigInt)
            bits = BITS[type(type_)]
            return lambda text: _integer(text, bits, truncates)
        case t.Decimal(precision=precision, scale=scale):
            blanks = "" if spelling.tight_decimals else _AROUND
            return lambda text: _decimal(text.strip(blanks), precision, scale)
        case t.Float():
            return _single
        case t.Double():
            return _double
        case t.Binary() | t.VarBinary():
            return _bytes
        case t.Date():
            return lambda text: _date(text, spelling.loose_dates)
        case t.Time(precision=precision):
            return lambda text: _time(text, precision, spelling.short_times)
        case t.Timestamp() | t.TimestampLtz():
            iso, around = spelling.iso_times, _AROUND if spelling.padded_times else ""
            pattern = _timestamp_pattern(type_, iso)
            digits = MILLISECONDS if type_.precision <= MILLISECONDS else MICROSECONDS
            strict = iso and isinstance(type_, t.Timestamp)
            return lambda text: _timestamp(pattern, text.strip(around), digits, strict)
    raise ValueError(f"{type_} cannot be read from a string")


# --- numbers -----------------------------------------------------------------------------------

BITS: dict[type[t.DataType], int] = {t.TinyInt: 8, t.SmallInt: 16, t.Int: 32, t.BigInt: 64}
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_FLOATING = re.compile(rf"({_NUMBER.pattern})[fFdD]?")
_HEXADECIMAL = re.compile(
    r"([+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[fFdD]?"
)
# What surrounds a number without being part of it: blanks and control characters, as in Java.
_AROUND = "".join(map(chr, range(33)))

# More digits than any number that is read; whatever is larger is out of every range.
_WIDE = Context(prec=3_000, rounding=ROUND_HALF_UP)


def _integer(text: str, bits: int, truncates: bool) -> int | None:
    inner = text.strip(_AROUND)
    limit = 1 << (bits - 1)
    if _INTEGER.fullmatch(inner):
        value = int(inner) if len(inner) <= 1_100 else None
        return value if value is not None and -limit <= value < limit else None
    if truncates and not isinstance(text, Quoted) and _NUMBER.fullmatch(inner):
        return _truncated(float(inner), limit)
    return None


def _truncated(number: float, limit: int) -> int | None:
    """Flink compares the number, which is a DOUBLE, with the limits as DOUBLEs."""
    if not float(-limit) <= number <= float(limit - 1):
        return None
    return min(int(number), limit - 1)


def _decimal(text: str, precision: int, scale: int) -> Decimal | None:
    """The number, rounded half up; None if it has more whole digits."""
    if not _NUMBER.fullmatch(text):
        return None
    whole = precision - scale
    try:
        number = Decimal(text)
        if number.adjusted() > whole:
            return None if number else Decimal(0).scaleb(-scale)
        rounded = number.quantize(Decimal(1).scaleb(-scale), context=_WIDE)
    except DecimalException:
        return None
    return rounded if rounded.adjusted() < whole or not rounded else None


_SPECIAL = {
    **dict.fromkeys(("Infinity", "+Infinity"), math.inf),
    "-Infinity": -math.inf,
    **dict.fromkeys(("NaN", "+NaN", "-NaN"), math.nan),
}


def _double(text: str) -> float | None:
    inner = text.strip(_AROUND)
    if found := _FLOATING.fullmatch(inner):
        return float(found[1])
    if found := _HEXADECIMAL.fullmatch(inner):
        try:
            return float.fromhex(found[1])
        except OverflowError:
            return -math.inf if inner.startswith("-") else math.inf
    return _SPECIAL.get(inner)


def _single(text: str) -> float | None:
    value = _double(text)
    found = _FLOATING.fullmatch(text.strip(_AROUND))
    # By way of a DOUBLE it would be rounded twice.
    return value if found is None else pl.Series([found[1]]).cast(pl.Float32).item()


# --- bytes -------------------------------------------------------------------------------------

# Blanks may stand between four characters, and padding is required.
_BASE64 = re.compile(
    r"(?:[\x00-\x20]*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==))*[\x00-\x20]*"
)
_BLANKS = dict.fromkeys(range(33))
_PADDED = re.compile(r"[^=]+={0,2}")


def _bytes(text: str) -> bytes | None:
    if not _BASE64.fullmatch(text):
        return None
    # What follows padding is decoded, too.
    return b"".join(map(base64.b64decode, _PADDED.findall(text.translate(_BLANKS))))


# --- times -------------------------------------------------------------------------------------

_DATE = re.compile(r"(-?[0-9]{4})-([0-9]{2})-([0-9]{2})", re.ASCII)
_LOOSE_DATE = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})", re.ASCII)
_CLOCK = r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.]([0-9]{0,9}))?"
_SHORT_CLOCK = r"([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.]([0-9]{0,9}))?)?"
_TIME = re.compile(_CLOCK, re.ASCII)
_SHORT_TIME = re.compile(_SHORT_CLOCK, re.ASCII)
_MIDNIGHT = re.compile(r"24:00(?::00(?:[.]0*)?)?")
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_SECOND = 1_000_000
_DAY = 86_400 * _SECOND


def _timestamp_pattern(type_: t.Timestamp | t.TimestampLtz, iso: bool) -> re.Pattern[str]:
    """ISO-8601 is Java's own format, which needs no seconds."""
    end = "Z" if isinstance(type_, t.TimestampLtz) else ""
    between, clock = ("[Tt]", _SHORT_CLOCK) if iso else (" ", _CLOCK)
    return re.compile(rf"([0-9]{{4}})-([0-9]{{2}})-([0-9]{{2}}){between}({clock}){end}", re.ASCII)


def _date(text: str, loose: bool) -> int | None:
    found = (_LOOSE_DATE if loose else _DATE).fullmatch(text)
    if found is None:
        return None
    year, month, day = (int(each) for each in found.groups())
    if loose and 1 <= month <= 12 and 29 <= day <= 31:
        # Java's older dates go on in the next month: 2024-02-30 is 2024-03-01.
        return _days(year, month, 1) + day - 1  # type: ignore[operator]
    return _days(year, month, day)


def _last_day(year: int, month: int) -> int:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return _DAYS[month - 1] + (leap and month == 2)


def _days(year: int, month: int, day: int) -> int | None:
    """Days since 1970, in the Gregorian calendar of all times."""
    if not 1 <= month <= 12 or not 1 <= day <= _last_day(year, month):
        return None
    shifted = year - (month <= 2)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return shifted * 365 + shifted // 4 - shifted // 100 + shifted // 400 + day_of_year - 719_468


def _time(text: str, precision: int, short: bool) -> int | None:
    # 24:00:00 is midnight to Java's formatter.
    midnight = not short and _MIDNIGHT.fullmatch(text)
    found = (_SHORT_TIME if short else _TIME).fullmatch("00" + text[2:] if midnight else text)
    # Both formats keep milliseconds at most.
    digits = min(precision, MILLISECONDS) if short else MILLISECONDS
    return None if found is None else _of_day(found, 1, digits)


def _of_day(found: re.Match[str], group: int, digits: int) -> int | None:
    """Microseconds since midnight: further digits are cut off."""
    hour, minute, second = (int(found[group + i] or 0) for i in range(3))
    if hour > 23 or minute > 59 or second > 59:
        return None
    fraction = int((found[group + 3] or "")[:digits].ljust(MICROSECONDS, "0"))
    return ((hour * 60 + minute) * 60 + second) * _SECOND + fraction


def _timestamp(pattern: re.Pattern[str], text: str, digits: int, strict: bool) -> int | None:
    found = pattern.fullmatch(text)
    if found is None:
        return None
    year, month, day = (int(found[i]) for i in (1, 2, 3))
    later = 0
    time = _of_day(found, 5, digits)
    if not strict:
        # 24:00:00 is midnight of the next day, and the 31st the last day of its month.
        if _MIDNIGHT.fullmatch(found[4]):
            time, later = 0, 1
        if 1 <= month <= 12 and 29 <= day <= 31:
            day = min(day, _last_day(year, month))
    days = _days(year, month, day)
    return None if days is None or time is None else (days + later) * _DAY + time
