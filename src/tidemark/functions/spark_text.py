"""Names and values as Spark SQL that means exactly them, whatever they contain.

Spark treats backslashes in string literals as escapes (or not, by a setting) and replaces `${...}`
anywhere in a statement before it is parsed. So a string that is not plainly harmless is written as
hex digits.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from zlib import crc32

from tidemark import types as t
from tidemark.errors import NotSupported

_HARMLESS_TEXT = re.compile(r"[A-Za-z0-9 _.,:;/+*()<>=@#%&!?|^~\[\]-]*\Z")
_HARMLESS_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def string(value: str) -> str:
    """A string literal.

    >>> string("it's")
    "decode(X'69742773', 'UTF-8')"
    """
    if _HARMLESS_TEXT.match(value):
        return f"'{value}'"
    return f"decode(X'{value.encode('utf-8', 'surrogatepass').hex().upper()}', 'UTF-8')"


def binary(value: bytes) -> str:
    return f"X'{value.hex().upper()}'"


def name(value: str) -> str:
    """A quoted identifier. Only harmless names are ever sent to Spark: see `safe_names`."""
    if not _HARMLESS_NAME.match(value):
        raise ValueError(f"not a name made for Spark: {value!r}")
    return f"`{value}`"


def safe_names(names: list[str] | tuple[str, ...]) -> tuple[str, ...]:
    """Names for Spark columns: the user's own if they are harmless and distinct.

    Spark is case-insensitive and Flink is not; a name that would collide gets its position instead.
    """
    taken: set[str] = set()
    result = []
    for position, wanted in enumerate(names):
        harmless = _HARMLESS_NAME.match(wanted) and not wanted.lower().startswith("_tm_")
        chosen = wanted if harmless and wanted.lower() not in taken else f"_tm_{position}"
        taken.add(chosen.lower())
        result.append(chosen)
    return tuple(result)


_SHORT_ENOUGH_TO_REPEAT = 80


def bound(sql: str, write: Callable[[str], str]) -> str:
    """The SQL that `write` makes of an expression that it repeats.

    A long expression gets a name first, so that nested ones do not multiply.

    >>> bound("a", lambda x: f"({x} + {x})")
    '(a + a)'
    """
    if len(sql) <= _SHORT_ENOUGH_TO_REPEAT:
        return write(sql)
    variable = f"_tm_v{crc32(sql.encode()):08x}"
    return f"get(transform(array({sql}), {variable} -> {write(variable)}), 0)"


# Spark has microseconds; Flink types can have nanoseconds.
MAX_TIME_PRECISION = 6

_PLAIN_TYPES: dict[type[t.DataType], str] = {
    t.Null: "VOID",
    t.Boolean: "BOOLEAN",
    t.TinyInt: "TINYINT",
    t.SmallInt: "SMALLINT",
    t.Int: "INT",
    t.BigInt: "BIGINT",
    t.Float: "FLOAT",
    t.Double: "DOUBLE",
    t.Char: "STRING",
    t.VarChar: "STRING",
    t.Binary: "BINARY",
    t.VarBinary: "BINARY",
    t.Date: "DATE",
    t.Time: "TIME(6)",
    t.Timestamp: "TIMESTAMP_NTZ",
    t.TimestampLtz: "TIMESTAMP",
    t.DayTimeInterval: "INTERVAL DAY TO SECOND",
    t.YearMonthInterval: "INTERVAL YEAR TO MONTH",
}


def spark_type(type_: t.DataType) -> str:
    """The Spark type, as SQL, that holds the values of a Flink type.

    The nullability of elements and fields is left out: this is used as the target of casts, and a
    cast must not promise what its operand does not.

    >>> spark_type(t.Map(t.STRING, t.Array(t.Timestamp(3))))
    'MAP<STRING, ARRAY<TIMESTAMP_NTZ>>'
    """
    check_precision(type_)
    match type_:
        case t.Decimal(precision=precision, scale=scale):
            return f"DECIMAL({precision}, {scale})"
        case t.Array(element=element):
            return f"ARRAY<{spark_type(element)}>"
        case t.Multiset(element=element):
            return f"MAP<{spark_type(element)}, INT>"
        case t.Map(key=key, value=value):
            return f"MAP<{spark_type(key)}, {spark_type(value)}>"
        case t.Row(fields=fields):
            names = safe_names([field.name for field in fields])
            pairs = zip(names, fields, strict=True)
            return f"STRUCT<{', '.join(f'{name(n)}: {spark_type(f.type)}' for n, f in pairs)}>"
        case _:
            return _PLAIN_TYPES[type(type_)]


def check_precision(type_: t.DataType) -> None:
    """Reject times more precise than Spark's."""
    if isinstance(type_, (t.Time, *t.TIMESTAMPS)) and type_.precision > MAX_TIME_PRECISION:
        raise NotSupported(
            f"{type_.text()} is not supported: Spark's precision is microseconds",
            hint=f"use a precision of {MAX_TIME_PRECISION} or less",
        )
