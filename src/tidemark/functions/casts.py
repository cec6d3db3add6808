"""CAST and TRY_CAST: which conversions exist, and how each is written in Spark SQL."""

from __future__ import annotations

from tidemark import types as t
from tidemark.functions import string_casts
from tidemark.functions.spark_text import bound, check_precision, name, safe_names, spark_type
from tidemark.functions.times_of_day import time_of

_MOMENTS = (t.Date, *t.TIMESTAMPS)

# What a value can be cast to, by type family; collections and rows are compared part by part.
_EXPLICIT: tuple[tuple[tuple[type[t.DataType], ...], tuple[type[t.DataType], ...]], ...] = (
    (t.NUMERICS, (*t.NUMERICS, t.Boolean)),
    ((t.Boolean,), (*t.NUMERICS, t.Boolean)),
    (t.CHARACTERS, (*t.NUMERICS, t.Boolean, *t.BINARIES, *_MOMENTS, t.Time)),
    (t.BINARIES, t.BINARIES),
    ((t.Date,), _MOMENTS),
    ((t.Time,), (t.Time, *t.TIMESTAMPS)),
    (t.TIMESTAMPS, (*_MOMENTS, t.Time)),
    ((t.DayTimeInterval,), (t.DayTimeInterval,)),
    ((t.YearMonthInterval,), (t.YearMonthInterval,)),
)

# Implicit casts, where a value meets a column or a parameter of another type.
_IMPLICIT: dict[type[t.DataType], tuple[type[t.DataType], ...]] = {
    t.Boolean: (t.Boolean,),
    t.TinyInt: t.NUMERICS,
    t.SmallInt: (t.SmallInt, t.Int, t.BigInt, t.Decimal, t.Float, t.Double),
    t.Int: (t.Int, t.BigInt, t.Decimal, t.Float, t.Double),
    t.BigInt: (t.BigInt, t.Decimal, t.Float, t.Double),
    t.Decimal: (t.Decimal, t.Float, t.Double),
    t.Float: (t.Decimal, t.Float, t.Double),
    t.Double: (t.Decimal, t.Double),
    t.Char: t.CHARACTERS,
    t.VarChar: (t.VarChar,),
    t.Binary: t.BINARIES,
    t.VarBinary: (t.VarBinary,),
    t.Date: (t.Date,),
    t.Time: (t.Time,),
    t.Timestamp: (*_MOMENTS, t.Time),
    t.TimestampLtz: t.TIMESTAMPS,
    t.DayTimeInterval: (t.DayTimeInterval,),
    t.YearMonthInterval: (t.YearMonthInterval,),
}

_REFUSED = (
    (t.NUMERICS, (t.Timestamp,), "use TO_TIMESTAMP(FROM_UNIXTIME(seconds))"),
    (t.NUMERICS, (t.TimestampLtz,), "use TO_TIMESTAMP_LTZ(number, precision)"),
    ((t.Timestamp,), t.NUMERICS, "use UNIX_TIMESTAMP(CAST(... AS STRING))"),
    (t.TIMESTAMPS, t.NUMERICS, "use UNIX_TIMESTAMP or TIMESTAMPDIFF"),
    ((t.Date, t.Time), t.NUMERICS, "use EXTRACT or TIMESTAMPDIFF"),
    (t.CHARACTERS, t.INTERVALS, "write INTERVAL '...' or multiply an interval by a number"),
)


def can_cast(source: t.DataType, target: t.DataType) -> bool:
    """Whether `CAST(... AS target)` exists for a value of type `source`."""
    if isinstance(source, t.Null) or isinstance(target, t.CHARACTERS):
        return not isinstance(source, t.KeywordType)
    parts = _matching_parts(source, target)
    if parts is not None:
        return all(can_cast(a, b) for a, b in parts)
    return any(isinstance(source, a) and isinstance(target, b) for a, b in _EXPLICIT)


def can_cast_implicitly(source: t.DataType, target: t.DataType) -> bool:
    """Whether INSERT or a call converts `source` to `target` implicitly."""
    if isinstance(source, t.Null):
        return not isinstance(target, t.KeywordType)
    parts = _matching_parts(source, target)
    if parts is not None:
        return all(can_cast_implicitly(a, b) for a, b in parts)
    return isinstance(target, _IMPLICIT.get(type(source), ()))


def refusal_hint(source: t.DataType, target: t.DataType) -> str | None:
    """A hint for a cast that does not exist, if there is an alternative."""
    for sources, targets, hint in _REFUSED:
        if isinstance(source, sources) and isinstance(target, targets):
            return hint
    return None


def write_cast(
    sql: str, source: t.DataType, target: t.DataType, *, safe: bool = False, zone: str = "UTC"
) -> str:
    """The value `sql` of type `source` converted to `target`; unchanged if the types are the same.

    A value that cannot be converted fails the job with the value and the type, or is NULL if
    `safe`. `zone` is the session time zone of TIMESTAMP_LTZ, which is Spark's session zone too.
    """
    check_precision(target)
    if isinstance(source, t.Null):
        return f"CAST({sql} AS {spark_type(target)})"
    if source.same_as(target):
        return sql
    if isinstance(target, t.CHARACTERS):
        return string_casts.to_length(_to_string(sql, source), source, target)
    if isinstance(source, t.CHARACTERS) and not isinstance(target, t.BINARIES):
        return string_casts.from_string(sql, target, safe=safe)
    parts = _matching_parts(source, target)
    if parts is not None:
        return _cast_parts(sql, source, target, safe=safe, zone=zone)
    return _cast_plain(sql, source, target)


def _to_string(sql: str, source: t.DataType) -> str:
    return sql if isinstance(source, t.CHARACTERS) else string_casts.to_string(sql, source)


def _matching_parts(
    source: t.DataType, target: t.DataType
) -> tuple[tuple[t.DataType, t.DataType], ...] | None:
    match source, target:
        case (t.Array(element=a), t.Array(element=b)):
            return ((a, b),)
        case (t.Multiset(element=a), t.Multiset(element=b)):
            return ((a, b),)
        case (t.Map(), t.Map()):
            return (source.key, target.key), (source.value, target.value)
        case (t.Row(fields=a), t.Row(fields=b)) if len(a) == len(b):
            return tuple((x.type, y.type) for x, y in zip(a, b, strict=True))
    return None


# --- values without parts ----------------------------------------------------------------------


def _cast_plain(sql: str, source: t.DataType, target: t.DataType) -> str:
    match target:
        case t.Decimal():
            return _cast_to_decimal(sql, source, target)
        case t.Binary(length=length):
            return f"rpad({_as_bytes(sql, source)}, {length}, X'00')"
        case t.VarBinary(length=length):
            value = _as_bytes(sql, source)
            fits = isinstance(source, t.BINARIES) and source.length <= length
            whole = fits or length == t.MAX_LENGTH
            return value if whole else f"substr({value}, 1, {length})"
        case t.Time(precision=precision):
            return _cast_to_time(sql, source, precision)
        case t.Timestamp() | t.TimestampLtz():
            return _cast_to_timestamp(sql, source, target)
        case t.DayTimeInterval() | t.YearMonthInterval():
            return sql
    return f"CAST({sql} AS {spark_type(target)})"


def _cast_to_decimal(sql: str, source: t.DataType, target: t.Decimal) -> str:
    if isinstance(source, t.Boolean):
        sql = f"CAST({sql} AS INT)"
    # A number that does not fit is NULL, even where Spark would fail.
    return f"try_cast({sql} AS {spark_type(target)})"


def _as_bytes(sql: str, source: t.DataType) -> str:
    return f"encode({sql}, 'UTF-8')" if isinstance(source, t.CHARACTERS) else sql


def _cast_to_time(sql: str, source: t.DataType, precision: int) -> str:
    time = sql if isinstance(source, t.Time) else time_of(sql)
    return string_casts.to_time_precision(time, source, precision)


def _cast_to_timestamp(sql: str, source: t.DataType, target: t.DataType) -> str:
    if isinstance(source, t.Time):
        sql = f"make_timestamp_ntz(DATE'1970-01-01', {sql})"
    kind = spark_type(target)
    moment = sql if type(source) is type(target) else f"CAST({sql} AS {kind})"
    return string_casts.to_timestamp_precision(moment, source, target)


# --- collections and rows ----------------------------------------------------------------------


def _cast_parts(sql: str, source: t.DataType, target: t.DataType, *, safe: bool, zone: str) -> str:
    match source, target:
        case (t.Array(element=a), t.Array(element=b)):
            return _cast_array(sql, a, b, safe=safe, zone=zone)
        case (t.Multiset(element=a), t.Multiset(element=b)):
            count = t.Int(nullable=False)
            return _cast_map(sql, (a, count), (b, count), safe=safe, zone=zone)
        case (t.Map(), t.Map()):
            pairs = (source.key, source.value), (target.key, target.value)
            return _cast_map(sql, *pairs, safe=safe, zone=zone)
    assert isinstance(source, t.Row) and isinstance(target, t.Row)
    return _cast_row(sql, source, target, safe=safe, zone=zone)


def _cast_array(sql: str, source: t.DataType, target: t.DataType, *, safe: bool, zone: str) -> str:
    element = string_casts.variable(t.Array(source))
    cast = write_cast(element, source, target, safe=safe, zone=zone)
    if cast == element:
        return sql
    if safe and isinstance(source, t.CHARACTERS):
        # One invalid element makes the whole array NULL.
        return bound(
            sql,
            lambda array: (
                f"if(exists({array}, {element} -> {element} IS NOT NULL AND {cast} IS NULL), "
                f"NULL, transform({array}, {element} -> {cast}))"
            ),
        )
    return f"transform({sql}, {element} -> {cast})"


def _cast_map(
    sql: str,
    source: tuple[t.DataType, t.DataType],
    target: tuple[t.DataType, t.DataType],
    *,
    safe: bool,
    zone: str,
) -> str:
    entry = string_casts.variable(t.Map(*source))
    key = write_cast(f"{entry}.key", source[0], target[0], safe=safe, zone=zone)
    value = write_cast(f"{entry}.value", source[1], target[1], safe=safe, zone=zone)
    if (key, value) == (f"{entry}.key", f"{entry}.value"):
        return sql
    return f"map_from_entries(transform(map_entries({sql}), {entry} -> struct({key}, {value})))"


def _cast_row(sql: str, source: t.Row, target: t.Row, *, safe: bool, zone: str) -> str:
    old = safe_names([field.name for field in source.fields])
    new = safe_names([field.name for field in target.fields])
    pairs = tuple(zip(source.fields, target.fields, strict=True))
    changed = any(write_cast("x", a.type, b.type, safe=safe, zone=zone) != "x" for a, b in pairs)
    if not changed:
        return sql if old == new else f"CAST({sql} AS {spark_type(target)})"

    def rebuild(row: str) -> str:
        fields = (
            f"'{after}', "
            + write_cast(f"{row}.{name(before)}", a.type, b.type, safe=safe, zone=zone)
            for before, after, (a, b) in zip(old, new, pairs, strict=True)
        )
        return f"if({row} IS NULL, NULL, named_struct({', '.join(fields)}))"

    return bound(sql, rebuild)
