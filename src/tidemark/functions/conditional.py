"""Functions that choose between values, and tests of a string's content."""

from __future__ import annotations

from tidemark import types as t
from tidemark.functions import operators
from tidemark.functions.registry import Argument, Function, SignatureMismatch, SparkCall, scalar
from tidemark.functions.spark_text import string

# What a string is tested for; `columns` tests the same.
LETTERS = r"\A\p{L}+\z"
DIGITS = r"\A\p{Nd}+\z"
# What Java parses as a floating-point number.
DECIMAL = (
    r"\A[\x00-\x20]*[+-]?"
    r"(NaN|Infinity|(\p{Nd}+[.]?\p{Nd}*|[.]\p{Nd}+)([eE][+-]?\p{Nd}+)?[fFdD]?)"
    r"[\x00-\x20]*\z"
)

_TIMES = (t.TIMESTAMPS, (t.Time,))


def _common(arguments: tuple[Argument, ...]) -> t.DataType:
    return _known(t.widest_type([argument.type for argument in arguments]), arguments)


def _known(common: t.DataType | None, arguments: tuple[Argument, ...]) -> t.DataType:
    if common is None:
        kinds = ", ".join(sorted({argument.type.text() for argument in arguments}))
        raise SignatureMismatch(f"the values do not have a common type: {kinds}")
    return common


def _all_common(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    common = _common(arguments)
    return tuple(common.with_nullable(argument.type.nullable) for argument in arguments)


def _first_known(arguments: tuple[Argument, ...]) -> t.DataType:
    nullable = all(argument.type.nullable for argument in arguments)
    return _common(arguments).with_nullable(nullable)


def _first_or_common(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    types = _all_common(arguments)
    first, second = (argument.type for argument in arguments)
    # A string that is never NULL keeps its type, whatever the second one is.
    kept = isinstance(first, t.CHARACTERS) and not first.nullable
    return (first, second) if kept else types


def _first_or_second(arguments: tuple[Argument, ...]) -> t.DataType:
    first = arguments[0].type
    return first if not first.nullable else _first_known(arguments)


def _ordered_alike(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    for argument in arguments:
        if isinstance(argument.type, (t.Array, t.Map, t.Multiset, t.Row)):
            raise SignatureMismatch(f"{argument.type.text()} values cannot be ordered")
    return _all_common(arguments)


def _write_extreme(name: str, call: SparkCall) -> str:
    # Spark ignores NULLs; here one NULL makes the result NULL.
    unknown = " OR ".join(f"{arg} IS NULL" for arg in call.args)
    extreme = f"{name}({', '.join(call.args)})"
    if len(call.args) == 1:
        return call.args[0]
    return f"if({unknown}, NULL, {extreme})"


def _branches(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    condition, *values = arguments
    common = _of_branches(arguments)
    return condition.type, *(common.with_nullable(value.type.nullable) for value in values)


def _of_branches(arguments: tuple[Argument, ...]) -> t.DataType:
    first, second = (argument.type for argument in arguments[1:])
    # Of times, the first value decides about the precision and the kind, unlike in CASE.
    if any(isinstance(first, times) and isinstance(second, times) for times in _TIMES):
        return first
    return _known(t.common_type([first, second]), arguments[1:])


def _branch_type(arguments: tuple[Argument, ...]) -> t.DataType:
    # A condition that may be unknown makes the result nullable, unlike that of CASE.
    nullable = any(argument.type.nullable for argument in arguments)
    return _of_branches(arguments).with_nullable(nullable)


def _compared(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    first, second = operators.comparable(arguments)
    return first.with_nullable(arguments[0].type.nullable), second


def _write_nullif(call: SparkCall) -> str:
    equal = operators.equal(call)
    return f"if({equal}, NULL, {call.args[0]})"


def _test(name: str, regex: str, numbers: tuple[type[t.DataType], ...], summary: str) -> Function:
    """A test of a string, false for NULL. Numbers of the given types always pass, even NULL."""

    def write(call: SparkCall) -> str:
        value, type_ = call.args[0], call.type(0)
        if isinstance(type_, t.CHARACTERS):
            return f"coalesce({value} RLIKE {string(regex)}, FALSE)"
        return "TRUE" if isinstance(type_, numbers) else "FALSE"

    return scalar(
        name,
        ("(character)", "(numeric)"),
        t.Boolean(nullable=False),
        write,
        strict=False,
        category="conditional",
        summary=summary,
    )


FUNCTIONS: tuple[Function, ...] = (
    scalar(
        "COALESCE",
        "(any, any...)",
        _first_known,
        "coalesce({*})",
        strict=False,
        converts=_all_common,
        category="conditional",
        summary="The first value that is not NULL.",
    ),
    scalar(
        "IFNULL",
        "(any, any)",
        _first_or_second,
        "coalesce({0}, {1})",
        strict=False,
        converts=_first_or_common,
        category="conditional",
        summary="The first value, or the second if the first is NULL.",
    ),
    scalar(
        "IF",
        "(boolean, any, any)",
        _branch_type,
        "if({0}, {1}, {2})",
        strict=False,
        converts=_branches,
        category="conditional",
        summary="The second value if the condition is true, else the third.",
    ),
    scalar(
        "NULLIF",
        "(any, any)",
        lambda arguments: arguments[0].type.with_nullable(True),
        _write_nullif,
        strict=False,
        converts=_compared,
        category="conditional",
        summary="NULL if the two values are equal, else the first.",
    ),
    scalar(
        "GREATEST",
        "(any, any...)",
        _common,
        lambda call: _write_extreme("greatest", call),
        converts=_ordered_alike,
        category="conditional",
        summary="The greatest value; NULL if any value is NULL.",
    ),
    scalar(
        "LEAST",
        "(any, any...)",
        _common,
        lambda call: _write_extreme("least", call),
        converts=_ordered_alike,
        category="conditional",
        summary="The least value; NULL if any value is NULL.",
    ),
    _test("IS_ALPHA", LETTERS, (), "Whether a string contains only letters."),
    _test("IS_DECIMAL", DECIMAL, t.NUMERICS, "Whether a string is a number."),
    _test("IS_DIGIT", DIGITS, t.INTEGERS, "Whether a string contains only digits."),
)
