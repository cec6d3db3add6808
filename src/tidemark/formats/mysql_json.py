"""JSON in the binary form of MySQL's log, written as its server writes it: `{"a": [1, 2.5]}`.

A value has a byte for its type. Objects and arrays begin with how many members they have and how
many bytes; then come where the keys are, and of each member its type with its bytes, if those are
few, or where they are: counted from that beginning, in two bytes, or in four if they are large.
"""

from __future__ import annotations

import struct
from base64 import b64encode
from collections.abc import Callable, Iterator
from decimal import Decimal
from json.encoder import encode_basestring
from math import isinf, isnan
from typing import Final, NoReturn

from tidemark.formats.binlog import decimal_bytes

_SMALL_OBJECT, _LARGE_OBJECT, _SMALL_ARRAY, _LARGE_ARRAY, _LITERAL = range(5)
_LITERALS: Final = {0: "null", 1: "true", 2: "false"}
# How integers are stored.
_INTEGERS: Final = {5: "<h", 6: "<H", 7: "<i", 8: "<I", 9: "<q", 10: "<Q"}
_MOST_DEPTH: Final = 100  # as on the server
# A number is written without an exponent if its point is between these places of its digits.
_FIRST_POINT, _LAST_POINT = -14, 15


class BadJson(ValueError):
    """Bytes that no server writes."""


def written_json(data: bytes) -> str:
    """A value as the server writes it. Raises BadJson.

    >>> written_json(bytes([2, 2, 0, 10, 0, 5, 1, 0, 4, 2, 0]))
    '[1, false]'
    """
    if not data:  # of a column that has been made NOT NULL
        return "null"
    try:
        return _value(data[0], memoryview(data)[1:], 0)
    except (struct.error, LookupError, UnicodeDecodeError):
        _bad()


def _bad() -> NoReturn:
    raise BadJson("JSON in the log is damaged")


def _value(type_: int, data: memoryview, depth: int) -> str:
    if depth > _MOST_DEPTH:
        _bad()
    if type_ <= _LARGE_ARRAY:
        return _container(type_, data, depth)
    if type_ in _INTEGERS:
        return str(struct.unpack_from(_INTEGERS[type_], data)[0])
    return _SCALARS[type_](data)


# --- objects and arrays ------------------------------------------------------------------------


def _container(type_: int, data: memoryview, depth: int) -> str:
    large = type_ in (_LARGE_OBJECT, _LARGE_ARRAY)
    width = 4 if large else 2
    count, size = struct.unpack_from("<II" if large else "<HH", data)
    if size > len(data):
        _bad()
    data = data[:size]
    if type_ in (_SMALL_ARRAY, _LARGE_ARRAY):
        return f"[{', '.join(_members(data, 2 * width, count, width, depth))}]"
    keys = list(_keys(data, 2 * width, count, width))
    members = _members(data, 2 * width + count * (width + 2), count, width, depth)
    return "{" + ", ".join(map("{}: {}".format, keys, members)) + "}"


def _keys(data: memoryview, at: int, count: int, width: int) -> Iterator[str]:
    entry = struct.Struct("<IH" if width == 4 else "<HH")
    for number in range(count):
        start, size = entry.unpack_from(data, at + number * entry.size)
        if start + size > len(data):
            _bad()
        yield _quoted(data[start : start + size])


def _members(data: memoryview, at: int, count: int, width: int, depth: int) -> Iterator[str]:
    place = struct.Struct("<I" if width == 4 else "<H")
    first = at + count * (1 + width)
    for entry in range(at, first, 1 + width):
        type_ = data[entry]
        if _is_inlined(type_, width):
            yield _value(type_, data[entry + 1 : entry + 1 + width], depth + 1)
            continue
        (start,) = place.unpack_from(data, entry + 1)
        if start < first:
            _bad()
        yield _value(type_, data[start:], depth + 1)


def _is_inlined(type_: int, width: int) -> bool:
    """Whether a member is where its place would be: literals, and integers that are as small."""
    integer = _INTEGERS.get(type_)
    return type_ == _LITERAL or (integer is not None and struct.calcsize(integer) <= width)


def _sized(data: memoryview) -> memoryview:
    """Bytes after their number, of which each byte has seven bits, the lowest ones first."""
    size = 0
    for place, byte in enumerate(data[:5]):
        size |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            start = place + 1
            if start + size > len(data):
                _bad()
            return data[start : start + size]
    _bad()


# --- values ------------------------------------------------------------------------------------


def _literal(data: memoryview) -> str:
    return _LITERALS[data[0]]


def _string(data: memoryview) -> str:
    return _quoted(_sized(data))


def _quoted(data: memoryview) -> str:
    return encode_basestring(str(data, "utf-8"))


def _double(data: memoryview) -> str:
    return _written_double(struct.unpack_from("<d", data)[0])


def _written_double(value: float) -> str:
    """The fewest digits that are this number, with an exponent if it is very large or small.

    >>> [_written_double(value) for value in (10.0, 3.14, 1e15, 1.5e-5, -2e-20)]
    ['10.0', '3.14', '1e15', '0.000015', '-2e-20']
    """
    if isinf(value) or isnan(value):
        _bad()
    sign, places, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    digits = "".join(map(str, places))
    point = len(digits) + exponent
    minus = "-" if sign else ""
    if digits == "0":
        return f"{minus}0.0"
    if not _FIRST_POINT <= point <= _LAST_POINT:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{minus}{digits[0]}{fraction}e{point - 1}"
    if point <= 0:
        return f"{minus}0.{'0' * -point}{digits}"
    return f"{minus}{digits[:point].ljust(point, '0')}.{digits[point:] or '0'}"


def _opaque(data: memoryview) -> str:
    """A value of SQL that JSON does not have, after its type of a column."""
    type_, value = data[0], _sized(data[1:])
    if type_ in _OPAQUE:
        return _OPAQUE[type_](value)
    return f'"base64:type{type_}:{b64encode(value).decode()}"'


def _decimal(data: memoryview) -> str:
    precision, scale = data[0], data[1]
    content = data[2:]
    if len(content) != sum(decimal_bytes(precision - scale, scale)):
        _bad()
    negative = content[0] < 0x80
    plain = bytearray(255 - byte for byte in content) if negative else bytearray(content)
    plain[0] ^= 0x80
    digits = "".join(_digits(plain, precision - scale, scale))
    whole = digits[: precision - scale].lstrip("0") or "0"
    fraction = f".{digits[precision - scale :]}" if scale else ""
    return f"{'-' if negative else ''}{whole}{fraction}"


def _digits(data: bytearray, before: int, after: int) -> Iterator[str]:
    """Groups of nine digits in four bytes; fewer are before all others, and after them."""
    at = 0
    groups = [before % 9, *[9] * (before // 9), *[9] * (after // 9), after % 9]
    for count in filter(None, groups):
        size = sum(decimal_bytes(count, 0))
        yield str(int.from_bytes(data[at : at + size], "big")).zfill(count)
        at += size


def _datetime(data: memoryview) -> str:
    _, packed, micros = _time_parts(data)
    return f'"{_day(packed >> 17)} {_clock(packed & 0x1FFFF, micros)}"'


def _date(data: memoryview) -> str:
    _, packed, _ = _time_parts(data)
    return f'"{_day(packed >> 17)}"'


def _time(data: memoryview) -> str:
    minus, packed, micros = _time_parts(data)
    return f'"{minus}{_clock(packed, micros)}"'


def _time_parts(data: memoryview) -> tuple[str, int, int]:
    """The sign of a time, what is packed of its date and clock, and its microseconds."""
    (value,) = struct.unpack("<q", data)
    return "-" if value < 0 else "", abs(value) >> 24, abs(value) & 0xFFFFFF


def _day(date: int) -> str:
    months = date >> 5
    return f"{months // 13:04}-{months % 13:02}-{date & 31:02}"


def _clock(packed: int, micros: int) -> str:
    return f"{packed >> 12:02}:{packed >> 6 & 63:02}:{packed & 63:02}.{micros:06}"


_SCALARS: Final[dict[int, Callable[[memoryview], str]]] = {
    _LITERAL: _literal,
    11: _double,
    12: _string,
    15: _opaque,
}
# By the type of a column.
_OPAQUE: Final[dict[int, Callable[[memoryview], str]]] = {
    7: _datetime,  # TIMESTAMP
    10: _date,
    11: _time,
    12: _datetime,
    246: _decimal,
}
