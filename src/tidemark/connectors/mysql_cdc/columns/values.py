"""Values from the log, in the types of a table's columns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tidemark import types as t
from tidemark.columns import polars_type
from tidemark.connectors.jdbc.values import decimals_of
from tidemark.connectors.mysql_cdc.known_columns import KnownColumn, is_moment
from tidemark.connectors.mysql_cdc.options import offset_of
from tidemark.formats import binlog as b
from tidemark.formats.binlog import LoggedColumn
from tidemark.formats.binlog_rows import LoggedRows
from tidemark.formats.binlog_values import Meaning, logged_values

if TYPE_CHECKING:
    import polars as pl

_LOGGED: Final = {
    "tinyint": (b.TINY,),
    "smallint": (b.SHORT,),
    "mediumint": (b.INT24,),
    "int": (b.LONG,),
    "bigint": (b.LONGLONG,),
    "float": (b.FLOAT,),
    "double": (b.DOUBLE,),
    "decimal": (b.DECIMAL,),
    "year": (b.YEAR,),
    "date": (b.DATE, b.NEWDATE),
    "time": (b.TIME2,),
    "datetime": (b.DATETIME2,),
    "timestamp": (b.TIMESTAMP2,),
    "char": (b.STRING,),
    "binary": (b.STRING,),
    "varchar": (b.VARCHAR, b.VAR_STRING, b.VARCHAR_COMPRESSED),
    "varbinary": (b.VARCHAR, b.VAR_STRING, b.VARCHAR_COMPRESSED),
    "enum": (b.ENUM,),
    "set": (b.SET,),
    "bit": (b.BIT,),
    "json": (b.JSON,),
}
_INTEGER_DIGITS: Final = 20  # of the largest ones
_BLOBS: Final = {"tiny": 1, "": 2, "medium": 3, "long": 4}


def is_logged_as(column: KnownColumn, logged: LoggedColumn) -> bool:
    """Whether a column of the log can be one that the server describes."""
    blob = re.fullmatch(r"(tiny|medium|long|)(?:text|blob)", column.type)
    if blob is not None:
        return logged.type == b.BLOB_COMPRESSED or logged == LoggedColumn(b.BLOB, _BLOBS[blob[1]])
    if logged.type not in _LOGGED.get(column.type, (logged.type,)):
        return False
    if logged.type == b.DECIMAL:
        return (logged.first, logged.second) == column.digits
    if logged.type in (b.TIME2, b.DATETIME2, b.TIMESTAMP2):
        return logged.first == (column.precision or 0)
    if column.type in ("char", "binary", "varchar", "varbinary") and logged.type in (
        b.STRING,
        b.VARCHAR,
        b.VAR_STRING,
    ):
        return logged.first == column.octets
    return True


def meaning_of(column: KnownColumn, wanted: t.DataType) -> Meaning:
    listed = column.type in ("enum", "set")
    return Meaning(
        unsigned=column.unsigned,
        character_set=None if listed else column.character_set,
        members=column.members,
        padded_to=column.octets or 0 if column.type == "binary" else 0,
        spans=isinstance(wanted, t.CHARACTERS),
    )


def values_of(
    rows: LoggedRows, number: int, column: KnownColumn, wanted: t.DataType, zone: str
) -> pl.Series:
    """The values of a column, which is known to be readable. Raises what reading them raises."""
    import polars as pl

    found = logged_values(rows, number, meaning_of(column, wanted))
    if is_moment(column, wanted):
        return of_moments(found, column, wanted, zone)
    match wanted:
        case t.Boolean():
            flags: pl.Series = found != 0
            return flags
        case t.Char() | t.VarChar():
            return _written(found, column)
        case t.Decimal():
            return _decimals(found, wanted)
        case t.Time():
            step = 10 ** (9 - min(wanted.precision, 6))
            whole: pl.Series = found.cast(pl.Int64) // step * step
            return whole.cast(pl.Time)
        case t.TimestampLtz():
            return found.dt.replace_time_zone("UTC")
        case t.Float() | t.Double():
            if isinstance(found.dtype, pl.Decimal):
                found = found.cast(pl.String)
            return found.cast(pl.Float64).cast(polars_type(wanted))
        case t.Array():
            return members_of(found)
        case t.Binary() | t.VarBinary() if column.type == "bit":
            return _lowest_first(found, column)
        case t.Binary() | t.VarBinary() | t.Timestamp():
            return found
    return found.cast(polars_type(wanted))


def members_of(found: pl.Series) -> pl.Series:
    """The members of a SET, which is written as one string."""
    import polars as pl

    members = pl.col("v").str.split(",").list.filter(pl.element() != "")
    return found.to_frame("v").select(members.alias(found.name)).to_series()


def _lowest_first(found: pl.Series, column: KnownColumn) -> pl.Series:
    """The numbers that bits are, as bytes."""
    import polars as pl
    import pyarrow as pa

    bits = column.digits[0] if column.digits else 1
    width = (bits + 7) // 8
    numbers = found.fill_null(0).to_numpy().astype("<u8")
    content = numbers.view("u1").reshape(-1, 8)[:, :width].tobytes()
    whole = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(width), len(found), [None, pa.py_buffer(content)]
    )
    values = pl.Series(pl.from_arrow(whole.cast(pa.binary())), dtype=pl.Binary)
    return values.set(found.is_null(), None)


def of_moments(found: pl.Series, column: KnownColumn, wanted: t.DataType, zone: str) -> pl.Series:
    """What clocks in a zone show at moments, which are given in UTC."""
    offset = offset_of(zone)
    if offset is None:
        there = found.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
        local = there.dt.replace_time_zone(None)
    else:
        local = found.dt.replace_time_zone(None).dt.offset_by(f"{offset}m")
    return local if isinstance(wanted, t.Timestamp) else _written(local, column)


def _written(found: pl.Series, column: KnownColumn) -> pl.Series:
    """Values as MySQL writes them."""
    import polars as pl

    digits = column.precision or 0
    match column.type:
        case "date":
            return found.dt.to_string("%Y-%m-%d")
        case "time":
            return _cut(_spans(found), digits)
        case "datetime" | "timestamp":
            return _cut(found.dt.to_string("%Y-%m-%d %H:%M:%S%.6f"), digits)
        case "year":
            return found.cast(pl.String).str.zfill(4)
    strings = found.cast(pl.String)
    filled = re.search(r"\((\d+)(?:,(\d+))?\).*zerofill", column.attributes)
    if filled is None:
        return strings
    return strings.str.zfill(int(filled[1]) + (int(filled[2] or 0) > 0))


def _spans(found: pl.Series) -> pl.Series:
    """Durations such as -100:00:00.500000."""
    import polars as pl

    micros = pl.col("v").dt.total_microseconds()
    seconds = micros.abs() // 1_000_000
    sign = pl.when(micros < 0).then(pl.lit("-")).otherwise(pl.lit(""))
    parts = [seconds // 3600, seconds // 60 % 60, seconds % 60]
    hours, minutes, rest = (part.cast(pl.String).str.zfill(2) for part in parts)
    fraction = (micros.abs() % 1_000_000).cast(pl.String).str.zfill(6)
    clock = [sign, hours, pl.lit(":"), minutes, pl.lit(":"), rest, pl.lit("."), fraction]
    return found.to_frame("v").select(pl.concat_str(clock)).to_series()


def _cut(written: pl.Series, digits: int) -> pl.Series:
    """Times with so many of the six digits of seconds that they have."""
    import polars as pl

    unwanted = 6 - digits if digits else 7
    return (
        written.to_frame("v")
        .select(pl.col("v").str.head(-unwanted) if unwanted else pl.col("v"))
        .to_series()
    )


def _decimals(found: pl.Series, wanted: t.Decimal) -> pl.Series:
    import polars as pl

    if isinstance(found.dtype, pl.Decimal):
        after = found.dtype.scale
        fits = found.dtype.precision - after <= wanted.precision - wanted.scale
        if fits and after <= wanted.scale:
            return found.cast(pl.Decimal(wanted.precision, wanted.scale))
    elif found.dtype.is_integer() and wanted.precision - wanted.scale >= _INTEGER_DIGITS:
        return found.cast(pl.Decimal(wanted.precision, wanted.scale))
    # Rounded, and NULL if there are too many digits, as in snapshots.
    return decimals_of(found.cast(pl.String).alias("v"), wanted)
