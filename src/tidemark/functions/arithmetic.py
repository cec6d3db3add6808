"""`+ - * / %` and unary minus over numbers, times and intervals."""

from __future__ import annotations

from tidemark import types as t
from tidemark.functions import moments
from tidemark.functions.registry import Argument, Function, SignatureMismatch, SparkCall, scalar
from tidemark.functions.times_of_day import time_of

# A decimal that exceeds 38 digits loses digits after the point, but keeps this many.
_KEPT_SCALE = 6

_DATETIMES = (t.Date, t.Time, *t.TIMESTAMPS)


# --- numbers -----------------------------------------------------------------------------------


def _numbers(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    """Both operands converted to the types that Flink computes with; Spark's own rules then give
    the same result.
    """
    left, right = _known_types(arguments)
    if isinstance(left, t.Float | t.Double) or isinstance(right, t.Float | t.Double):
        both = _approximate(left, right)
        return both.with_nullable(left.nullable), both.with_nullable(right.nullable)
    if isinstance(left, t.Decimal) or isinstance(right, t.Decimal):
        return t.as_decimal(left), t.as_decimal(right)
    wider = max(left, right, key=lambda type_: t.INTEGERS.index(type(type_)))
    return wider.with_nullable(left.nullable), wider.with_nullable(right.nullable)


def _known_types(arguments: tuple[Argument, ...]) -> tuple[t.DataType, t.DataType]:
    """An untyped NULL takes the type of the other operand."""
    left, right = (argument.type for argument in arguments)
    if isinstance(left, t.Null):
        left = t.Int() if isinstance(right, t.Null) else right.with_nullable(True)
    return left, left.with_nullable(True) if isinstance(right, t.Null) else right


def _approximate(left: t.DataType, right: t.DataType) -> t.DataType:
    # FLOAT + DOUBLE is a FLOAT and DOUBLE + FLOAT a DOUBLE: in Flink the first operand decides.
    if isinstance(left, t.Decimal) or isinstance(right, t.Decimal):
        return t.Double()
    return left if isinstance(left, t.Float | t.Double) else right


def _decimal(precision: int, scale: int) -> t.Decimal:
    if precision > t.MAX_DECIMAL_PRECISION:
        whole = precision - scale
        least = min(scale, _KEPT_SCALE)
        precision, scale = t.MAX_DECIMAL_PRECISION, max(t.MAX_DECIMAL_PRECISION - whole, least)
    return t.Decimal(precision, scale)


def _sum_of_decimals(x: t.Decimal, y: t.Decimal) -> t.Decimal:
    scale = max(x.scale, y.scale)
    return _decimal(max(x.precision - x.scale, y.precision - y.scale) + scale + 1, scale)


def _product_of_decimals(x: t.Decimal, y: t.Decimal) -> t.Decimal:
    return _decimal(x.precision + y.precision + 1, x.scale + y.scale)


def _quotient_of_decimals(x: t.Decimal, y: t.Decimal) -> t.Decimal:
    scale = max(_KEPT_SCALE, x.scale + y.precision + 1)
    return _decimal(x.precision - x.scale + y.scale + scale, scale)


def _remainder_of_decimals(x: t.Decimal, y: t.Decimal) -> t.Decimal:
    scale = max(x.scale, y.scale)
    return _decimal(min(x.precision - x.scale, y.precision - y.scale) + scale, scale)


_DECIMAL_RESULTS = {
    "+": _sum_of_decimals,
    "-": _sum_of_decimals,
    "*": _product_of_decimals,
    "/": _quotient_of_decimals,
    "%": _remainder_of_decimals,
}


def _numeric_result(operator: str, arguments: tuple[Argument, ...]) -> t.DataType:
    left, right = (argument.type for argument in arguments)
    if isinstance(left, t.Decimal) and isinstance(right, t.Decimal):
        return _DECIMAL_RESULTS[operator](left, right)
    return left


# --- which operands go together ----------------------------------------------------------------


def _add_operands(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    left, right = (argument.type for argument in arguments)
    if _is_number(left) and _is_number(right):
        return _numbers(arguments)
    if isinstance(right, _DATETIMES):
        left, right = right, left
    if isinstance(right, t.INTERVALS) and _takes_interval(left, right):
        return tuple(argument.type for argument in arguments)
    raise _unfit("+", arguments)


def _subtract_operands(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    left, right = (argument.type for argument in arguments)
    if _is_number(left) and _is_number(right):
        return _numbers(arguments)
    if isinstance(right, t.INTERVALS) and _takes_interval(left, right):
        return left, right
    if isinstance(left, _DATETIMES) and isinstance(right, _DATETIMES):
        raise SignatureMismatch(
            "two times need the unit of their difference: (a - b) SECOND, or TIMESTAMPDIFF"
        )
    raise _unfit("-", arguments)


def _multiply_operands(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    left, right = (argument.type for argument in arguments)
    if _is_number(left) and _is_number(right):
        return _numbers(arguments)
    whole = (*t.INTEGERS, t.Null)
    if isinstance(left, t.INTERVALS) and isinstance(right, whole):
        return left, right
    if isinstance(right, t.INTERVALS) and isinstance(left, whole):
        return left, right
    raise _unfit("*", arguments)


def _is_number(type_: t.DataType) -> bool:
    return isinstance(type_, (*t.NUMERICS, t.Null))


def _takes_interval(type_: t.DataType, interval: t.DataType) -> bool:
    if isinstance(type_, t.INTERVALS):
        return type(type_) is type(interval)
    return isinstance(type_, _DATETIMES)


def _unfit(operator: str, arguments: tuple[Argument, ...]) -> SignatureMismatch:
    left, right = (argument.type.text() for argument in arguments)
    return SignatureMismatch(f"{left} {operator} {right} is not defined")


def _sum_result(operator: str, arguments: tuple[Argument, ...]) -> t.DataType:
    left, right = (argument.type for argument in arguments)
    for type_ in (left, right):
        if isinstance(type_, _DATETIMES):
            return type_
    if isinstance(left, t.INTERVALS):
        return _whole_interval(left)
    return _numeric_result(operator, arguments)


def _product_result(arguments: tuple[Argument, ...]) -> t.DataType:
    for argument in arguments:
        if isinstance(argument.type, t.INTERVALS):
            return _whole_interval(argument.type)
    return _numeric_result("*", arguments)


def _whole_interval(type_: t.DataType) -> t.DataType:
    return type(type_)()


# --- Spark SQL ---------------------------------------------------------------------------------


def _write_sum(sign: str, call: SparkCall) -> str:
    left, right = call.args
    kinds = call.type(0), call.type(1)
    if isinstance(kinds[1], _DATETIMES):
        left, right, kinds = right, left, (kinds[1], kinds[0])
    match kinds:
        case (t.Date(), t.DayTimeInterval()):
            # Only whole days move a date: a day minus an hour is the same day.
            return f"({left} {sign} CAST({right} AS INTERVAL DAY))"
        case (t.Time(), _):
            return _write_clock_sum(sign, left, right)
        case (t.TimestampLtz(), _) if not moments.never_shifts(call.zone):
            # A day is 24 hours and a month is a month of the UTC calendar, whatever the time zone.
            return moments.instant_of_utc_clock(f"({moments.utc_clock(left)} {sign} {right})")
    return f"({left} {sign} {right})"


def _write_clock_sum(sign: str, time: str, interval: str) -> str:
    # A time of day wraps around at midnight, where Spark's TIME would fail. Months do not move it.
    return time_of(f"(make_timestamp_ntz(DATE'1970-01-01', {time}) {sign} {interval})")


def _write_quotient(call: SparkCall) -> str:
    left, right = call.args
    if isinstance(call.result, t.Float | t.Double):
        return _write_approximate_quotient(call)
    if isinstance(call.result, t.Decimal):
        return _unless_zero(call, f"{left} / {right}")
    name = call.result.text()
    return f"CAST({_unless_zero(call, f'{left} div {right}')} AS {name})"


def _write_approximate_quotient(call: SparkCall) -> str:
    left, right = call.args
    quotient = f"{left} / {right}"
    if not call.literal(1, 0):
        # IEEE division: 1 / 0 is Infinity and 0 / 0 is NaN; Spark returns NULL or fails.
        quotient = f"if({right} = 0, {left} * power({right}, -1D), {quotient})"
    return f"CAST({quotient} AS {call.result.text()})"


def _write_remainder(call: SparkCall) -> str:
    left, right = call.args
    remainder = _unless_zero(call, f"{left} % {right}")
    if isinstance(call.result, t.Decimal):
        return remainder
    return f"CAST({remainder} AS {call.result.text()})"


def _unless_zero(call: SparkCall, text: str) -> str:
    if call.literal(1, 0):
        return f"({text})"
    left, right = call.args
    # NULL divided by zero is NULL.
    known = f"{left} IS NOT NULL AND " if call.arguments[0].type.nullable else ""
    return f"if({known}{right} = 0, raise_error('Division by zero'), {text})"


# `BIGINT % INT` is an INT: the remainder has the type of the divisor.
def _remainder_operands(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    left, right = _known_types(arguments)
    if isinstance(left, t.Decimal) or isinstance(right, t.Decimal):
        return t.as_decimal(left), t.as_decimal(right)
    return left, right


def _remainder_result(arguments: tuple[Argument, ...]) -> t.DataType:
    if isinstance(arguments[0].type, t.Decimal):
        return _numeric_result("%", arguments)
    return arguments[1].type


def _negated(arguments: tuple[Argument, ...]) -> t.DataType:
    type_ = arguments[0].type
    return _whole_interval(type_) if isinstance(type_, t.INTERVALS) else type_


FUNCTIONS: tuple[Function, ...] = (
    scalar(
        "+",
        "(any, any)",
        lambda arguments: _sum_result("+", arguments),
        lambda call: _write_sum("+", call),
        converts=_add_operands,
        category="arithmetic",
        summary="The sum of two numbers or intervals, or a time plus an interval.",
    ),
    scalar(
        "-",
        "(any, any)",
        lambda arguments: _sum_result("-", arguments),
        lambda call: _write_sum("-", call),
        converts=_subtract_operands,
        category="arithmetic",
        summary="The difference of two numbers or intervals, or a time minus an interval.",
    ),
    scalar(
        "*",
        "(any, any)",
        _product_result,
        "({0} * {1})",
        converts=_multiply_operands,
        category="arithmetic",
        summary="The product of two numbers, or of an interval and a number.",
    ),
    scalar(
        "/",
        "(numeric, numeric)",
        lambda arguments: _numeric_result("/", arguments),
        _write_quotient,
        converts=_numbers,
        category="arithmetic",
        summary="The quotient; integers truncate toward zero, and division by zero fails the job.",
    ),
    scalar(
        "%",
        "(exact, exact)",
        _remainder_result,
        _write_remainder,
        converts=_remainder_operands,
        aliases=("MOD",),
        category="arithmetic",
        summary="The remainder, with the sign of the first operand.",
    ),
    scalar(
        "NEG",
        ("(numeric)", "(interval)"),
        _negated,
        "(- {0})",
        category="arithmetic",
        summary="The number or interval negated.",
    ),
)
