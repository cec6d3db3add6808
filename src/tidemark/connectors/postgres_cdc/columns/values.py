"""Values that PostgreSQL has written as strings, in the types of a table's columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark import types as t
from tidemark.connectors.jdbc.postgres.types import as_wanted

if TYPE_CHECKING:
    import polars as pl

# The types that every PostgreSQL has, by their OIDs, and those of arrays of them.
BUILT_IN: Final = {
    16: "bool",
    17: "bytea",
    19: "name",
    20: "int8",
    21: "int2",
    23: "int4",
    25: "text",
    114: "json",
    700: "float4",
    701: "float8",
    1042: "bpchar",
    1043: "varchar",
    1082: "date",
    1083: "time",
    1114: "timestamp",
    1184: "timestamptz",
    1700: "numeric",
    2950: "uuid",
    3802: "jsonb",
    1000: "_bool",
    1001: "_bytea",
    1005: "_int2",
    1007: "_int4",
    1016: "_int8",
    1009: "_text",
    1015: "_varchar",
    1014: "_bpchar",
    1021: "_float4",
    1022: "_float8",
    1182: "_date",
    1183: "_time",
    1115: "_timestamp",
    1185: "_timestamptz",
    1231: "_numeric",
    2951: "_uuid",
}
# The names of types in SQL, if they are others.
_IN_SQL: Final = {
    "bool": "boolean",
    "int2": "smallint",
    "int4": "integer",
    "int8": "bigint",
    "float4": "real",
    "float8": "double precision",
    "bpchar": "character",
    "varchar": "character varying",
    "time": "time without time zone",
    "timestamp": "timestamp without time zone",
    "timestamptz": "timestamp with time zone",
}
# Connections write values so: see `options.database_of`.
_ZONE: Final = "+00"
_TIME: Final = "%H:%M:%S%.f"
_MOMENT: Final = f"%Y-%m-%d {_TIME}"
_QUOTED: Final = r'"(?s:[^"\\]|\\.)*"'


def as_people_write(type_: str) -> str:
    """A type, as PostgreSQL itself calls it in messages.

    >>> as_people_write("int8"), as_people_write("_int8")
    ('bigint', 'bigint[]')
    """
    single = type_.removeprefix("_")
    return _IN_SQL.get(single, single) + ("[]" if single != type_ else "")


def values_of(strings: pl.Series, type_: str, wanted: t.DataType) -> pl.Series | None:
    """The values of strings that a type of PostgreSQL has written; None if one does not fit.

    Which types fit is known before. A DECIMAL with too many digits is NULL, as in Flink.
    """
    if isinstance(wanted, t.Array):
        return _lists(strings, type_.removeprefix("_"), wanted)
    if isinstance(wanted, t.Decimal):
        return _decimals(strings, wanted)
    found = _plain(strings, type_, wanted)
    return None if found.null_count() > strings.null_count() else as_wanted(found, wanted)


def _decimals(strings: pl.Series, wanted: t.Decimal) -> pl.Series | None:
    import polars as pl

    from tidemark.columns import decimal_strings

    if not strings.str.contains(r"\A-?[0-9]").fill_null(True).all():
        return None  # NaN, Infinity
    return _computed(strings, decimal_strings.of_string(pl.col(strings.name), wanted))


def _plain(strings: pl.Series, type_: str, wanted: t.DataType) -> pl.Series:
    """The values, NULL for those that are not valid."""
    import polars as pl

    from tidemark.columns import polars_type

    match wanted:
        case t.Char() | t.VarChar():
            if type_ != "bool":
                return strings
            return strings.replace({"t": "true", "f": "false"})
        case t.Boolean():
            return strings == "t"
        case t.Binary() | t.VarBinary():
            return strings.str.strip_prefix(r"\x").str.decode("hex", strict=False)
        case t.Date():
            return strings.str.to_date("%Y-%m-%d", strict=False)
        case t.Time():
            return strings.str.to_time(_TIME, strict=False)
        case t.Timestamp() if type_ != "timestamptz":
            return _moments(strings)
        case t.Timestamp() | t.TimestampLtz():
            value = pl.col(strings.name)
            here = pl.when(value.str.ends_with(_ZONE)).then(value.str.strip_suffix(_ZONE))
            return _moments(_computed(strings, here)).dt.replace_time_zone("UTC")
    if type_ == "float4":  # its digits are few enough to be those of another DOUBLE
        strings = strings.cast(pl.Float32, strict=False).cast(pl.Float64)
    return strings.cast(polars_type(wanted), strict=False)


def _moments(strings: pl.Series) -> pl.Series:
    return strings.str.to_datetime(_MOMENT, time_unit="us", strict=False)


def _computed(strings: pl.Series, expression: pl.Expr) -> pl.Series:
    return strings.to_frame().select(expression).to_series()


def _lists(strings: pl.Series, type_: str, wanted: t.Array) -> pl.Series | None:
    """Arrays, which are written `{1,NULL,"a,b"}`; their first index may precede: `[0:1]={1,2}`.
    Only boxes have a semicolon between them, because they contain commas.
    """
    import polars as pl
    import pyarrow as pa

    inside = strings.str.replace(r"\A\[[^{]*=", "").str.strip_prefix("{").str.strip_suffix("}")
    if inside.str.replace_all(_QUOTED, "").str.contains("{", literal=True).any():
        return None  # an array of arrays
    between = ";" if type_ == "box" else ","
    lists = inside.str.extract_all(f'{_QUOTED}|[^{between}"]+').to_arrow(
        compat_level=pl.CompatLevel.oldest()
    )
    written = pl.Series("written", lists.values, dtype=pl.String)
    value = pl.col("written")
    unquoted = value.str.slice(1, value.str.len_chars() - 2)
    text = (
        pl.when(value.str.starts_with('"'))
        .then(unquoted.str.replace_all(r"\\(?s:(.))", "${1}"))
        .when(value != "NULL")
        .then(value)
    )
    strings = _computed(written, text)
    elements = values_of(strings, type_, wanted.element)
    if elements is None or elements.null_count() > strings.null_count():
        return None
    values = elements.to_arrow(compat_level=pl.CompatLevel.oldest())
    made = pa.LargeListArray.from_arrays(lists.offsets, values, mask=lists.is_null())
    found = pl.Series(made)
    return as_wanted(found, wanted)
