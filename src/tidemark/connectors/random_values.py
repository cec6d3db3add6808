"""Random values as Spark SQL: each is a function of a seed, the column's path and the row's number.

A row that is computed again, after a restart or in another task, has the same values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from tidemark import types as t
from tidemark.functions import spark_text
from tidemark.functions.spark_text import spark_type, string

ROW = "_tm_row"  # the number of the row, from 0
NOW = "_tm_now"  # the time at which it was generated

DEFAULT_LENGTH = 100
DEFAULT_COUNT = 3
MAX_COPIES = 10

_INTEGER_BITS = {t.TinyInt: 8, t.SmallInt: 16, t.Int: 32, t.BigInt: 64}
_LARGEST = {t.Float: 3.4028234663852886e38, t.Double: 1.7976931348623157e308}
# Wider ranges would overflow BIGINT arithmetic.
_NARROW = 2**62
_HEX_OF_SHA512 = 128


@dataclass(frozen=True, slots=True)
class ValuePath:
    """The identity of a value: `fields.<path>` and, inside collections, the element's number."""

    path: str
    seed: str
    elements: tuple[str, ...] = ()

    def __truediv__(self, name: str) -> ValuePath:
        return replace(self, path=f"{self.path}.{name}")

    def element(self, name: str, variable: str) -> ValuePath:
        return ValuePath(f"{self.path}.{name}", self.seed, (*self.elements, variable))

    def words(self, salt: str = "") -> list[str]:
        """Everything that distinguishes this value from others, in Spark SQL."""
        return [ROW, string(f"{self.seed} {self.path}{salt}"), *self.elements]

    def hash(self, salt: str = "") -> str:
        return f"xxhash64({', '.join(self.words(salt))})"

    def fraction(self, salt: str = "") -> str:
        """A number from 0 to 1, exclusive."""
        return f"(shiftrightunsigned({self.hash(salt)}, 11) / {float(2**53)!r}D)"


def random_value(type_: t.DataType, place: ValuePath, options: Mapping[str, Any], zone: str) -> str:
    """Spark SQL for a random value of the type; `options` contains `fields.<path>.<what>`."""
    value = _value(type_, place, options, zone)
    rate = options.get(f"{place.path}.null-rate")
    if not rate:
        return value
    return f"CASE WHEN {place.fraction('?')} >= {float(rate)!r}D THEN {value} END"


def _value(type_: t.DataType, place: ValuePath, options: Mapping[str, Any], zone: str) -> str:
    match type_:
        case t.Boolean():
            return f"({place.hash()} & 1 = 1)"
        case t.TinyInt() | t.SmallInt() | t.Int() | t.BigInt():
            return _integer(type_, place, options)
        case t.Float() | t.Double() | t.Decimal():
            return _real(type_, place, options)
        case t.Char() | t.VarChar():
            return _string(place, options, _length(type_, place, options))
        case t.Binary() | t.VarBinary():
            return f"unhex({_string(place, options, _length(type_, place, options), digits=2)})"
        case t.Date() | t.Time() | t.Timestamp() | t.TimestampLtz():
            return _time(type_, place, options, zone)
        case t.DayTimeInterval():
            return f"make_dt_interval(0, 0, 0, pmod({place.hash()}, 1000000000) / 1000BD)"
        case t.YearMonthInterval():
            return f"make_ym_interval(0, CAST(pmod({place.hash()}, 120000) AS INT))"
        case _:
            return _nested(type_, place, options, zone)


def _integer(type_: t.DataType, place: ValuePath, options: Mapping[str, Any]) -> str:
    low, high = bounds(type_, place.path, options)
    size = int(high) - int(low) + 1
    target = spark_type(type_)
    if size == 2**64:
        return place.hash()
    if size <= _NARROW:
        return f"CAST(pmod({place.hash()}, {size}L) + {int(low)} AS {target})"
    wide = f"pmod(CAST({place.hash()} AS DECIMAL(38, 0)), {size}BD)"
    return f"CAST({wide} + {int(low)}BD AS {target})"


def bounds(type_: t.DataType, path: str, options: Mapping[str, Any]) -> tuple[Any, Any]:
    """The minimum and the maximum value of a column."""
    low, high = _widest(type_)
    given_low, given_high = options.get(f"{path}.min"), options.get(f"{path}.max")
    return (
        low if given_low is None else Decimal(given_low),
        high if given_high is None else Decimal(given_high),
    )


def _widest(type_: t.DataType) -> tuple[Any, Any]:
    if isinstance(type_, t.Decimal):
        return Decimal(0), Decimal(10) ** (type_.precision - type_.scale) - 1
    if isinstance(type_, t.Float | t.Double):
        return Decimal(0), Decimal(_LARGEST[type(type_)])
    half = 2 ** (_INTEGER_BITS[type(type_)] - 1)
    return -half, half - 1


def _real(type_: t.DataType, place: ValuePath, options: Mapping[str, Any]) -> str:
    low, high = bounds(type_, place.path, options)
    spread = float(high) - float(low)
    value = f"{float(low)!r}D + {place.fraction()} * {spread!r}D"
    return f"CAST({value} AS {spark_type(type_)})"


def _length(type_: t.DataType, place: ValuePath, options: Mapping[str, Any]) -> int:
    declared: int = getattr(type_, "length", t.MAX_LENGTH)
    usual = DEFAULT_LENGTH if declared == t.MAX_LENGTH else declared
    given = options.get(f"{place.path}.length")
    return usual if given is None else int(given)


def _string(place: ValuePath, options: Mapping[str, Any], length: int, digits: int = 1) -> str:
    """Hexadecimal digits, `digits` for each unit of the length."""
    blocks = -(-length * digits // _HEX_OF_SHA512)

    def block(*more: str) -> str:
        return f"sha2(concat_ws('/', {', '.join([*place.words(), *more])}), 512)"

    text = block()
    if blocks > 1:
        text = f"array_join(transform(sequence(1, {blocks}), _b -> {block('_b')}), '')"
    count = f"{length * digits}"
    if options.get(f"{place.path}.var-len"):
        count = f"CAST(pmod({place.hash('#')}, {max(length, 1)}) + 1 AS INT) * {digits}"
    return f"substring({text}, 1, {count})"


def _time(type_: t.DataType, place: ValuePath, options: Mapping[str, Any], zone: str) -> str:
    past = int(options.get(f"{place.path}.max-past") or 0)
    ago = f" - CAST({place.fraction()} * {past} AS BIGINT)" if past else ""
    instant = f"timestamp_millis(unix_millis({NOW}){ago})"
    if isinstance(type_, t.TimestampLtz):
        return instant
    utc = f"timestampadd(MICROSECOND, unix_micros({instant}), TIMESTAMP_NTZ '1970-01-01 00:00:00')"
    wall = f"convert_timezone('UTC', {string(zone)}, {utc})"
    if isinstance(type_, t.Time):
        return f"CAST(date_format({wall}, 'HH:mm:ss.SSS') AS {spark_type(type_)})"
    return f"CAST({wall} AS {spark_type(type_)})"


def _nested(type_: t.DataType, place: ValuePath, options: Mapping[str, Any], zone: str) -> str:
    count = int(options.get(f"{place.path}.length", DEFAULT_COUNT))
    numbers = f"sequence(1, {count})" if count else "CAST(array() AS ARRAY<INT>)"
    x = f"_x{len(place.elements)}"

    def many(element: t.DataType, name: str) -> str:
        inside = random_value(element, place.element(name, x), options, zone)
        return f"transform({numbers}, {x} -> {inside})"

    match type_:
        case t.Array(element=element):
            return many(element, "element")
        case t.Map(key=key, value=value):
            return _map(many(key, "key"), many(value, "value"))
        case t.Multiset(element=element):
            copies = f"CAST(pmod({place.element('copies', x).hash()}, {MAX_COPIES}) + 1 AS INT)"
            return _map(many(element, "element"), f"transform({numbers}, {x} -> {copies})")
        case t.Row(fields=fields):
            names = spark_text.safe_names([field.name for field in fields])
            pairs = ", ".join(
                f"'{name}', {random_value(field.type, place / field.name, options, zone)}"
                for name, field in zip(names, fields, strict=True)
            )
            return f"named_struct({pairs})"
    raise ValueError(f"datagen does not support {type_}")


def _map(keys: str, values: str) -> str:
    """With few possible keys some may be repeated, which a map must not have; nor a NULL one."""
    distinct = f"filter(array_distinct({keys}), _k -> _k IS NOT NULL)"
    return (
        f"transform(array({distinct}), "
        f"_keys -> map_from_arrays(_keys, slice({values}, 1, size(_keys))))[0]"
    )
