"""Which types of MySQL are which of Flink SQL, and how their values are read and written.

Values come as the strings that the server writes, and go as literals of SQL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark import types as t
from tidemark.connectors.jdbc.contract import StoredColumn
from tidemark.connectors.jdbc.mysql.connections import name
from tidemark.connectors.jdbc.values import decimals_of, times_of

if TYPE_CHECKING:
    import polars as pl

_STRINGS: Final = ("char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set")
_BYTES: Final = ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob")
_TINY: Final = ("tinyint",)
_SMALL: Final = (*_TINY, "tinyint unsigned", "smallint", "year")
_INT: Final = (*_SMALL, "smallint unsigned", "mediumint", "mediumint unsigned", "int")
_BIG: Final = (*_INT, "int unsigned", "bigint")
_OF_CATALOG: Final[dict[str, t.DataType]] = {
    "tinyint": t.TinyInt(),
    "tinyint unsigned": t.SmallInt(),
    "smallint": t.SmallInt(),
    "smallint unsigned": t.Int(),
    "mediumint": t.Int(),
    "mediumint unsigned": t.Int(),
    "int": t.Int(),
    "int unsigned": t.BigInt(),
    "bigint": t.BigInt(),
    "bigint unsigned": t.Decimal(20, 0),
    "year": t.SmallInt(),
    "float": t.Float(),
    "float unsigned": t.Float(),
    "double": t.Double(),
    "double unsigned": t.Double(),
    "date": t.Date(),
    **dict.fromkeys(("tinyblob", "blob", "mediumblob", "longblob", "binary", "varbinary"), t.BYTES),
}
# Types whose values are read as they are.
_AS_THEY_ARE: Final[dict[type[t.DataType], tuple[str, ...]]] = {
    t.TinyInt: _TINY,
    t.SmallInt: _SMALL,
    t.Int: _INT,
    t.BigInt: _BIG,
    t.Double: ("double", "double unsigned"),
    t.Decimal: ("decimal", "decimal unsigned", *_BIG, "bigint unsigned"),
    t.Char: (*_STRINGS, "json"),
    t.VarChar: (*_STRINGS, "json"),
    t.Binary: _BYTES,
    t.VarBinary: _BYTES,
    t.Date: ("date",),
    t.Time: ("time",),
    t.Timestamp: ("datetime",),
    t.TimestampLtz: ("timestamp",),
}
FLAGS: Final = ("tinyint(1)", "bit(1)")
# What has no form as a string.
_SHAPES: Final = ("geometry", "point", "linestring", "polygon", "multipoint", "bit", "vector")
# Dates without a year, month or day.
_ZERO: Final = "^(?:0000|[0-9]{4}-00|[0-9]{4}-[0-9]{2}-00)"
_DATES: Final = (t.Date, t.Timestamp, t.TimestampLtz)
_BINARY_STRING: Final = "CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
# Types for rows on their way into a table.
_SENT: Final[dict[type[t.DataType], str]] = {
    t.Boolean: "TINYINT",
    t.TinyInt: "TINYINT",
    t.SmallInt: "SMALLINT",
    t.Int: "INT",
    t.BigInt: "BIGINT",
    t.Float: "FLOAT",
    t.Double: "DOUBLE",
    # Strings of digits, which an INSERT reads: not all scales fit MySQL's own.
    t.Decimal: f"VARCHAR(50) {_BINARY_STRING}",
    t.Char: f"LONGTEXT {_BINARY_STRING}",
    t.VarChar: f"LONGTEXT {_BINARY_STRING}",
    t.Binary: "LONGBLOB",
    t.VarBinary: "LONGBLOB",
    t.Date: "DATE",
    t.Time: "TIME(6)",
    t.Timestamp: "DATETIME(6)",
    t.TimestampLtz: "DATETIME(6)",
}


def is_known(type_: t.DataType) -> bool:
    return type(type_) in _SENT


# --- reading -----------------------------------------------------------------------------------


def asked(column: StoredColumn, wanted: t.DataType, table: str) -> str | None:
    """The SQL that reads a column as the type of a table's; None if its values are others."""
    sql = f"{table}{name(column.name)}"
    if isinstance(wanted, t.Boolean):
        return f"{sql} <> 0" if column.written in FLAGS else None
    if isinstance(wanted, t.Float | t.Double) and column.type in ("float", "float unsigned"):
        # MySQL writes six digits of a FLOAT, but all of a DOUBLE.
        return f"{sql} + 0e0"
    if column.type in _AS_THEY_ARE.get(type(wanted), ()):
        return sql
    if isinstance(wanted, t.CHARACTERS) and column.type not in (*_BYTES, *_SHAPES):
        return f"CAST({sql} AS CHAR)"
    return None


def values_of(
    found: tuple[str | bytes | None, ...], wanted: t.DataType, *, no_zeros: bool = False
) -> pl.Series:
    """The values of a column as the server writes them; dates such as 0000-00-00 as NULL if there
    are to be `no_zeros`. Raises what Polars raises if one does not fit.
    """
    import polars as pl

    from tidemark.columns import polars_type

    if isinstance(wanted, t.Binary | t.VarBinary):
        return pl.Series(found, dtype=pl.Binary)
    strings = pl.Series(found, dtype=pl.String)
    if no_zeros and isinstance(wanted, _DATES):
        strings = strings.set(_zeros(strings), None)
    match wanted:
        case t.Boolean():
            return strings == "1"
        case t.Decimal():
            return decimals_of(strings, wanted)
        case t.Date():
            return strings.str.to_date("%Y-%m-%d")
        case t.Time():
            return times_of(strings, wanted.precision)
        case t.Timestamp():
            return _moments(strings)
        case t.TimestampLtz():
            return _moments(strings).dt.replace_time_zone("UTC")
        case t.Float():
            return strings.cast(pl.Float64).cast(pl.Float32)
    return strings.cast(polars_type(wanted))


def has_zero(found: tuple[str | bytes | None, ...], wanted: t.DataType) -> bool:
    """Whether a date such as 0000-00-00 is among the values of a column."""
    import polars as pl

    return isinstance(wanted, _DATES) and _zeros(pl.Series(found, dtype=pl.String)).any()


def _zeros(strings: pl.Series) -> pl.Series:
    return strings.str.contains(_ZERO).fill_null(False)


def _moments(strings: pl.Series) -> pl.Series:
    moments: pl.Series = strings.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us")
    return moments


# --- writing -----------------------------------------------------------------------------------


def sent_as(type_: t.DataType) -> str:
    """The type of MySQL in which the values of a type wait."""
    return _SENT[type(type_)]


def keeps(column: StoredColumn, type_: t.DataType) -> bool:
    """Whether the values of a type have their meaning in a column."""
    return not isinstance(type_, t.TimestampLtz) or column.type != "datetime"


def literals(values: pl.Expr, type_: t.DataType) -> pl.Expr:
    """Values in SQL."""
    import polars as pl

    match type_:
        case t.Boolean():
            written = values.cast(pl.Int8).cast(pl.String)
        case t.Float():
            written = values.cast(pl.Float64).cast(pl.String)
        case t.Char() | t.VarChar():
            written = _quoted(
                values.str.replace_all("\\", r"\\", literal=True).str.replace_all(
                    "'", "''", literal=True
                )
            )
        case t.Binary() | t.VarBinary():
            written = pl.lit("x") + _quoted(values.bin.encode("hex"))
        case t.Date():
            written = pl.lit("DATE") + _quoted(values.dt.to_string("%Y-%m-%d"))
        case t.Time():
            written = pl.lit("TIME") + _quoted(values.dt.to_string("%H:%M:%S%.6f"))
        case t.Timestamp() | t.TimestampLtz():
            plain = values.dt.replace_time_zone(None).dt.to_string("%Y-%m-%d %H:%M:%S%.6f")
            written = pl.lit("TIMESTAMP") + _quoted(plain)
        case _:
            written = values.cast(pl.String)
    return written.fill_null("NULL")


def _quoted(strings: pl.Expr) -> pl.Expr:
    import polars as pl

    return pl.lit("'") + strings + pl.lit("'")


# --- declaring -----------------------------------------------------------------------------------


def type_of(column: StoredColumn) -> t.DataType:
    """The type that Flink's catalog gives a column; a string for those that it refuses."""
    if column.written in FLAGS:
        return t.Boolean()
    precision = column.precision or 0
    match column.type:
        case "decimal" | "decimal unsigned":
            digits, scale = column.digits or (t.MAX_DECIMAL_PRECISION, 0)
            digits += column.type.endswith("unsigned")  # as Flink has it
            return t.Decimal(min(digits, t.MAX_DECIMAL_PRECISION), scale)
        case "char":
            return t.Char(column.length or 1)
        case "varchar":
            return t.VarChar(column.length or 1)
        case "time":
            return t.Time(precision)
        case "datetime":
            return t.Timestamp(precision)
        case "timestamp":
            return t.TimestampLtz(precision)
    return _OF_CATALOG.get(column.type, t.STRING)
