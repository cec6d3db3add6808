"""How large generated values are: bounds of numbers, lengths, and the bytes of a row."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from tidemark import types as t

DEFAULT_LENGTH = 100
DEFAULT_COUNT = 3

_INTEGER_BITS = {t.TinyInt: 8, t.SmallInt: 16, t.Int: 32, t.BigInt: 64}
_LARGEST = {t.Float: 3.4028234663852886e38, t.Double: 1.7976931348623157e308}
# Of a value of fixed size; decimals have as many.
_BYTES = 16


def bounds(type_: t.DataType, path: str, options: Mapping[str, Any]) -> tuple[Decimal, Decimal]:
    """The minimum and the maximum value of a column."""
    low, high = _usual_bounds(type_)
    given_low, given_high = options.get(f"{path}.min"), options.get(f"{path}.max")
    return (
        low if given_low is None else Decimal(given_low),
        high if given_high is None else Decimal(given_high),
    )


def _usual_bounds(type_: t.DataType) -> tuple[Decimal, Decimal]:
    """Those of a column without options: reals are not negative."""
    least, largest = _extremes(type_)
    return (least if isinstance(type_, t.INTEGERS) else Decimal(0)), largest


def fits(number: Decimal, type_: t.DataType) -> bool:
    """Whether a column can have the number; strings have those of BIGINT."""
    least, largest = _extremes(t.BigInt() if isinstance(type_, t.CHARACTERS) else type_)
    return least <= number <= largest


def _extremes(type_: t.DataType) -> tuple[Decimal, Decimal]:
    """The least and the largest number of a type."""
    if isinstance(type_, t.Decimal):
        largest = Decimal(10 ** (type_.precision - type_.scale) - 1)
        return -largest, largest
    if isinstance(type_, t.Float | t.Double):
        largest = Decimal(_LARGEST[type(type_)])
        return -largest, largest
    half = 2 ** (_INTEGER_BITS[type(type_)] - 1)
    return Decimal(-half), Decimal(half - 1)


def length_of(type_: t.DataType, path: str, options: Mapping[str, Any]) -> int:
    """The length of a string, or the greatest one."""
    declared: int = getattr(type_, "length", t.MAX_LENGTH)
    usual = DEFAULT_LENGTH if declared == t.MAX_LENGTH else declared
    return int(options.get(f"{path}.length", usual))


def count_of(path: str, options: Mapping[str, Any]) -> int:
    """The number of elements of a collection."""
    return int(options.get(f"{path}.length", DEFAULT_COUNT))


def bytes_of(type_: t.DataType, path: str, options: Mapping[str, Any]) -> int:
    """About how many bytes a value has."""
    match type_:
        case t.Char() | t.VarChar() | t.Binary() | t.VarBinary():
            return _BYTES + length_of(type_, path, options)
        case t.Array(element=element) | t.Multiset(element=element):
            each = bytes_of(element, f"{path}.element", options)
            return _BYTES + count_of(path, options) * each
        case t.Map(key=key, value=value):
            entry = bytes_of(key, f"{path}.key", options) + bytes_of(
                value, f"{path}.value", options
            )
            return _BYTES + count_of(path, options) * entry
        case t.Row(fields=fields):
            return sum(bytes_of(field.type, f"{path}.{field.name}", options) for field in fields)
    return _BYTES
