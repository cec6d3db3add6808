"""Bounds on the distance of two times, parsed from comparisons in any form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from tidemark import types as t
from tidemark.dialect import span_of
from tidemark.errors import PlanError
from tidemark.plan.expressions import Call, Cast, Expression, Literal, Ref
from tidemark.plan.nodes import Edge


@dataclass(frozen=True, slots=True)
class Bound:
    """The bound of one comparison: `right - left` is at least `lower` or at most `upper`, in ms."""

    left: int  # columns of the two edges
    right: int
    lower: int | None
    upper: int | None
    node: exp.Expression


@dataclass(frozen=True, slots=True)
class Interval:
    """The right time must be in [left time + lower, left time + upper]."""

    left: int
    right: int
    lower: int
    upper: int


@dataclass(frozen=True, slots=True)
class Bounds:
    """Parses comparisons over the columns of a left edge followed by those of a right edge."""

    left: Edge
    right: Edge

    def read(self, bound: Expression, node: exp.Expression) -> Bound | None:
        """The bound that a comparison sets; None if it does not compare time attributes."""
        if not isinstance(bound, Call) or len(bound.args) < 2:
            return None
        name, (one, other, *further) = bound.function.name, bound.args
        if name == "BETWEEN":
            low = self._comparison(">=", one, other, node)
            high = self._comparison("<=", one, further[0], node)
            return _both(low, high)
        return self._comparison(name, one, other, node)

    def _comparison(
        self, name: str, one: Expression, other: Expression, node: exp.Expression
    ) -> Bound | None:
        if name not in _STRICTNESS:
            return None
        linear = _difference(_linear(one), _linear(other))
        if linear is None or sorted(linear.times.values()) != [-1, 1]:
            return None
        first, second = sorted(linear.times)
        width = len(self.left.columns)
        if not first < width <= second or not self._are_times(first, second - width, node):
            return None
        # As `offset + (right - left)`, compared with zero.
        flipped = linear.times[first] == 1
        offset = -linear.offset if flipped else linear.offset
        comparison = _TURNED[name] if flipped else name
        lower = upper = None
        if comparison in (">", ">=", "="):
            lower = -offset + _STRICTNESS[comparison]
        if comparison in ("<", "<=", "="):
            upper = -offset - _STRICTNESS[comparison]
        return Bound(first, second - width, lower, upper, node)

    def _are_times(self, left: int, right: int, node: exp.Expression) -> bool:
        mine, theirs = self.left.columns[left], self.right.columns[right]
        if mine.time is None or theirs.time is None:
            return False
        if mine.time != theirs.time:
            raise PlanError(
                "an interval join cannot compare event time with processing time",
                at=span_of(node),
                notes={"left": f"{mine.time} time", "right": f"{theirs.time} time"},
            )
        if type(mine.type) is not type(theirs.type):
            raise PlanError(
                "both sides of an interval join must have the same type of time attribute",
                at=span_of(node),
                notes={"left": mine.type.text(), "right": theirs.type.text()},
            )
        return True


def joined(bounds: list[Bound]) -> Interval | None:
    """All bounds combined; None unless there is a lower and an upper one."""
    if not bounds:
        return None
    first = bounds[0]
    for bound in bounds[1:]:
        if (bound.left, bound.right) != (first.left, first.right):
            raise PlanError(
                "the bounds of an interval join must use the same time attributes",
                at=span_of(bound.node),
                hint="compare one time attribute of the left side with one of the right side",
            )
    lower = [bound.lower for bound in bounds if bound.lower is not None]
    upper = [bound.upper for bound in bounds if bound.upper is not None]
    if not lower or not upper:
        return None
    return Interval(first.left, first.right, max(lower), min(upper))


# --- sums of times and intervals ---------------------------------------------------------------

_STRICTNESS = {"<": 1, "<=": 0, "=": 0, ">=": 0, ">": 1}
_TURNED = {"<": ">", "<=": ">=", "=": "=", ">=": "<=", ">": "<"}


@dataclass(frozen=True, slots=True)
class _Linear:
    """Columns, each with a factor, and milliseconds."""

    times: Mapping[int, int]
    offset: int


def _linear(expression: Expression) -> _Linear | None:
    """The expression as a sum of times and intervals, if it is one."""
    match expression:
        case Ref(index=index, type=t.Timestamp() | t.TimestampLtz()):
            return _Linear({index: 1}, 0)
        case Literal(value=int() as milliseconds, type=t.DayTimeInterval()):
            return _Linear({}, milliseconds)
        case Cast(operand=operand, type=type_, implicit=True) if _keeps_value(operand, type_):
            return _linear(operand)
        case Call(function=function, args=(only,)) if function.name == "NEG":
            return _difference(_Linear({}, 0), _linear(only))
        case Call(function=function, args=(one, other)) if function.name == "-":
            return _difference(_linear(one), _linear(other))
        case Call(function=function, args=(one, other)) if function.name == "+":
            return _difference(_linear(one), _difference(_Linear({}, 0), _linear(other)))
    return None


def _keeps_value(operand: Expression, type_: t.DataType) -> bool:
    """Whether a conversion does not change a time or an interval."""
    both = (operand.type, type_)
    return all(isinstance(one, t.TIMESTAMPS) for one in both) or type(both[0]) is type(both[1])


def _difference(one: _Linear | None, other: _Linear | None) -> _Linear | None:
    if one is None or other is None:
        return None
    times = dict(one.times)
    for index, factor in other.times.items():
        times[index] = times.get(index, 0) - factor
    return _Linear({i: f for i, f in times.items() if f}, one.offset - other.offset)


def _both(low: Bound | None, high: Bound | None) -> Bound | None:
    if low is None or high is None:
        return None
    return Bound(low.left, low.right, *_tightest(low, high), low.node)


def _tightest(one: Bound, other: Bound) -> tuple[int | None, int | None]:
    lower = [bound.lower for bound in (one, other) if bound.lower is not None]
    upper = [bound.upper for bound in (one, other) if bound.upper is not None]
    return max(lower, default=None), min(upper, default=None)
