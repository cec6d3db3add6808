"""Which values of PostgreSQL a column of a table has, and how they are asked for and written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark import types as t
from tidemark.connectors.jdbc.contract import StoredColumn
from tidemark.connectors.jdbc.postgres.connections import name

if TYPE_CHECKING:
    import polars as pl

# Types of PostgreSQL whose values are read as they are.
_AS_THEY_ARE: Final[dict[type[t.DataType], tuple[str, ...]]] = {
    t.Boolean: ("bool",),
    t.SmallInt: ("int2",),
    t.Int: ("int2", "int4"),
    t.BigInt: ("int2", "int4", "int8"),
    t.Float: ("float4",),
    t.Double: ("float4", "float8"),
    t.Char: ("text", "varchar", "bpchar", "name"),
    t.VarChar: ("text", "varchar", "bpchar", "name"),
    t.Binary: ("bytea",),
    t.VarBinary: ("bytea",),
    t.Date: ("date",),
    t.Time: ("time",),
    t.Timestamp: ("timestamp",),
    t.TimestampLtz: ("timestamptz",),
}
_OF_CATALOG: Final[dict[str, t.DataType]] = {
    "bool": t.Boolean(),
    "int2": t.SmallInt(),
    "int4": t.Int(),
    "int8": t.BigInt(),
    "float4": t.Float(),
    "float8": t.Double(),
    "bytea": t.BYTES,
    "date": t.Date(),
}
_MOST_DIGITS: Final = 38
# The digits of integers.
_DIGITS: Final = {"int2": 5, "int4": 10, "int8": 19}
# Types for rows on their way into a table.
_WRITTEN: Final[dict[type[t.DataType], str]] = {
    t.Boolean: "boolean",
    t.TinyInt: "smallint",
    t.SmallInt: "smallint",
    t.Int: "integer",
    t.BigInt: "bigint",
    t.Float: "real",
    t.Double: "double precision",
    t.Decimal: "numeric",
    t.Char: "text",
    t.VarChar: "text",
    t.Binary: "bytea",
    t.VarBinary: "bytea",
    t.Date: "date",
    t.Time: "time",
    t.Timestamp: "timestamp",
    t.TimestampLtz: "timestamptz",
}
_STRINGS: Final = ("text", "varchar", "bpchar", "name")


def is_known(type_: t.DataType) -> bool:
    """Whether PostgreSQL has such values."""
    if isinstance(type_, t.Array):
        return not isinstance(type_.element, t.Array) and is_known(type_.element)
    return type(type_) in _WRITTEN


# --- reading -----------------------------------------------------------------------------------


def asked(column: StoredColumn, wanted: t.DataType, table: str = "") -> str | None:
    """The SQL that reads a column as the type of a table's; None if its values are others."""
    sql = f"{table}{name(column.name)}"
    if isinstance(wanted, t.Array):
        element = wanted.element
        return _elements(sql, column, element) if column.type.startswith("_") else None
    if column.type in _AS_THEY_ARE.get(type(wanted), ()):
        return sql
    if isinstance(wanted, t.CHARACTERS):
        return _written(sql, column.type)
    if isinstance(wanted, t.Decimal):
        return _decimal(sql, column, wanted)
    return None


def _written(sql: str, type_: str) -> str:
    """A value as PostgreSQL writes it. As text, an address has a mask that is written nowhere."""
    if type_ == "inet":
        return f"CASE WHEN {sql} IS NOT NULL THEN format('%s', {sql}) END"
    return f"{sql}::text"


def _elements(sql: str, column: StoredColumn, wanted: t.DataType) -> str | None:
    found = column.type.removeprefix("_")
    if found in _AS_THEY_ARE.get(type(wanted), ()):
        return f"{sql}::pg_catalog.{found}[]"  # drivers do not know arrays of domains
    if isinstance(wanted, t.CHARACTERS):
        return f"({_written(sql, found) if found == 'inet' else sql})::text[]"
    if isinstance(wanted, t.Decimal) and (found == "numeric" or found in _DIGITS):
        return f"{sql}::numeric({wanted.precision}, {wanted.scale})[]::text[]"
    return None


def _decimal(sql: str, column: StoredColumn, wanted: t.Decimal) -> str | None:
    """Decimals come as strings, which takes a fifth of the time that their binary form takes."""
    digits = column.digits
    if column.type in _DIGITS:
        digits = _DIGITS[column.type], 0
    elif column.type != "numeric":
        return None
    before = wanted.precision - wanted.scale
    if digits is not None and 0 <= digits[1] <= wanted.scale and digits[0] - digits[1] <= before:
        return f"{sql}::text"
    # As in Flink: rounded half up, and NULL if there are too many digits. What is not a number
    # fails when it is read.
    number = f"round({sql}::numeric, {wanted.scale})"
    return (
        f"CASE WHEN abs({number}) < 1e{before} OR {sql}::text IN ('NaN', 'Infinity', '-Infinity') "
        f"THEN {number}::text END"
    )


def as_wanted(values: pl.Series, wanted: t.DataType) -> pl.Series:
    """Values that were asked for so, in the type of the table's column."""
    from tidemark.columns import polars_type

    if isinstance(wanted, t.Time) and wanted.precision < 6:
        import polars as pl

        step = 10 ** (9 - wanted.precision)
        values = (values.cast(pl.Int64) // step * step).cast(pl.Time)
    return values.cast(polars_type(wanted))


# --- declaring -----------------------------------------------------------------------------------


def type_of(column: StoredColumn) -> t.DataType:
    """The type that Flink's catalog gives a column; a string for those that it refuses."""
    if column.type.startswith("_"):
        return t.Array(_scalar(column.type[1:], column))
    return _scalar(column.type, column)


def _scalar(found: str, column: StoredColumn) -> t.DataType:
    match found:
        case "numeric":
            digits, scale = column.digits or (_MOST_DIGITS, 18)
            fits = 0 <= scale <= digits <= _MOST_DIGITS
            return t.Decimal(digits, scale) if fits else t.Decimal(_MOST_DIGITS, 18)
        case "bpchar":
            return t.Char(column.length or 1)
        case "varchar":
            return t.VarChar(column.length or t.MAX_LENGTH)
        case "time":
            return t.Time(_precision(column))
        case "timestamp":
            return t.Timestamp(_precision(column))
        case "timestamptz":
            return t.TimestampLtz(_precision(column))
    return _OF_CATALOG.get(found, t.STRING)


def _precision(column: StoredColumn) -> int:
    return 6 if column.precision is None else column.precision


# --- writing -----------------------------------------------------------------------------------


def staged(type_: t.DataType) -> str:
    """The type of PostgreSQL in which the values of a type are sent."""
    if isinstance(type_, t.Array):
        return f"{staged(type_.element)}[]"
    if isinstance(type_, t.Decimal):
        # Without them, a number without limits would lose the zeros at its end.
        return f"numeric({type_.precision}, {type_.scale})"
    return _WRITTEN[type(type_)]


def stored(sql: str, type_: t.DataType, column: StoredColumn) -> str | None:
    """The SQL of a sent value for a column of a table; None if its meaning would change.

    PostgreSQL converts it as in any INSERT, and raises an error if it does not fit. Strings are
    what it reads other types from.
    """
    single = type_.element if isinstance(type_, t.Array) else type_
    others = {t.Timestamp: "timestamptz", t.TimestampLtz: "timestamp"}
    if others.get(type(single)) == column.type.removeprefix("_"):
        return None
    found = column.type.removeprefix("_") if isinstance(type_, t.Array) else column.type
    if isinstance(single, t.CHARACTERS) and found not in _STRINGS:
        return f"CAST({sql} AS {column.written})"
    return sql
