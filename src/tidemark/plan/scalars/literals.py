"""Literals of SQL as typed values."""

from __future__ import annotations

import datetime as dt
import math
import re
from decimal import Decimal as Number

from sqlglot import exp

from tidemark import types as t
from tidemark.dialect import nodes, span_of
from tidemark.errors import PlanError
from tidemark.plan.expressions import Literal

_INT = range(-(2**31), 2**31)
_BIGINT = range(-(2**63), 2**63)
_TIMESTAMP = re.compile(
    r"(\d{1,4})-(\d{1,2})-(\d{1,2})(?: (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?)?"
)
_DATE = re.compile(r"(\d{1,4})-(\d{1,2})-(\d{1,2})")
_TIME = re.compile(r"(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?")


def null(type_: t.DataType | None = None) -> Literal:
    return Literal(None, (type_ or t.Null()).with_nullable(True))


def text(value: str) -> Literal:
    return Literal(value, t.Char(len(value), nullable=False))


def boolean(value: bool) -> Literal:
    return Literal(value, t.Boolean(nullable=False))


def integer(value: int) -> Literal:
    return Literal(value, t.Int(nullable=False))


def symbol(value: str) -> Literal:
    return Literal(value, t.KeywordType(nullable=False))


def number(node: exp.Literal, negative: bool = False) -> Literal:
    """A number has the narrowest type of INT, BIGINT, DECIMAL; with an exponent it is a DOUBLE.

    A DECIMAL has the precision it is written with, including zeros: `0.50` is DECIMAL(3, 2).
    """
    sign = "-" if negative else ""
    digits = node.this.removesuffix(".")
    if "e" in digits.lower():
        return _double(float(sign + digits), node)
    exact = Number(sign + digits)
    if "." not in digits:
        for type_, range_ in ((t.Int, _INT), (t.BigInt, _BIGINT)):
            if int(exact) in range_:
                return Literal(int(exact), type_(nullable=False))
        digits = digits.lstrip("0")
    precision, scale = len(digits.replace(".", "")), len(digits.partition(".")[2])
    if precision > t.MAX_DECIMAL_PRECISION:
        raise PlanError(
            f"a number literal cannot have more than {t.MAX_DECIMAL_PRECISION} digits",
            at=span_of(node),
            hint=f"write it with an exponent, {float(digits):e}, to get a DOUBLE",
        )
    return Literal(exact, t.Decimal(precision, scale, nullable=False))


def _double(value: float, node: exp.Literal) -> Literal:
    if math.isinf(value):
        raise PlanError(f"{node.this} is too large for a DOUBLE", at=span_of(node))
    return Literal(value, t.Double(nullable=False))


def hexadecimal(node: exp.HexString) -> Literal:
    try:
        value = bytes.fromhex(node.this)
    except ValueError:
        raise PlanError(
            "a binary literal must have pairs of hexadecimal digits", at=span_of(node)
        ) from None
    return Literal(value, t.Binary(len(value), nullable=False))


def temporal(node: nodes.TypedLiteral) -> Literal:
    """DATE, TIME, TIMESTAMP and TIMESTAMP_LTZ '...', with the precision they are written with."""
    kind = node.args["kind"]
    readers = {"DATE": _date, "TIME": _time, "TIMESTAMP": _timestamp}
    if kind not in readers:
        raise PlanError(
            f"{kind} literals are not supported",
            at=span_of(node),
            hint="use TO_TIMESTAMP_LTZ or a CAST",
        )
    try:
        return readers[kind](node.this)
    except ValueError as problem:
        raise PlanError(
            f"'{node.this}' is not a {kind}: {problem}",
            at=span_of(node),
            hint=f"write {_EXAMPLES[kind]}",
        ) from None


_EXAMPLES = {
    "DATE": "DATE '2024-01-31'",
    "TIME": "TIME '12:30:00'",
    "TIMESTAMP": "TIMESTAMP '2024-01-31 12:30:00.123'",
}


def _groups(pattern: re.Pattern[str], value: str) -> tuple[str | None, ...]:
    match = pattern.fullmatch(value.strip())
    if match is None:
        raise ValueError("invalid format")
    return match.groups()


def _micros(fraction: str | None) -> int:
    digits = fraction or ""
    if digits[6:].strip("0"):
        raise ValueError("times have at most six fractional digits")
    return int(digits[:6].ljust(6, "0"))


def _date(value: str) -> Literal:
    year, month, day = (int(part or 0) for part in _groups(_DATE, value))
    return Literal(dt.date(year, month, day), t.Date(nullable=False))


def _time(value: str) -> Literal:
    *clock, fraction = _groups(_TIME, value)
    hour, minute, second = (int(part or 0) for part in clock)
    type_ = t.Time(len(fraction or ""), nullable=False)
    return Literal(dt.time(hour, minute, second, _micros(fraction)), type_)


def _timestamp(value: str) -> Literal:
    *parts, fraction = _groups(_TIMESTAMP, value)
    year, month, day, hour, minute, second = (int(part or 0) for part in parts)
    moment = dt.datetime(year, month, day, hour, minute, second, _micros(fraction))
    return Literal(moment, t.Timestamp(len(fraction or ""), nullable=False))


# --- intervals ---------------------------------------------------------------------------------

_UNITS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
_MONTHS = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
_MILLISECONDS = {
    "WEEK": 7 * 86_400_000,
    "DAY": 86_400_000,
    "HOUR": 3_600_000,
    "MINUTE": 60_000,
    "SECOND": 1000,
    "MILLISECOND": 1,
}
_SEPARATORS = {"MONTH": "-", "HOUR": " ", "MINUTE": ":", "SECOND": ":"}


def interval(node: nodes.IntervalLiteral) -> Literal:
    """A number of months, or of milliseconds, depending on the units."""
    first, last = node.args["first"], node.args.get("last") or node.args["first"]
    written = node.this.strip()
    sign = -1 if bool(node.args.get("negative")) != written.startswith("-") else 1
    try:
        units = _units(first, last)
        parts = _parts(written.lstrip("+-"), units)
        total = sum(map(_amount, parts, units))
    except ValueError as problem:
        units_text = first + (f" TO {last}" if last != first else "")
        raise PlanError(
            f"'{node.this}' is not an interval of {units_text}: {problem}",
            at=span_of(node),
            hint="write INTERVAL '5' SECOND or INTERVAL '1:30' MINUTE TO SECOND",
        ) from None
    type_: t.DataType
    if first in _MONTHS:
        type_ = t.YearMonthInterval(first, last, nullable=False)
    else:
        type_ = t.DayTimeInterval(first, last, nullable=False)
    return Literal(sign * total, type_)


def _units(first: str, last: str) -> tuple[str, ...]:
    if first == last:
        return (first,)
    start, end = _UNITS.index(first), _UNITS.index(last)
    if start > end or (first in _MONTHS) != (last in _MONTHS):
        raise ValueError(f"{first} TO {last} is not a valid range")
    return _UNITS[start : end + 1]


def _parts(digits: str, units: tuple[str, ...]) -> list[str]:
    """The number for each unit; only the first may exceed one of the next larger unit."""
    pattern = r"(\d{1,9})"
    for unit in units[1:]:
        pattern += re.escape(_SEPARATORS[unit]) + r"(\d{1,2})"
    if units[-1] == "SECOND":
        pattern = pattern[:-1] + r"(?:\.\d{1,9})?)"
    match = re.fullmatch(pattern, digits)
    if match is None:
        raise ValueError("invalid format")
    parts = list(match.groups())
    for part, unit in zip(parts[1:], units[1:], strict=True):
        if Number(part) >= _FULL[unit]:
            raise ValueError(f"{unit} must be at most {_FULL[unit] - 1}")
    return parts


_FULL = {"MONTH": 12, "HOUR": 24, "MINUTE": 60, "SECOND": 60}


def _amount(digits: str, unit: str) -> int:
    if unit in _MONTHS:
        return int(digits) * _MONTHS[unit]
    return int(Number(digits) * _MILLISECONDS[unit])
