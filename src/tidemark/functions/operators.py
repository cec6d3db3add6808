"""Comparisons, logic, membership, `||` and OVERLAPS."""

from __future__ import annotations

from tidemark import types as t
from tidemark.functions import arithmetic, wide_comparisons
from tidemark.functions.casts import write_cast
from tidemark.functions.nans import may_be_nan, may_both_be_nan
from tidemark.functions.registry import Argument, Function, SignatureMismatch, SparkCall, scalar

_TIMES = (t.Date, t.Time, *t.TIMESTAMPS)
_NESTED = (t.Array, t.Map, t.Multiset, t.Row)


# --- comparisons -------------------------------------------------------------------------------


def comparable(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    """The types that two values compared with `=` are converted to: a DOUBLE that is compared with
    a FLOAT on its left loses digits, as in Flink.
    """
    left, right = _distinguishable(arguments)
    if isinstance(left, t.Float) and isinstance(right, t.Double):
        return left, left.with_nullable(right.nullable)
    return left, right


def _distinguishable(arguments: tuple[Argument, ...]) -> tuple[t.DataType, t.DataType]:
    """The types that two values are converted to whose difference is asked for."""
    left, right = (argument.type for argument in arguments)
    for number, text in ((left, right), (right, left)):
        if isinstance(number, t.NUMERICS) and isinstance(text, t.CHARACTERS):
            raise SignatureMismatch(
                f"cannot test {left.text()} and {right.text()} for equality; cast one of them"
            )
    if isinstance(left, _TIMES) != isinstance(right, _TIMES):
        _side_by_side(left, right)
        # A string that is not a time equals no time: `equal` parses it itself, without failing.
        return left, right
    return _side_by_side(left, right)


def _side_by_side(left: t.DataType, right: t.DataType) -> tuple[t.DataType, t.DataType]:
    """Strings are cast to the other operand's type; Spark itself unifies numbers."""
    if isinstance(left, t.Null) or isinstance(right, t.Null):
        return left, right
    for family in (t.NUMERICS, t.CHARACTERS, t.BINARIES, (t.Boolean,)):
        if isinstance(left, family) and isinstance(right, family):
            return left, right
    if isinstance(left, (*t.NUMERICS, *_TIMES)) and isinstance(right, t.CHARACTERS):
        return left, left.with_nullable(right.nullable)
    if isinstance(right, (*t.NUMERICS, *_TIMES)) and isinstance(left, t.CHARACTERS):
        return right.with_nullable(left.nullable), right
    common = t.common_type((left, right))
    if common is None or isinstance(left, t.Date) != isinstance(right, t.Date):
        raise SignatureMismatch(
            f"{left.text()} cannot be compared with {right.text()}; cast one of them"
        )
    return common.with_nullable(left.nullable), common.with_nullable(right.nullable)


def _ordered(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    for argument in arguments:
        if isinstance(argument.type, _NESTED):
            raise SignatureMismatch(f"{argument.type.text()} values cannot be ordered")
    left, right = (argument.type for argument in arguments)
    return _side_by_side(left, right)


def equal(call: SparkCall) -> str:
    """Spark SQL for whether the two arguments are equal."""
    wide = wide_comparisons.is_wide(call)
    left, right = wide_comparisons.rounded(call) if wide else _as_equatable(call)
    test = f"{left} = {right}"
    return f"({_without_nan(call, test, 0, 1) if may_both_be_nan(call, 0, 1) else test})"


def _without_nan(call: SparkCall, test: str, one: int, other: int) -> str:
    """A test that is true in Spark if one argument is NaN, its largest number."""
    known = f"NOT isnan({call.args[one]})"
    if call.type(other).nullable:
        known = f"({known} OR {call.args[other]} IS NULL)"
    return f"({test} AND {known})"


def _write_not_equal(call: SparkCall) -> str:
    return f"(NOT {equal(call)})"


def _write_same(call: SparkCall) -> str:
    if wide_comparisons.is_wide(call):
        return wide_comparisons.same(call)
    left, right = _as_equatable(call)
    if may_both_be_nan(call, 0, 1):
        return f"({left} <=> {right} AND NOT isnan({left}))"
    return f"({left} <=> {right})"


def _write_distinct(call: SparkCall) -> str:
    return f"(NOT {_write_same(call)})"


def _as_equatable(call: SparkCall) -> tuple[str, str]:
    left, right = call.args
    if isinstance(call.type(0), t.Map | t.Multiset):
        # Spark does not compare maps; comparing their sorted entries is equivalent.
        return f"array_sort(map_entries({left}))", f"array_sort(map_entries({right}))"
    kinds = call.type(0), call.type(1)
    if isinstance(kinds[0], _TIMES) and isinstance(kinds[1], t.CHARACTERS):
        return left, write_cast(right, kinds[1], kinds[0], safe=True, zone=call.zone)
    if isinstance(kinds[1], _TIMES) and isinstance(kinds[0], t.CHARACTERS):
        return write_cast(left, kinds[0], kinds[1], safe=True, zone=call.zone), right
    return left, right


def _equality(arguments: tuple[Argument, ...]) -> t.DataType:
    return t.Boolean(nullable=any(_holds_nulls(argument.type) for argument in arguments))


def _holds_nulls(type_: t.DataType) -> bool:
    """To Flink, the comparison of rows with fields that may be NULL may be NULL."""
    fields = type_.fields if isinstance(type_, t.Row) else ()
    return type_.nullable or any(_holds_nulls(field.type) for field in fields)


_ORDER = {"<": "less than", "<=": "at most", ">": "greater than", ">=": "at least"}


def _ordered_by(call: SparkCall, symbol: str, one: int = 0, other: int = 1) -> str:
    if wide_comparisons.is_wide(call, one, other):
        return wide_comparisons.compared(call, symbol, one, other)
    test = f"{call.args[one]} {symbol} {call.args[other]}"
    largest, smaller = (other, one) if symbol in ("<", "<=") else (one, other)
    return (
        _without_nan(call, test, largest, smaller) if may_be_nan(call, largest, smaller) else test
    )


def _comparison(symbol: str) -> Function:
    return scalar(
        symbol,
        "(any, any)",
        t.Boolean(),
        lambda call: f"({_ordered_by(call, symbol)})",
        converts=_ordered,
        category="comparison",
        summary=f"Whether the first value is {_ORDER[symbol]} the second.",
    )


# --- BETWEEN and IN ----------------------------------------------------------------------------


def _write_between(call: SparkCall) -> str:
    apart = any(
        wide_comparisons.is_wide(call, 0, place)
        or may_be_nan(call, 0, place)
        or may_be_nan(call, place, 0)
        for place in (1, 2)
    )
    if apart:
        return f"({_ordered_by(call, '>=')} AND {_ordered_by(call, '<=', 0, 2)})"
    value, low, high = call.args
    return f"({value} BETWEEN {low} AND {high})"


def _between_operands(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    value, low, high = arguments
    first, low_type = _ordered((value, low))
    value_type, high_type = _ordered((Argument(first, value.value), high))
    return value_type, low_type, high_type


def _members(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    """The members are cast to the value's type: in `ts IN ('2024-01-01', ...)` the strings, in
    `name IN (1, 2)` the numbers.
    """
    value, *members = (argument.type for argument in arguments)
    for member in members:
        value, _ = _with_member(value, member)
    return value, *(_with_member(value, member)[1] for member in members)


def _with_member(value: t.DataType, member: t.DataType) -> tuple[t.DataType, t.DataType]:
    if isinstance(value, t.CHARACTERS) and isinstance(member, (*t.NUMERICS, *_TIMES)):
        return value, t.STRING.with_nullable(member.nullable)
    if isinstance(value, t.Float) and isinstance(member, t.NUMERICS):
        # `price IN (9.99, 19.99)` finds such prices, although 9.99 has no exact FLOAT.
        return value, value.with_nullable(member.nullable)
    return _side_by_side(value, member)


def _write_in(call: SparkCall) -> str:
    value, *members = call.args
    if any(may_both_be_nan(call, 0, n) for n in range(1, len(call.args))):
        tests = (_without_nan(call, f"{value} = {m}", 0, n) for n, m in enumerate(members, 1))
        return f"({' OR '.join(tests)})"
    return f"({value} IN ({', '.join(members)}))"


# --- strings -----------------------------------------------------------------------------------


def _concatenated(arguments: tuple[Argument, ...]) -> t.DataType:
    left, right = (argument.type for argument in arguments)
    if isinstance(left, t.Null) or isinstance(right, t.Null):
        return t.STRING
    assert isinstance(left, t.CHARACTERS) and isinstance(right, t.CHARACTERS)
    length = min(left.length + right.length, t.MAX_LENGTH)
    both_char = isinstance(left, t.Char) and isinstance(right, t.Char)
    return t.Char(length) if both_char else t.VarChar(length)


# --- OVERLAPS ----------------------------------------------------------------------------------


def _periods(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    moments = []
    for start, end in ((arguments[0], arguments[1]), (arguments[2], arguments[3])):
        if not isinstance(end.type, (*t.INTERVALS, type(start.type))):
            raise SignatureMismatch(
                f"a period from {start.type.text()} cannot end at {end.type.text()}"
            )
        moments.append(start.type)
    if type(moments[0]) is not type(moments[1]):
        raise SignatureMismatch(
            f"periods of {moments[0].text()} and {moments[1].text()} cannot be compared"
        )
    return tuple(argument.type for argument in arguments)


def _write_overlaps(call: SparkCall) -> str:
    (first, last), (start, end) = (_period(call, place) for place in (0, 2))
    return f"({last} >= {start} AND {end} >= {first})"


def _period(call: SparkCall, start: int) -> tuple[str, str]:
    """The earlier end and the later one; an interval is relative to the start."""
    end = call.args[start + 1]
    if isinstance(call.type(start + 1), t.INTERVALS):
        end = _ADDED.write(
            SparkCall(
                call.args[start : start + 2],
                call.arguments[start : start + 2],
                call.type(start),
                call.zone,
            )
        )
    begin = call.args[start]
    return f"if({begin} <= {end}, {begin}, {end})", f"if({begin} <= {end}, {end}, {begin})"


_ADDED = next(function for function in arithmetic.FUNCTIONS if function.name == "+")


FUNCTIONS: tuple[Function, ...] = (
    scalar(
        "=",
        "(any, any)",
        _equality,
        equal,
        strict=False,
        converts=comparable,
        category="comparison",
        summary="Whether two values are equal; a string that is not a valid time equals no time.",
    ),
    scalar(
        "<>",
        "(any, any)",
        _equality,
        _write_not_equal,
        strict=False,
        converts=comparable,
        category="comparison",
        summary="Whether two values differ.",
    ),
    *(_comparison(symbol) for symbol in _ORDER),
    scalar(
        "IS NOT DISTINCT FROM",
        "(any, any)",
        t.Boolean(nullable=False),
        _write_same,
        converts=_distinguishable,
        category="comparison",
        summary="Whether two values are equal, counting NULL as equal to NULL.",
    ),
    scalar(
        "IS DISTINCT FROM",
        "(any, any)",
        t.Boolean(nullable=False),
        _write_distinct,
        converts=_distinguishable,
        category="comparison",
        summary="Whether two values differ, counting NULL as equal to NULL.",
    ),
    scalar(
        "AND",
        "(boolean, boolean)",
        t.Boolean(),
        "({0} AND {1})",
        category="comparison",
        summary="Whether both are true.",
    ),
    scalar(
        "OR",
        "(boolean, boolean)",
        t.Boolean(),
        "({0} OR {1})",
        category="comparison",
        summary="Whether at least one of them is true.",
    ),
    scalar(
        "NOT",
        "(boolean)",
        t.Boolean(),
        "(NOT {0})",
        category="comparison",
        summary="The negated condition.",
    ),
    scalar(
        "IS NULL",
        "(any)",
        t.Boolean(nullable=False),
        "({0} IS NULL)",
        category="comparison",
        summary="Whether the value is NULL.",
    ),
    scalar(
        "IS TRUE",
        "(boolean)",
        t.Boolean(nullable=False),
        "({0} <=> TRUE)",
        category="comparison",
        summary="Whether the condition is true.",
    ),
    scalar(
        "IS FALSE",
        "(boolean)",
        t.Boolean(nullable=False),
        "({0} <=> FALSE)",
        category="comparison",
        summary="Whether the condition is false.",
    ),
    scalar(
        "IS UNKNOWN",
        "(boolean)",
        t.Boolean(nullable=False),
        "({0} IS NULL)",
        category="comparison",
        summary="Whether the condition is unknown (NULL).",
    ),
    scalar(
        "BETWEEN",
        "(any, any, any)",
        _equality,
        _write_between,
        strict=False,  # beyond one bound, a NULL as the other makes no difference
        converts=_between_operands,
        category="comparison",
        summary="Whether a value lies between two bounds, inclusive.",
    ),
    scalar(
        "IN",
        "(any, any...)",
        _equality,
        _write_in,
        strict=False,
        converts=_members,
        category="comparison",
        summary="Whether a value equals one in a list.",
    ),
    scalar(
        "||",
        "(character, character)",
        _concatenated,
        "concat({0}, {1})",
        category="comparison",
        summary="Two strings concatenated.",
    ),
    scalar(
        "OVERLAPS",
        "(datetime, any, datetime, any)",
        t.Boolean(),
        _write_overlaps,
        converts=_periods,
        summary="Whether two periods overlap; each has a start and either an end or a length.",
        category="comparison",
    ),
)
