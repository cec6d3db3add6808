"""Conditions over the statistics of columns: whether one of other columns may be true of a row.

`x < 5` becomes `low of x < 5`, which is computed as `x < 5` would be. Whatever cannot be said is
NULL, and what follows from it in SQL's logic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tidemark import types as t
from tidemark.functions import BUILT_IN
from tidemark.plan.expressions import Call, Cast, Expression, Literal, Ref, references

# What is known of a column in a group of rows: no value is less, no value is greater, except NaN;
# whether there are NULLs, and anything else.
PARTS: Final = ("low", "high", "nulls", "values")

_UNKNOWN: Final = Literal(None, t.Boolean())
_TURNED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
_NEGATED: Final = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_APPROXIMATE: Final = (t.Float, t.Double)
_TIMES: Final = (t.Date, t.Time, *t.TIMESTAMPS)
# What is compared in one order, which is that of statistics.
_FAMILIES: Final = (t.NUMERICS, t.CHARACTERS, t.BINARIES, *((each,) for each in _TIMES))


@dataclass(frozen=True, slots=True)
class Possible:
    """Writes conditions for a frame with these columns: each of `PARTS` of the first column with
    statistics, then of the next one.
    """

    places: Mapping[int, int]  # of columns, by their places in the conditions that are given

    def true(self, condition: Expression) -> Expression:
        """Whether the condition may be true of a row."""
        if not isinstance(condition, Call):
            return _UNKNOWN
        args = condition.args
        match condition.function.name:
            case "AND" | "OR" as name:
                return _call(name, *map(self.true, args))
            case "NOT":
                return self.false(args[0])
            case "IS NULL":
                return self._part("nulls", args[0])
            case "BETWEEN":
                return self._between(*args)
            case "IN":
                return self._in(*args)
            case name if name in _TURNED:
                return self._compared(name, *args)
        return _UNKNOWN

    def false(self, condition: Expression) -> Expression:
        """Whether the condition may be false of a row."""
        if not isinstance(condition, Call):
            return _UNKNOWN
        args = condition.args
        match condition.function.name:
            case "AND":
                return _call("OR", *map(self.false, args))
            case "OR":
                return _call("AND", *map(self.false, args))
            case "NOT":
                return self.true(args[0])
            case "IS NULL":
                return self._part("values", args[0])
            case "BETWEEN":
                value, low, high = args
                sides = self._negated(">=", value, low), self._negated("<=", value, high)
                return _call("OR", *sides)
            case name if name in _NEGATED:
                return self._negated(name, *args)
        return _UNKNOWN

    def _compared(self, name: str, left: Expression, right: Expression) -> Expression:
        if references(right):
            name, left, right = _TURNED[name], right, left
        if references(right) or not _have_order(left, right):
            return _UNKNOWN
        approximate = isinstance(left.type, _APPROXIMATE)
        tests = []
        if name in ("<", "<="):
            tests = [_call(name, self._part("low", left), right)]
        elif name in (">", ">=") and not (approximate and isinstance(right.type, t.Decimal)):
            # Beside a DECIMAL, a NaN is greater than any number.
            tests = [_call(name, self._part("high", left), right)]
        elif name == "=" and not (approximate and _may_be_nan(right)):
            low, high = self._part("low", left), self._part("high", left)
            tests = [_call("<=", low, right), _call(">=", high, right)]
        return _joined("AND", [self._part("values", left), *tests])

    def _negated(self, name: str, left: Expression, right: Expression) -> Expression:
        if any(isinstance(side.type, _APPROXIMATE) for side in (left, right)):
            return _UNKNOWN
        return self._compared(_NEGATED[name], left, right)

    def _between(self, value: Expression, low: Expression, high: Expression) -> Expression:
        sides = [self._compared(">=", value, low), self._compared("<=", value, high)]
        constant = not references(low) and _have_order(value, low)
        if constant and not references(high) and not _may_be_nan(high):
            # Which a NaN is not.
            sides.append(_call(">=", self._part("high", value), low))
        return _joined("AND", sides)

    def _in(self, value: Expression, *members: Expression) -> Expression:
        types = {type(each.type) for each in (value, *members)}
        if len(types) > 1 and types.intersection(_APPROXIMATE):
            return _UNKNOWN  # all of them are compared as approximate numbers
        return _joined("OR", [self._compared("=", value, member) for member in members])

    def _part(self, part: str, column: Expression) -> Expression:
        if not isinstance(column, Ref) or column.index not in self.places:
            return _UNKNOWN
        place = len(PARTS) * self.places[column.index] + PARTS.index(part)
        is_bound = part in ("low", "high")
        type_ = column.type.with_nullable(True) if is_bound else t.Boolean()
        return Ref(place, f"{part} {column.name}", type_)


def _have_order(left: Expression, right: Expression) -> bool:
    if not isinstance(left, Ref):
        return False
    if isinstance(left.type, _TIMES) and isinstance(right.type, t.CHARACTERS):
        return True  # the string becomes a time
    return any(isinstance(left.type, f) and isinstance(right.type, f) for f in _FAMILIES)


def _may_be_nan(constant: Expression) -> bool:
    while isinstance(constant, Cast) and isinstance(constant.type, t.NUMERICS):
        constant = constant.operand
    return not isinstance(constant.type, (*t.INTEGERS, t.Decimal))


def _call(name: str, *args: Expression) -> Expression:
    return Call(BUILT_IN[name], args, t.Boolean())


def _joined(name: str, tests: Sequence[Expression]) -> Expression:
    """The tests, nested no deeper than necessary."""
    if len(tests) == 1:
        return tests[0]
    middle = len(tests) // 2
    return _call(name, _joined(name, tests[:middle]), _joined(name, tests[middle:]))
