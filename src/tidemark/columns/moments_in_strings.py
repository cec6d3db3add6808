"""The timestamps in strings, and what Java's readers make of those that do not exist, such as the
30th of February: the last day of the month, or one of the days after it.
"""

from __future__ import annotations

import polars as pl

from tidemark.columns import moments

# What Java trims.
BLANKS = "".join(map(chr, range(33)))
_DAY = r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"
_TIME = r"(?: ([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.]([0-9]{1,9}))?)"


def read_moment(text: pl.Expr) -> pl.Expr:
    """As java.time does: the 31st of a shorter month is its last day, and 24:00 the beginning of
    the next day. A date alone is its first moment.
    """
    parts = _parts(text)
    year, month, day = _day_parts(parts)
    hour, minute, second, fraction = clock_parts(parts, 4)
    first = pl.date(year, _between(month, 1, 12), 1)
    existing = _between(day, 1, 31).clip(upper_bound=first.dt.days_in_month().cast(pl.Int64))
    micros = _micros(hour, minute, second, fraction)
    valid = ((hour < 24) & (minute < 60) & (second < 60)) | ((hour == 24) & (micros == moments.DAY))
    return _moment(first, existing, pl.when(valid).then(micros))


def read_lenient_moment(text: pl.Expr) -> pl.Expr:
    """As SimpleDateFormat does: whatever is too large moves on to the next month, day or hour."""
    parts = _parts(text)
    year, month, day = _day_parts(parts)
    months = year * 12 + month - 1
    first = pl.date(months // 12, months % 12 + 1, 1)
    return _moment(first, day, _micros(*clock_parts(parts, 4)))


def read_sql_moment(text: pl.Expr) -> pl.Expr:
    """As java.sql.Timestamp does, or java.sql.Date for a date alone: lenient about days up to the
    31st and times of day.
    """
    parts = _parts(text.str.strip_chars(BLANKS))
    year, month, day = _day_parts(parts)
    first = pl.date(year, _between(month, 1, 12), 1)
    return _moment(first, _between(day, 1, 31), _micros(*clock_parts(parts, 4)))


def _parts(text: pl.Expr) -> pl.Expr:
    return text.str.extract_groups(rf"\A{_DAY}{_TIME}?\z")


def _day_parts(parts: pl.Expr) -> list[pl.Expr]:
    return [parts.struct.field(str(place)).cast(pl.Int64) for place in (1, 2, 3)]


def clock_parts(parts: pl.Expr, first: int) -> list[pl.Expr]:
    """The hours, minutes, seconds and microseconds in these groups of a match."""
    fields = [parts.struct.field(str(first + place)) for place in range(4)]
    fraction = fields[3].fill_null("").str.pad_end(6, "0").str.head(6).cast(pl.Int64)
    return [*(field.fill_null("0").cast(pl.Int64) for field in fields[:3]), fraction]


def _between(number: pl.Expr, least: int, most: int) -> pl.Expr:
    return pl.when(number.is_between(least, most)).then(number)


def _micros(hour: pl.Expr, minute: pl.Expr, second: pl.Expr, fraction: pl.Expr) -> pl.Expr:
    return ((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction


def _moment(first: pl.Expr, day: pl.Expr, micros: pl.Expr) -> pl.Expr:
    """So many days and microseconds after the first of a month."""
    days = first.cast(pl.Int32).cast(pl.Int64) + day - 1
    return (days * moments.DAY + micros).cast(moments.CLOCK)
