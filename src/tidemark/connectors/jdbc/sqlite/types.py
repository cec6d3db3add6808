"""Values in SQLite: a column has any, so each one is tested when it is read.

Times are strings, as SQLite's own functions write them: `2024-05-01 09:00:00.5`. Those of
TIMESTAMP_LTZ are UTC's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from tidemark import types as t
from tidemark.connectors.jdbc.contract import StoredColumn
from tidemark.connectors.jdbc.sqlite.connections import name
from tidemark.connectors.jdbc.values import decimals_of, times_of

if TYPE_CHECKING:
    import polars as pl

_INTEGERS: Final = (t.TinyInt, t.SmallInt, t.Int, t.BigInt)
_FLOATS: Final = (t.Float, t.Double)
_BYTES: Final = (t.Binary, t.VarBinary)
_TIMES: Final = (t.Date, t.Time, t.Timestamp, t.TimestampLtz)
_KNOWN: Final = (t.Boolean, *_INTEGERS, *_FLOATS, t.Decimal, *t.CHARACTERS, *_BYTES, *_TIMES)
# Digits that SQLite's floating point numbers keep.
_DIGITS: Final = 15


def is_known(type_: t.DataType) -> bool:
    return isinstance(type_, _KNOWN)


def asked(column: StoredColumn, wanted: t.DataType, table: str) -> str:
    """The SQL that reads a column. What is not of the type comes as it is, and fails."""
    sql = f"{table}{name(column.name)}"
    if isinstance(wanted, (*t.CHARACTERS, t.Decimal)):
        return f"CASE typeof({sql}) WHEN 'blob' THEN {sql} ELSE CAST({sql} AS TEXT) END"
    if isinstance(wanted, _FLOATS):
        return f"CASE typeof({sql}) WHEN 'integer' THEN CAST({sql} AS REAL) ELSE {sql} END"
    return sql


def as_number(column: StoredColumn) -> str:
    """Numbers that are stored as strings are compared as numbers, too."""
    sql = name(column.name)
    return sql if column.type in ("INTEGER", "REAL", "NUMERIC") else f"CAST({sql} AS NUMERIC)"


# --- reading -----------------------------------------------------------------------------------


def values_of(found: tuple[Any, ...], wanted: t.DataType) -> pl.Series:
    """The values of a column as Python has them. Raises what Polars raises if one does not fit."""
    import polars as pl

    from tidemark.columns import polars_type

    match wanted:
        case t.Boolean():
            flags = pl.Series(found, dtype=pl.Int64)
            known: dict[int, bool] = {0: False, 1: True}
            truths: pl.Series = flags.replace_strict(known, return_dtype=pl.Boolean)
            return truths
        case t.TinyInt() | t.SmallInt() | t.Int() | t.BigInt():
            return pl.Series(found, dtype=pl.Int64).cast(polars_type(wanted))
        case t.Float() | t.Double():
            return pl.Series(found, dtype=pl.Float64).cast(polars_type(wanted))
        case t.Binary() | t.VarBinary():
            return pl.Series(found, dtype=pl.Binary)
    read = _OF_STRINGS[type(wanted)]
    return read(pl.Series(found, dtype=pl.String), wanted)


def _moments(strings: pl.Series, _: t.DataType) -> pl.Series:
    whole = strings.str.replace(_NO_SECONDS, "${1}:00${2}").str.replace("T", " ", literal=True)
    moments: pl.Series = whole.str.to_datetime(f"%Y-%m-%d {_TIME}", time_unit="us")
    return moments


def _instants(strings: pl.Series, wanted: t.DataType) -> pl.Series:
    """Those without a zone are UTC's."""
    import polars as pl

    zone = strings.str.extract_groups(_ZONE).struct
    minutes = zone.field("h").cast(pl.Int64) * 60 + zone.field("m").cast(pl.Int64)
    signs = zone.field("sign").replace_strict({"+": -1, "-": 1}, return_dtype=pl.Int64)
    plain = _moments(strings.str.replace(f"(?:Z|{_ZONE})$", ""), wanted)
    moved: pl.Series = plain + (minutes * signs * 60_000_000).fill_null(0).cast(pl.Duration("us"))
    return moved.dt.replace_time_zone("UTC")


_OF_STRINGS: Final[dict[type[t.DataType], Callable[[pl.Series, Any], pl.Series]]] = {
    t.Char: lambda strings, _: strings,
    t.VarChar: lambda strings, _: strings,
    t.Decimal: decimals_of,
    t.Date: lambda strings, _: strings.str.to_date("%Y-%m-%d"),
    t.Time: lambda strings, wanted: times_of(strings, wanted.precision),
    t.Timestamp: _moments,
    t.TimestampLtz: _instants,
}
_TIME: Final = "%H:%M:%S%.f"
_NO_SECONDS: Final = r"^(\d{4}-\d\d-\d\d[ T]\d\d:\d\d)(Z|[+-]\d\d:\d\d)?$"
_ZONE: Final = r"(?P<sign>[+-])(?P<h>\d\d):(?P<m>\d\d)$"


# --- writing -----------------------------------------------------------------------------------


def sent(values: pl.Series, type_: t.DataType) -> list[Any]:
    """The values of a column as SQLite takes them."""
    import polars as pl

    match type_:
        case t.Boolean():
            return values.cast(pl.Int64).to_list()
        case t.Float():
            return values.cast(pl.Float64).to_list()
        case t.Decimal() | t.Date():
            return values.cast(pl.String).to_list()
        case t.Time():
            return _without_zeros(values.dt.to_string("%H:%M:%S%.6f")).to_list()
        case t.Timestamp() | t.TimestampLtz():
            plain = values.dt.replace_time_zone(None)
            return _without_zeros(plain.dt.to_string("%Y-%m-%d %H:%M:%S%.6f")).to_list()
    return values.to_list()


def _without_zeros(times: pl.Series) -> pl.Series:
    """The shortest form, as SQLite's functions have it of whole seconds; it has the same order."""
    return times.str.replace(r"\.?0+$", "")


def keeps(column: StoredColumn, type_: t.DataType) -> bool:
    """Whether a column of this affinity keeps the values of a type as they are."""
    match type_:
        case t.Boolean() | t.TinyInt() | t.SmallInt() | t.Int() | t.BigInt():
            return column.type in ("INTEGER", "NUMERIC", "BLOB")
        case t.Float() | t.Double():
            return column.type != "TEXT"
        case t.Char() | t.VarChar():
            return column.type in ("TEXT", "BLOB")
        case t.Decimal(precision=digits):
            return digits <= _DIGITS or column.type in ("TEXT", "BLOB")
    return True
