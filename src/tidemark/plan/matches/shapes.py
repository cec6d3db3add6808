"""PATTERN with alternatives and groups: the tree that the kernel matches."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Final

from sqlglot import exp

from tidemark.dialect import nodes, span_of
from tidemark.errors import PlanError
from tidemark.kernels.match_recognize.spec import (
    Alternatives,
    FirstOfKey,
    LastOfKey,
    One,
    PartsInOrder,
    RepeatedPart,
    Shape,
)
from tidemark.plan import unsupported

_MOST_VARIABLES: Final = 1_000
_TOO_LARGE = "a pattern of more than 1,000 variables, repeated ones counted each time,"
_SHAPES: Final = (
    nodes.PatternChoice,
    nodes.PatternPermute,
    nodes.PatternExclude,
    nodes.PatternAnchor,
)
_REPEATS_NOTHING = "`*`, `+` or `{n,}` after a group that may be empty"


def has_shape(pattern: exp.Expression) -> bool:
    """Whether a pattern is more than variables that follow each other, which Flink rejects."""
    return any(
        isinstance(part, _SHAPES)
        or (isinstance(part, nodes.PatternRepeat) and not _is_variable(part.this))
        for part in pattern.walk()
    )


def _is_variable(part: exp.Expression) -> bool:
    return isinstance(part, nodes.PatternVariable)


def names_in(pattern: exp.Expression) -> list[str]:
    """The variables in the order in which they come first."""
    found = pattern.find_all(nodes.PatternVariable, bfs=False)
    return list(dict.fromkeys(variable.name for variable in found))


def shape_of(pattern: exp.Expression, names: Sequence[str]) -> Shape:
    if _size(pattern) > _MOST_VARIABLES:
        raise unsupported.IN_PATTERNS.error(span_of(pattern), _TOO_LARGE)
    shape = _shape(pattern, names, False)
    if _is_anchor_alone(shape):
        anchor = pattern.find(nodes.PatternAnchor)
        assert anchor is not None
        raise unsupported.IN_PATTERNS.error(span_of(anchor), "an anchor without a row")
    return shape


def _is_anchor_alone(shape: Shape) -> bool:
    """Whether a way through it consists of anchors, without a row."""
    match shape:
        case FirstOfKey() | LastOfKey():
            return True
        case PartsInOrder(parts):
            return all(map(may_be_empty, parts)) and any(map(_is_anchor_alone, parts))
        case Alternatives(parts):
            return any(map(_is_anchor_alone, parts))
        case RepeatedPart(part):
            return _is_anchor_alone(part)
    return False


def _size(part: exp.Expression) -> int:
    """How many variables there are, those of repeated parts counted each time."""
    sizes = [_size(child) for child in part.expressions]
    match part:
        case nodes.PatternVariable():
            return 1
        case nodes.PatternRepeat():
            most = part.args["most"]
            times: int = part.args["least"] + 1 if most is None else most
            return _size(part.this) * times
        case nodes.PatternExclude():
            return _size(part.this)
        case nodes.PatternPermute():
            return sum(sizes) * math.factorial(len(sizes))
    return sum(sizes)


def _shape(part: exp.Expression, names: Sequence[str], excluded: bool) -> Shape:
    match part:
        case nodes.PatternVariable():
            return One(names.index(part.name), excluded)
        case nodes.PatternExclude():
            return _shape(part.this, names, True)
        case nodes.PatternRepeat():
            return _repeated(part, _shape(part.this, names, excluded))
        case nodes.PatternAnchor():
            return LastOfKey() if part.this == "$" else FirstOfKey()
    parts = tuple(_shape(each, names, excluded) for each in part.expressions)
    match part:
        case nodes.PatternChoice():
            return Alternatives(parts)
        case nodes.PatternPermute():
            return Alternatives(tuple(PartsInOrder(order) for order in permutations(parts)))
    return PartsInOrder(parts)


def _repeated(part: nodes.PatternRepeat, shape: Shape) -> RepeatedPart:
    least, most = bounds_of(part)
    if most is None and may_be_empty(shape):
        raise unsupported.IN_PATTERNS.error(span_of(part), _REPEATS_NOTHING)
    return RepeatedPart(shape, least, most, bool(part.args["greedy"]))


def bounds_of(part: nodes.PatternRepeat) -> tuple[int, int | None]:
    least, most = part.args["least"], part.args["most"]
    if most is not None and most < max(least, 1):
        raise PlanError(
            f"{{{least},{most}}} is not a number of rows",
            at=span_of(part),
            hint="write {n} or {n,m} with m at least n and at least 1",
        )
    return least, most


def may_be_empty(shape: Shape) -> bool:
    match shape:
        case One():
            return False
        case FirstOfKey() | LastOfKey():
            return True
        case PartsInOrder(parts):
            return all(may_be_empty(part) for part in parts)
        case Alternatives(parts):
            return any(may_be_empty(part) for part in parts)
        case RepeatedPart(part, least):
            return least == 0 or may_be_empty(part)


def is_unbounded(shape: Shape) -> bool:
    return any(isinstance(part, RepeatedPart) and part.most is None for part in parts_of(shape))


def parts_of(shape: Shape) -> Iterator[Shape]:
    yield shape
    match shape:
        case PartsInOrder(parts) | Alternatives(parts):
            for part in parts:
                yield from parts_of(part)
        case RepeatedPart(part):
            yield from parts_of(part)
