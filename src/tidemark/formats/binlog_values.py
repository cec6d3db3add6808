"""Values of columns in the binary log, as Polars has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from tidemark.formats import binlog as b
from tidemark.formats.binlog import Bytes, Flags, LoggedColumn, Longs, decimal_bytes
from tidemark.formats.binlog_rows import LoggedRows
from tidemark.formats.mysql_charsets import decoded
from tidemark.formats.mysql_json import BadJson, written_json

if TYPE_CHECKING:
    import polars as pl

_SIZES: Final = {b.TINY: 1, b.SHORT: 2, b.INT24: 3, b.LONG: 4, b.LONGLONG: 8}
_DIGITS: Final = 9
# The digits that fit into a number of 64 bits, and into one of 128.
_LONG_DIGITS, _MOST_DIGITS = 18, 38
_DAY_US: Final = 86_400_000_000


class WrongLoggedValue(ValueError):
    """A value that MySQL has and Polars has not."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the log does not say of a column's values."""

    unsigned: bool = False
    character_set: str | None = None  # None: bytes
    members: tuple[str, ...] = ()  # of an ENUM or a SET
    padded_to: int = 0  # the bytes of a BINARY(n)
    spans: bool = False  # whether a TIME may be of any length: it is a Duration


def logged_values(rows: LoggedRows, number: int, meaning: Meaning) -> pl.Series:
    """The values of a column: integers, Float, Decimal (String for more than 38 digits), Date,
    Time or Duration, Datetime without a zone, String, Binary; of BIT as numbers. Raises
    WrongLoggedValue, or what decoding strings raises.
    """
    import polars as pl

    column = rows.table.columns[number]
    if column.varies:
        return _strings(rows, number, meaning)
    null = rows.null(number)
    if column.type == b.DECIMAL:
        return _decimals(rows.bytes_of(number), null, column)
    if column.type in (b.ENUM, b.SET):
        return _members(_number(rows.bytes_of(number)), null, column, meaning)
    return pl.Series(_plain(rows.bytes_of(number), null, column, meaning)).set(_flags(null), None)


def _flags(null: Flags) -> pl.Series:
    import polars as pl

    return pl.Series(null, dtype=pl.Boolean)


def _plain(values: Bytes, null: Flags, column: LoggedColumn, meaning: Meaning) -> Any:
    match column.type:
        case b.FLOAT | b.DOUBLE:
            type_ = np.float32 if column.type == b.FLOAT else np.float64
            return np.ascontiguousarray(values).view(type_)[:, 0]
        case b.YEAR:
            year = values[:, 0].astype(np.int64)
            return np.where(year == 0, 0, year + 1900)
        case b.DATE | b.NEWDATE:
            packed = np.where(null, 33, _number(values))
            return _dates(packed >> 9, packed >> 5 & 15, packed & 31)
        case b.TIMESTAMP2:
            return _timestamps(values, column.first)
        case b.DATETIME2:
            return _datetimes(values, null, column.first)
        case b.TIME2:
            return _times(values, null, column.first, spans=meaning.spans)
        case b.BIT:
            return _big_endian(values).view(np.uint64)
    return _integers(values, _SIZES[column.type], meaning.unsigned)


def _number(values: Bytes) -> Longs:
    """Numbers with the lowest byte first."""
    return _big_endian(values[:, ::-1])


def _big_endian(values: Bytes) -> Longs:
    found = np.zeros(len(values), np.int64)
    for place in range(values.shape[1]):
        found = (found << 8) | values[:, place]
    return found


def _integers(values: Bytes, size: int, unsigned: bool) -> Any:
    found = _number(values)
    if unsigned:
        return found.view(np.uint64) if size == 8 else found
    unused = 64 - 8 * size
    return found << unused >> unused


# --- decimals ------------------------------------------------------------------------------------


def _decimals(values: Bytes, null: Flags, column: LoggedColumn) -> pl.Series:
    import polars as pl
    import pyarrow as pa

    positive = values[:, 0] & 0x80 != 0
    plain = np.where(positive[:, None], values, ~values)
    plain[:, 0] ^= 0x80
    groups = _groups(plain, *column.digits)
    if column.first > _MOST_DIGITS:
        return _long_decimals(groups, positive, column).set(_flags(null), None)
    low, high = _unscaled(groups, positive)
    both = np.stack([low, high], axis=1)
    type_ = pa.decimal128(column.first, column.second)
    valid = pa.py_buffer(np.packbits(~null, bitorder="little"))
    made = pa.Decimal128Array.from_buffers(type_, len(values), [valid, pa.py_buffer(both)])
    found = pl.from_arrow(made)
    assert isinstance(found, pl.Series)
    return found


def _groups(values: Bytes, before: int, after: int) -> list[tuple[int, Longs]]:
    """Up to nine digits each, from the first on: how many, and their value."""
    counts = [before % _DIGITS] + [_DIGITS] * (before // _DIGITS)
    counts += [_DIGITS] * (after // _DIGITS) + [after % _DIGITS]
    found, at = [], 0
    for count in filter(None, counts):
        size, _ = decimal_bytes(count, 0)
        found.append((count, _big_endian(values[:, at : at + size])))
        at += size
    return found


def _unscaled(groups: list[tuple[int, Longs]], positive: Flags) -> tuple[Any, Any]:
    """All digits as numbers of 128 bits: their lower and their upper halves."""
    low = np.zeros(len(positive), np.uint64)
    high = np.zeros(len(positive), np.uint64)
    if sum(count for count, _ in groups) <= _LONG_DIGITS:
        for count, value in groups:
            low = low * np.uint64(10**count) + value.view(np.uint64)
    else:
        for count, value in groups:
            low, high = _times_plus(low, high, np.uint64(10**count), value.view(np.uint64))
    # The complement of two.
    negated = ~low + np.uint64(1)
    carried = ~high + (negated == 0)
    return np.where(positive, low, negated), np.where(positive, high, carried)


_LONGS = npt.NDArray[np.uint64]


def _times_plus(low: _LONGS, high: _LONGS, factor: np.uint64, more: _LONGS) -> Any:
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    first = (low & mask) * factor + more
    second = (low >> half) * factor + (first >> half)
    return (second & mask) << half | first & mask, high * factor + (second >> half)


def _long_decimals(
    groups: list[tuple[int, Longs]], positive: Flags, column: LoggedColumn
) -> pl.Series:
    import polars as pl

    digits = [
        pl.Series(str(n), value).cast(pl.String).str.zfill(count)
        for n, (count, value) in enumerate(groups)
    ]
    written = pl.DataFrame(digits).select(pl.concat_str(pl.all())).to_series()
    whole, after = column.digits
    sign = pl.when(pl.Series(positive)).then(pl.lit("")).otherwise(pl.lit("-"))
    text = written.to_frame("v").select(
        sign
        + (pl.lit("0") + pl.col("v").str.slice(0, whole)).str.replace("^0*([0-9])", "$1")
        + (pl.lit(".") + pl.col("v").str.slice(whole) if after else pl.lit(""))
    )
    return text.to_series()


# --- times ---------------------------------------------------------------------------------------


def _micros(values: Bytes, digits: int) -> Longs:
    """Fractions of seconds, of which there are an even number of digits."""
    found: Longs = _big_endian(values) * 10 ** (6 - (digits + 1) // 2 * 2)
    return found


def _dates(year: Longs, month: Longs, day: Longs) -> Any:
    """Dates; zero dates such as 0000-00-00 are NULL, as Flink CDC reads them."""
    zero = (year == 0) | (month == 0) | (day == 0)
    year, month, day = (np.where(zero, 1, part) for part in (year, month, day))
    months = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    dates = months.astype("datetime64[D]") + (day - 1)
    wrong = (month > 12) | (dates.astype("datetime64[M]") != months)
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise WrongLoggedValue(f"{year[at]:04}-{month[at]:02}-{day[at]:02}")
    return np.where(zero, np.datetime64("NaT"), dates)


def _timestamps(values: Bytes, digits: int) -> Any:
    seconds = _big_endian(values[:, :4])
    moments = (seconds * 1_000_000 + _micros(values[:, 4:], digits)).astype("datetime64[us]")
    return np.where(seconds == 0, np.datetime64("NaT"), moments)


def _datetimes(values: Bytes, null: Flags, digits: int) -> Any:
    packed = _big_endian(values[:, :5]) & 0x7F_FFFF_FFFF
    months, rest = packed >> 22, packed & 0x3FFFFF
    months = np.where(null, 1970 * 13 + 1, months)
    day = np.where(null, 1, rest >> 17)
    seconds = (rest >> 12 & 31) * 3600 + (rest >> 6 & 63) * 60 + (rest & 63)
    dates = _dates(months // 13, months % 13, day)
    micros = seconds * 1_000_000 + _micros(values[:, 5:], digits)
    return dates.astype("datetime64[us]") + micros


def _times(values: Bytes, null: Flags, digits: int, *, spans: bool) -> pl.Series:
    import polars as pl

    size = (digits + 1) // 2
    packed = _big_endian(values) - (0x800000 << 8 * size)
    plain = np.abs(packed)  # a number below zero is one with its fraction
    whole = plain >> 8 * size
    seconds = (whole >> 12) * 3600 + (whole >> 6 & 63) * 60 + (whole & 63)
    fraction = (plain & ((1 << 8 * size) - 1)) * 10 ** (6 - 2 * size)
    micros = np.where(null, 0, np.sign(packed) * (seconds * 1_000_000 + fraction))
    if spans:
        return pl.Series(micros, dtype=pl.Duration("us"))
    if ((micros < 0) | (micros >= _DAY_US)).any():
        raise WrongLoggedValue("a time before 00:00:00 or after 23:59:59")
    return pl.Series(micros * 1000, dtype=pl.Int64).cast(pl.Time)


# --- strings -------------------------------------------------------------------------------------


def _strings(rows: LoggedRows, number: int, meaning: Meaning) -> pl.Series:
    values = rows.binary(number)
    if rows.table.columns[number].type == b.JSON:
        return _documents(values)
    if meaning.character_set is not None:
        return decoded(values, meaning.character_set)
    if meaning.padded_to:
        return _padded(values, meaning.padded_to)
    return values


def _documents(values: pl.Series) -> pl.Series:
    """JSON, which has the same form all over only within a value: each is written by itself."""
    import polars as pl

    try:
        written = [None if value is None else written_json(value) for value in values]
    except BadJson as problem:
        raise WrongLoggedValue(str(problem)) from None
    return pl.Series(written, dtype=pl.String)


def _padded(values: pl.Series, size: int) -> pl.Series:
    """The log leaves out the zero bytes in which a BINARY(n) ends."""
    import polars as pl

    missing = size - values.bin.size().cast(pl.Int64)
    if not (missing > 0).any():
        return values
    zeros = pl.Series(np.full(len(values), "00" * size), dtype=pl.String)
    frame = pl.DataFrame({"v": values.bin.encode("hex"), "z": zeros, "n": missing * 2})
    padded = pl.col("v") + pl.col("z").str.slice(0, pl.col("n"))
    return frame.select(padded.str.decode("hex")).to_series()


def _members(numbers: Longs, null: Flags, column: LoggedColumn, meaning: Meaning) -> pl.Series:
    import polars as pl

    kinds, place = np.unique(numbers, return_inverse=True)
    names = [_member(int(kind), column, meaning.members, null) for kind in kinds]
    found = pl.Series(names, dtype=pl.String).gather(pl.Series(place))
    return found.set(_flags(null), None)


def _member(number: int, column: LoggedColumn, members: tuple[str, ...], null: Flags) -> str:
    if column.type == b.SET:
        return ",".join(name for bit, name in enumerate(members) if number >> bit & 1)
    # 0 is what a value that was not one of them has become.
    return members[number - 1] if 0 < number <= len(members) else ""
