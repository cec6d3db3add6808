"""Durations and memory sizes in the notation of Flink's options."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

_NANOSECONDS: dict[str, int] = {
    name: factor
    for names, factor in (
        ("d day days", 86_400_000_000_000),
        ("h hour hours", 3_600_000_000_000),
        ("m min minute minutes", 60_000_000_000),
        ("s sec secs second seconds", 1_000_000_000),
        ("ms milli millis millisecond milliseconds", 1_000_000),
        ("us µs micro micros microsecond microseconds", 1_000),
        ("ns nano nanos nanosecond nanoseconds", 1),
    )
    for name in names.split()
}

_BYTES: dict[str, int] = {
    name: 1024**power
    for power, names in enumerate(
        (
            "b bytes",
            "k kb kibibytes",
            "m mb mebibytes",
            "g gb gibibytes",
            "t tb tebibytes",
        )
    )
    for name in names.split()
}

_AMOUNT = re.compile(r"(\d+)\s*([^\d\s]*)\Z")
_ISO = re.compile(
    r"P(?:(?P<d>\d+)D)?(?:T(?=\d)(?:(?P<h>\d+)H)?(?:(?P<m>\d+)M)?(?:(?P<s>\d+(?:\.\d{1,9})?)S)?)?\Z"
)


def parse_duration(text: str) -> int:
    """The milliseconds in `5 s`, `500ms`, `1 min`, `PT1M` or a plain number of milliseconds.

    Raises ValueError with a message for users.

    >>> parse_duration("5 s"), parse_duration("PT1.5S"), parse_duration("100")
    (5000, 1500, 100)
    """
    trimmed = text.strip()
    if trimmed[:1].upper() == "P":
        return _parse_iso(trimmed)
    amount, unit = _split(trimmed, _NANOSECONDS, "a duration such as '5 s', '500 ms' or '1 min'")
    return amount * _NANOSECONDS[unit or "ms"] // 1_000_000


def parse_memory(text: str) -> int:
    """The bytes in `64 mb`, `1 kb` or a plain number of bytes. Raises ValueError.

    >>> parse_memory("128MB") == 128 * 1024 * 1024
    True
    """
    amount, unit = _split(text.strip(), _BYTES, "a size such as '64 mb' or '1 gb'")
    return amount * _BYTES[unit or "b"]


def _split(text: str, units: Mapping[str, int], expected: str) -> tuple[int, str]:
    match = _AMOUNT.match(text)
    if match is None:
        raise ValueError(f"expected {expected}")
    amount, unit = int(match[1]), match[2].lower()
    if unit and unit not in units:
        raise ValueError(f"unknown unit '{match[2]}', expected {expected}")
    return amount, unit


def _parse_iso(text: str) -> int:
    match = _ISO.match(text.upper())
    if match is None or not any(match.groups()):
        raise ValueError("expected an ISO-8601 duration such as 'PT5S' or 'P1D'")
    parts = match.groupdict()
    total = sum(Decimal(value) * _NANOSECONDS[unit] for unit, value in parts.items() if value)
    return int(total) // 1_000_000
