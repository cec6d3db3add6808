"""Times as whole columns: by Arrow, or if it refuses some, with their digits as a matrix of bytes.

Arrow takes a tenth of the time of `str.to_datetime`, the matrix a third. Both are for times written
in full, in the years 1000 to 9999; all others are NULL, and left to the exact way.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tidemark import types as t
from tidemark.formats import arrow_times
from tidemark.formats.exact_values import MICROSECONDS, MILLISECONDS

_Bytes = npt.NDArray[np.uint8]
_Longs = npt.NDArray[np.int64]
_Flags = npt.NDArray[np.bool_]
# The bytes of strings of one length, position by position -> values, and which are valid.
_Read = Callable[[_Bytes], tuple[_Longs, _Flags]]

_DATE = len("2024-01-01")
_CLOCK = len("10:00:00")
_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_FIRST_YEAR = 1_000


def dates(text: pl.Series) -> pl.Series:
    found = arrow_times.parsed(text, pa.date32(), (_DATE, _DATE), {})
    if found is not None:
        return found

    def read(digits: _Bytes) -> tuple[_Longs, _Flags]:
        return _days(digits)

    return _by_length(text, {_DATE: read}).cast(pl.Int32).cast(pl.Date)


def times(text: pl.Series, kept: int) -> pl.Series:
    """Times of day; `kept` digits of a second's fraction."""

    def read(digits: _Bytes) -> tuple[_Longs, _Flags]:
        return _of_day(digits, kept)

    lengths = (_CLOCK, *range(_CLOCK + 2, _CLOCK + 2 + MILLISECONDS))
    # Polars has nanoseconds of a day.
    return (_by_length(text, dict.fromkeys(lengths, read)) * 1_000).cast(pl.Time)


def timestamps(text: pl.Series, type_: t.Timestamp | t.TimestampLtz, *, iso: bool) -> pl.Series:
    instant = isinstance(type_, t.TimestampLtz)
    kept = MILLISECONDS if type_.precision <= MILLISECONDS else MICROSECONDS
    separator = "T" if iso else " "
    whole = _DATE + 1 + _CLOCK + instant
    longest = whole + 1 + MICROSECONDS
    separators = {_DATE: separator, -1: "Z"} if instant else {_DATE: separator}
    wanted = pa.timestamp("us", "UTC" if instant else None)
    found = arrow_times.parsed(text, wanted, (whole, longest), separators)
    if found is not None:
        return found if kept == MICROSECONDS else _cut_off(found)

    def read(bytes_: _Bytes) -> tuple[_Longs, _Flags]:
        valid = bytes_[_DATE] == ord(separator)
        if instant:
            valid &= bytes_[-1] == ord("Z")
        days, valid_date = _days(bytes_)
        time, valid_time = _of_day(bytes_[_DATE + 1 : -1 if instant else None], kept)
        return days * _DAY + time, valid & valid_date & valid_time

    lengths = (whole, *range(whole + 2, longest + 1))
    values = _by_length(text, dict.fromkeys(lengths, read))
    return values.cast(pl.Datetime("us", "UTC" if instant else None))


def _cut_off(times: pl.Series) -> pl.Series:
    """Timestamps without what is below a millisecond."""
    below = times.to_physical() % (10 ** (MICROSECONDS - MILLISECONDS))
    return (times.to_physical() - below).cast(times.dtype) if (below != 0).any() else times


def _by_length(text: pl.Series, reads: dict[int, _Read]) -> pl.Series:
    """Integers for strings, each read as its length requires."""
    size = text.str.len_bytes()
    lengths = size.drop_nulls().unique().to_list()
    result = np.zeros(text.len(), np.int64)
    valid = np.zeros(text.len(), np.bool_)
    for length in lengths:
        if length not in reads:
            continue
        here = (size == length).fill_null(False)
        if here.all():
            result, valid = reads[length](_matrix(text, length))
        else:
            at = here.to_numpy()
            result[at], valid[at] = reads[length](_matrix(text.filter(here), length))
    return pl.select(pl.when(pl.Series(valid)).then(pl.Series(result))).to_series()


def _matrix(text: pl.Series, length: int) -> _Bytes:
    """The bytes of strings of one length: a row for each position, a column for each string."""
    array = text.to_arrow().cast(pa.large_binary())
    offsets = np.frombuffer(array.buffers()[1], np.int64)
    start = int(offsets[array.offset])
    data = np.frombuffer(array.buffers()[2], np.uint8)[start : start + len(array) * length]
    return np.ascontiguousarray(data.reshape(len(array), length).T)


def _number(bytes_: _Bytes) -> tuple[_Longs, _Flags]:
    """The number that these digits are."""
    value = np.zeros(bytes_.shape[1], np.int64)
    valid = np.ones(bytes_.shape[1], np.bool_)
    for digits in bytes_:
        digit = digits - ord("0")  # other characters become large
        valid &= digit <= 9
        value = value * 10 + digit
    return value, valid


def _days(bytes_: _Bytes) -> tuple[_Longs, _Flags]:
    year, valid = _number(bytes_[0:4])
    month, valid_month = _number(bytes_[5:7])
    day, valid_day = _number(bytes_[8:10])
    valid &= valid_month & valid_day & (bytes_[4] == ord("-")) & (bytes_[7] == ord("-"))
    valid &= (year >= _FIRST_YEAR) & (month >= 1) & (month <= 12)
    # NumPy knows the calendar: the first of the month, and of the next.
    months = np.where(valid, (year - 1970) * 12 + month - 1, 0)
    first, following = (
        (months + i).astype("M8[M]").astype("M8[D]").astype(np.int64) for i in range(2)
    )
    valid &= (day >= 1) & (day <= following - first)
    return first + day - 1, valid


def _of_day(bytes_: _Bytes, kept: int) -> tuple[_Longs, _Flags]:
    """Microseconds since midnight; fractions are cut off after some digits."""
    hour, valid = _number(bytes_[0:2])
    minute, valid_minute = _number(bytes_[3:5])
    second, valid_second = _number(bytes_[6:8])
    valid &= valid_minute & valid_second & (bytes_[2] == ord(":")) & (bytes_[5] == ord(":"))
    valid &= (hour < 24) & (minute < 60) & (second < 60)
    value = ((hour * 60 + minute) * 60 + second) * _SECOND
    if len(bytes_) > _CLOCK:
        digits = len(bytes_) - _CLOCK - 1
        fraction, valid_fraction = _number(bytes_[_CLOCK + 1 :])
        valid &= valid_fraction & (bytes_[_CLOCK] == ord("."))
        fraction *= 10 ** (MICROSECONDS - digits)
        unit = 10 ** (MICROSECONDS - kept)
        value += fraction // unit * unit
    return value, valid
