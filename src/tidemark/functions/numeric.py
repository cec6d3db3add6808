"""Numeric functions."""

from __future__ import annotations

from typing import Final

from tidemark import types as t
from tidemark.functions.registry import Argument, Function, SignatureMismatch, SparkCall, scalar
from tidemark.functions.spark_text import bound, string

_NAN = "CAST('NaN' AS DOUBLE)"
_INFINITY = "CAST('Infinity' AS DOUBLE)"
_MINUS_INFINITY = "CAST('-Infinity' AS DOUBLE)"
# From here on, a DOUBLE has no digits after the point.
_WHOLE_DOUBLES = f"{2**53}D"
_MOST_DIGITS = 19


def _own_type(arguments: tuple[Argument, ...]) -> t.DataType:
    return arguments[0].type


# --- rounding ----------------------------------------------------------------------------------


def _digits(arguments: tuple[Argument, ...]) -> int:
    if len(arguments) < 2:
        return 0
    value = arguments[1].value
    if not isinstance(value, int):
        raise SignatureMismatch("the number of digits must be a literal")
    return value


def _rounded(arguments: tuple[Argument, ...]) -> t.DataType:
    type_, digits = arguments[0].type, _digits(arguments)
    if not isinstance(type_, t.Decimal) or digits >= type_.scale:
        return type_
    scale = max(digits, 0)
    whole = type_.precision - type_.scale + 1
    return t.Decimal(min(whole + scale, t.MAX_DECIMAL_PRECISION), scale)


def _write_round(call: SparkCall) -> str:
    return f"CAST(round({call.args[0]}, {_digits(call.arguments)}) AS {call.result.text()})"


def _write_truncate(call: SparkCall) -> str:
    value, digits = call.args[0], _digits(call.arguments)
    match call.type(0):
        case t.Decimal():
            cut = bound(value, lambda x: _cut_decimal(x, digits))
        case t.Float() | t.Double():
            cut = bound(value, lambda x: _cut_approximate(x, digits, call.type(0)))
        case _:
            cut = value if digits >= 0 else bound(value, lambda x: _cut_whole(x, -digits))
    return f"CAST({cut} AS {call.result.text()})"


def _cut_decimal(x: str, digits: int) -> str:
    return f"if({x} < 0, ceil({x}, {digits}), floor({x}, {digits}))"


def _cut_approximate(x: str, digits: int, type_: t.DataType) -> str:
    # Digits are those that the number prints; the nearest binary number may be below.
    printed = f"CAST(CAST({x} AS STRING) AS DECIMAL(38, 18))"
    small = f"CAST({_cut_decimal(printed, digits)} AS {type_.text()})"
    large = x if digits >= 0 else f"({x} - {x} % 1E{-digits}D)"
    return f"if(abs({x}) < {_WHOLE_DOUBLES}, {small}, {large})"


def _cut_whole(x: str, zeros: int) -> str:
    return "0" if zeros >= _MOST_DIGITS else f"({x} - {x} % {10**zeros}L)"


def write_whole(name: str, call: SparkCall) -> str:
    """`ceil` or `floor` of a number."""
    value, type_ = call.args[0], call.type(0)
    if isinstance(type_, t.INTEGERS):
        return value
    if isinstance(type_, t.Decimal):
        return f"CAST({name}({value}) AS {call.result.text()})"
    # Spark returns a BIGINT, which has no NaN, no -0.0 and not the largest numbers.
    whole = bound(
        value,
        lambda x: (
            f"if(abs({x}) < {_WHOLE_DOUBLES}, if({name}({x}) = 0, {x} * 0, {name}({x})), {x})"
        ),
    )
    return f"CAST({whole} AS {type_.text()})"


def whole_type(arguments: tuple[Argument, ...]) -> t.DataType:
    """The result type of CEIL and FLOOR of a number."""
    type_ = arguments[0].type
    return t.Decimal(type_.precision, 0) if isinstance(type_, t.Decimal) else type_


# --- logarithms --------------------------------------------------------------------------------


def _write_logarithm(name: str, x: str) -> str:
    """IEEE results where Spark returns NULL: minus infinity at zero, NaN below."""
    return bound(x, lambda x: f"if({x} <= 0, if({x} = 0, {_MINUS_INFINITY}, {_NAN}), {name}({x}))")


def _write_log(call: SparkCall) -> str:
    if len(call.args) == 1:
        return _write_logarithm("ln", call.args[0])
    base, x = call.args
    return (
        f"(CASE WHEN {base} IS NULL OR {x} IS NULL THEN NULL "
        f"WHEN {base} > 0 AND {x} > 0 THEN log({base}, {x}) "
        f"WHEN {base} < 0 OR {x} < 0 OR {base} = {x} OR {base} >= {_INFINITY} THEN {_NAN} "
        f"WHEN {x} = 0 THEN if({base} < 1, {_INFINITY}, {_MINUS_INFINITY}) "
        f"ELSE ln({x}) / {_MINUS_INFINITY} END)"
    )


def _logarithm(name: str, base: str) -> Function:
    return scalar(
        name,
        "(double)",
        t.Double(),
        lambda call: _write_logarithm(name.lower(), call.args[0]),
        category="numeric",
        summary=f"The logarithm to the base {base}.",
    )


def _write_root(call: SparkCall) -> str:
    """As a power of 0.5, which zero has no sign for, and infinity neither."""
    return bound(
        call.args[0], lambda x: f"if({x} = {_MINUS_INFINITY}, {_INFINITY}, sqrt({x} + 0D))"
    )


# --- chance ------------------------------------------------------------------------------------


def _seed(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    if arguments and not isinstance(arguments[0].value, int):
        raise SignatureMismatch("the seed must be a literal")
    return tuple(argument.type for argument in arguments)


# As in Java, which draws numbers in Flink.
BOUND_NOT_POSITIVE: Final = "the bound of RAND_INTEGER must be positive"


def _write_random(call: SparkCall) -> str:
    return f"rand({call.literal(0)})" if call.args else "rand()"


def _seed_and_bound(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    if len(arguments) == 2:
        _seed(arguments)
    return tuple(argument.type for argument in arguments)


def _write_random_integer(call: SparkCall) -> str:
    seed, below = call.literal(0) if len(call.args) == 2 else "", call.args[-1]
    drawn = f"CAST(floor(rand({seed}) * {below}) AS INT)"
    if (call.literal(len(call.args) - 1) or 0) > 0:
        return drawn
    return f"if({below} <= 0, raise_error({string(BOUND_NOT_POSITIVE)}), {drawn})"


# --- digits ------------------------------------------------------------------------------------


def _write_unhex(call: SparkCall) -> str:
    # With an odd number of digits, Flink takes the first one as zero.
    return bound(
        call.args[0],
        lambda x: (
            f"if(length({x}) % 2 = 1 AND unhex({x}) IS NOT NULL, "
            f"concat(X'00', unhex(substr({x}, 2))), unhex({x}))"
        ),
    )


def _of_doubles(name: str, summary: str, count: int = 1) -> Function:
    """A function over DOUBLEs that has the same name and meaning in Spark."""
    signature = f"({', '.join(['double'] * count)})"
    places = ", ".join(f"{{{i}}}" for i in range(count))
    spark = f"{name.lower()}({places})"
    return scalar(name, signature, t.Double(), spark, category="numeric", summary=summary)


_ONE_DOUBLE = {
    "EXP": "The number e raised to the argument.",
    "SIN": "The sine of an angle in radians.",
    "COS": "The cosine of an angle in radians.",
    "TAN": "The tangent of an angle in radians.",
    "COT": "The cotangent of an angle in radians.",
    "SINH": "The hyperbolic sine.",
    "COSH": "The hyperbolic cosine.",
    "TANH": "The hyperbolic tangent.",
    "ASIN": "The arcsine in radians.",
    "ACOS": "The arccosine in radians.",
    "ATAN": "The arctangent in radians.",
    "DEGREES": "Radians converted to degrees.",
    "RADIANS": "Degrees converted to radians.",
}

FUNCTIONS: tuple[Function, ...] = (
    scalar(
        "ABS",
        "(numeric)",
        _own_type,
        "abs({0})",
        category="numeric",
        summary="The absolute value.",
    ),
    scalar(
        "SIGN",
        "(numeric)",
        _own_type,
        lambda call: f"CAST(sign({call.args[0]}) AS {call.result.text()})",
        category="numeric",
        summary="-1, 0 or 1, in the type of the number.",
    ),
    scalar(
        "ROUND",
        "(numeric, [integer])",
        _rounded,
        _write_round,
        category="numeric",
        summary="The number rounded to some digits, half away from zero.",
    ),
    scalar(
        "TRUNCATE",
        "(numeric, [integer])",
        _rounded,
        _write_truncate,
        category="numeric",
        summary="The number truncated to some digits.",
    ),
    scalar(
        "POWER",
        "(double, double)",
        t.Double(),
        "power({0}, {1})",
        category="numeric",
        summary="The first number raised to the power of the second.",
    ),
    scalar(
        "SQRT",
        "(double)",
        t.Double(),
        _write_root,
        category="numeric",
        summary="The square root.",
    ),
    *(_of_doubles(name, summary) for name, summary in _ONE_DOUBLE.items()),
    _of_doubles("ATAN2", "The angle of the point (x, y), given y and x.", 2),
    _logarithm("LN", "e"),
    _logarithm("LOG2", "2"),
    _logarithm("LOG10", "10"),
    scalar(
        "LOG",
        ("(double)", "(double, double)"),
        t.Double(),
        _write_log,
        category="numeric",
        summary="The natural logarithm, or LOG(base, x).",
    ),
    scalar(
        "PI",
        "()",
        t.Double(nullable=False),
        "pi()",
        strict=False,
        category="numeric",
        summary="The ratio of a circle's circumference to its diameter.",
    ),
    scalar(
        "E",
        "()",
        t.Double(nullable=False),
        "e()",
        strict=False,
        category="numeric",
        summary="The base of natural logarithms.",
    ),
    scalar(
        "RAND",
        ("()", "(integer)"),
        t.Double(nullable=False),
        _write_random,
        strict=False,
        deterministic=False,
        converts=_seed,
        category="numeric",
        summary="A random number from 0 to 1; Spark's sequence for a seed differs from Flink's.",
    ),
    scalar(
        "RAND_INTEGER",
        ("(int)", "(int, int)"),
        t.Int(),
        _write_random_integer,
        deterministic=False,
        converts=_seed_and_bound,
        category="numeric",
        summary="A random integer from 0 to below the last argument; the first of two is a seed.",
    ),
    scalar(
        "UUID",
        "()",
        t.Char(36, nullable=False),
        "uuid()",
        strict=False,
        deterministic=False,
        category="numeric",
        summary="A random UUID of 36 characters.",
    ),
    scalar(
        "BIN",
        "(bigint)",
        t.STRING,
        "bin({0})",
        category="numeric",
        summary="An integer in binary digits.",
    ),
    scalar(
        "HEX",
        ("(bigint)", "(string)"),
        t.STRING,
        "hex({0})",
        category="numeric",
        summary="An integer, or the bytes of a string, in hexadecimal digits.",
    ),
    scalar(
        "UNHEX",
        "(string)",
        t.BYTES,
        _write_unhex,
        strict=False,
        category="numeric",
        summary="The bytes of a hexadecimal string; NULL if it is invalid.",
    ),
)
