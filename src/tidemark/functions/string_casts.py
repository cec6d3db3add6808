"""Casts to and from strings, in exactly Flink's formats."""

from __future__ import annotations

from tidemark import types as t
from tidemark.functions.moments_in_strings import read_moment
from tidemark.functions.spark_text import MAX_TIME_PRECISION, bound, name, safe_names, spark_type
from tidemark.functions.spark_text import string as literal
from tidemark.functions.times_of_day import cut_to

# Spark prints smaller numbers with an exponent.
_PLAINLY_PRINTED_SCALE = 6


def variable(type_: t.DataType) -> str:
    """A name for the elements of a collection, unlike those of the collections inside it."""
    return f"_tm_e{_depth(type_)}"


def _depth(type_: t.DataType) -> int:
    match type_:
        case t.Array(element=element) | t.Multiset(element=element):
            return 1 + _depth(element)
        case t.Map(key=key, value=value):
            return 1 + max(_depth(key), _depth(value))
        case t.Row(fields=fields):
            return max((_depth(field.type) for field in fields), default=0)
    return 0


# --- to strings --------------------------------------------------------------------------------


def to_string(sql: str, source: t.DataType) -> str:
    """The whole value as Flink prints it."""
    match source:
        case t.Char() | t.VarChar():
            return sql
        case t.Boolean():
            return f"upper(CAST({sql} AS STRING))"
        case t.Decimal(precision=precision, scale=scale) if scale > _PLAINLY_PRINTED_SCALE:
            digits = "9" * max(0, precision - scale - 1) + "0." + "0" * scale
            # Spark omits the zero before the point of a negative number.
            return f"replace(replace(to_char({sql}, 'MI{digits}'), ' ', ''), '-.', '-0.')"
        case t.Binary() | t.VarBinary():
            return f"make_valid_utf8(CAST({sql} AS STRING))"
        case t.Timestamp(precision=precision) | t.TimestampLtz(precision=precision):
            return _timestamp_string(sql, precision)
        case t.Time(precision=precision):
            return _time_string(sql, precision)
        case t.DayTimeInterval():
            return _day_time_string(sql)
        case t.YearMonthInterval():
            return _year_month_string(sql)
        case t.Array() | t.Map() | t.Multiset() | t.Row():
            return _nested_string(sql, source)
    return f"CAST({sql} AS STRING)"


def _timestamp_string(sql: str, precision: int) -> str:
    # Spark omits trailing zeros of the fraction; Flink prints all its digits.
    text = f"CAST({sql} AS STRING)"
    if precision == 0:
        return f"left({text}, 19)"
    dotted = f"regexp_replace({text}, '^([^.]+)$', '$1.')"
    return f"rpad({dotted}, {20 + precision}, '0')"


def _time_string(sql: str, precision: int) -> str:
    # At least one digit of the fraction, like Java's `Timestamp`, where Spark omits it.
    text = f"CAST({sql} AS STRING)"
    if precision == 0:
        return f"left({text}, 8)"
    return f"left(regexp_replace({text}, '^([^.]+)$', '$1.0'), {9 + precision})"


def _day_time_string(sql: str) -> str:
    # INTERVAL '-1 02:03:04.5' DAY TO SECOND becomes -1 02:03:04.500
    whole = f"CAST(CAST({sql} AS INTERVAL DAY TO SECOND) AS STRING)"
    signed = _signed(whole)
    dotted = f"regexp_replace({signed}, '^([^.]+)$', '$1.')"
    return f"regexp_replace(concat({dotted}, '000'), '([.][0-9]{{3}})[0-9]*$', '$1')"


def _year_month_string(sql: str) -> str:
    # INTERVAL '-1-2' YEAR TO MONTH becomes -1-02
    signed = _signed(f"CAST(CAST({sql} AS INTERVAL YEAR TO MONTH) AS STRING)")
    return f"regexp_replace({signed}, '-([0-9])$', '-0$1')"


def _signed(interval_string: str) -> str:
    inside = f"split_part({interval_string}, {literal(chr(39))}, 2)"
    return f"regexp_replace({inside}, '^([0-9])', '+$1')"


def _nested_string(sql: str, source: t.DataType) -> str:
    match source:
        case t.Array(element=element):
            item = variable(source)
            items = f"transform({sql}, {item} -> {to_string(item, element)})"
            return f"concat('[', array_join({items}, ', ', 'NULL'), ']')"
        case t.Map(key=key, value=value):
            return _map_string(sql, variable(source), key, value)
        case t.Multiset(element=element):
            return _map_string(sql, variable(source), element, t.Int())
    assert isinstance(source, t.Row)
    return bound(sql, lambda row: _row_string(row, source))


def _map_string(sql: str, entry: str, key: t.DataType, value: t.DataType) -> str:
    key_text = _or_null(to_string(f"{entry}.key", key))
    value_text = _or_null(to_string(f"{entry}.value", value))
    entries = f"transform(map_entries({sql}), {entry} -> concat({key_text}, '=', {value_text}))"
    return f"concat({literal('{')}, array_join({entries}, ', '), {literal('}')})"


def _row_string(row: str, type_: t.Row) -> str:
    names = safe_names([field.name for field in type_.fields])
    fields = (
        _or_null(to_string(f"{row}.{name(n)}", field.type))
        for n, field in zip(names, type_.fields, strict=True)
    )
    return f"if({row} IS NULL, NULL, concat('(', concat_ws(', ', {', '.join(fields)}), ')'))"


def _or_null(sql: str) -> str:
    return f"coalesce({sql}, 'NULL')"


def to_length(text: str, source: t.DataType, target: t.DataType) -> str:
    """A string truncated, and for CHAR padded with blanks, to the length of its new type."""
    if isinstance(target, t.Char):
        return f"rpad({text}, {target.length}, ' ')"
    assert isinstance(target, t.VarChar)
    fits = isinstance(source, t.CHARACTERS) and source.length <= target.length
    if fits or target.length == t.MAX_LENGTH:
        return text
    return f"left({text}, {target.length})"


# --- from strings ------------------------------------------------------------------------------

TRUE = ("t", "true", "y", "yes", "1")
FALSE = ("f", "false", "n", "no", "0")
DATE = r"^0{0,3}([0-9]{4}(-[0-9]{1,2}(-[0-9]{1,2}( .*)?)?)?)$"
INTEGER = r"\A *([+-]?[0-9]+)([.][0-9]*)? *\z"
# Without digits before the point, an integer is zero.
ZERO = r"\A *[+-]?[.][0-9]* *\z"
# What Spark reads as a floating-point number, and Java does not: `inf`, `nan`, `INFINITY`.
_NOT_IN_JAVA = r"\A[\x00-\x20]*[+-]?(?!NaN|Infinity)(?i:nan|inf|infinity)[\x00-\x20]*\z"
TIME = r"\A([0-9]{1,2})(?::([0-9]{1,2})(?::([0-9]{1,2})(?:[.]([0-9]*))?)?)?\z"


def from_string(sql: str, target: t.DataType, *, safe: bool) -> str:
    """The value of the string; if it is not valid, NULL or a failure of the job."""
    if safe:
        return _read(sql, target)
    kind = spark_type(target)
    return bound(
        sql,
        lambda text: (
            f"coalesce({_read(text, target)}, if({text} IS NULL, NULL, "
            f"CAST(raise_error(concat('cannot cast ', char(39), {text}, char(39), ' to "
            f"{target.text()}')) AS {kind})))"
        ),
    )


def _read(text: str, target: t.DataType) -> str:
    """The value, or NULL if the string is not valid."""
    match target:
        case t.Boolean():
            words = [f"'{w}', TRUE" for w in TRUE] + [f"'{w}', FALSE" for w in FALSE]
            return f"try_element_at(map({', '.join(words)}), lower({text}))"
        case t.TinyInt() | t.SmallInt() | t.Int() | t.BigInt():
            digits = f"regexp_extract({text}, {literal(INTEGER)}, 1)"
            zero = f"{text} RLIKE {literal(ZERO)}"
            return f"try_cast(if({zero}, '0', {digits}) AS {spark_type(target)})"
        case t.Timestamp() | t.TimestampLtz():
            return to_timestamp_precision(read_moment(text, spark_type(target)), t.STRING, target)
        case t.Time(precision=precision):
            return to_time_precision(_read_time(text), t.STRING, precision)
        case t.Date():
            # Flink allows years with fewer than four digits, Spark does not.
            date = f"regexp_extract(concat('000', trim({text})), {literal(DATE)}, 1)"
            return f"try_cast({date} AS DATE)"
        case t.Float() | t.Double():
            number = f"if({text} RLIKE {literal(_NOT_IN_JAVA)}, NULL, trim({text}))"
            return f"try_cast({number} AS {spark_type(target)})"
    return f"try_cast(trim({text}) AS {spark_type(target)})"


def _read_time(text: str) -> str:
    # Flink accepts the hour alone, Spark does not; Spark accepts `1:30 PM` and `T13:30` as well.
    time = f"regexp_extract(trim({text}), {literal(TIME)}, 0)"
    complete = f"regexp_replace({time}, '^([0-9]{{1,2}})$', '$1:00')"
    return f"try_cast({complete} AS TIME(6))"


# --- precision ---------------------------------------------------------------------------------


def to_time_precision(sql: str, source: t.DataType, precision: int) -> str:
    """Spark's TIME(6) without the digits beyond the precision."""
    if isinstance(source, t.Time | t.Timestamp | t.TimestampLtz):
        if source.precision <= precision:
            return sql
    elif precision >= MAX_TIME_PRECISION:
        return sql
    return cut_to(sql, precision)


def to_timestamp_precision(sql: str, source: t.DataType, target: t.DataType) -> str:
    """A timestamp without the digits beyond the target's precision."""
    assert isinstance(target, t.TIMESTAMPS)
    given = getattr(source, "precision", 0 if isinstance(source, t.Date) else MAX_TIME_PRECISION)
    if given <= target.precision:
        return sql
    unit = 10 ** (MAX_TIME_PRECISION - target.precision)
    cut = _cut_instant if isinstance(target, t.TimestampLtz) else _cut_clock
    return bound(sql, lambda moment: cut(moment, unit))


def _cut_instant(moment: str, unit: int) -> str:
    """Plain arithmetic: Spark's `timestampadd` would use the calendar for each row."""
    return f"timestamp_micros(unix_micros({moment}) - pmod(unix_micros({moment}), {unit}L))"


def _cut_clock(moment: str, unit: int) -> str:
    # Zone offsets are whole seconds, so the fraction is the same in any zone.
    excess = f"CAST(pmod(unix_micros(CAST({moment} AS TIMESTAMP)), {unit}) AS INT)"
    return f"IF({excess} = 0, {moment}, timestampadd(MICROSECOND, -{excess}, {moment}))"
