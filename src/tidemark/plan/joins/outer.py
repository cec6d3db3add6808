"""Outer joins whose padded rows are all dropped above: these are inner joins, as in Flink."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from tidemark.plan.expressions import (
    Call,
    Cast,
    Expression,
    FieldAccess,
    Literal,
    Ref,
    over,
    references,
    shifted,
)
from tidemark.plan.joins.pair_conditions import ARITHMETIC, COMPARISONS
from tidemark.plan.nodes import Filter, How, Node, Project, RegularJoin
from tidemark.plan.scalars.fusion import fused

# Whether left rows and right rows appear that have found none of the other side.
_UNMATCHED: Final[dict[How, tuple[bool, bool]]] = {
    "inner": (False, False),
    "left": (True, False),
    "right": (False, True),
    "full": (True, True),
}
_HOW: Final = {unmatched: how for how, unmatched in _UNMATCHED.items()}

# What is NULL if any argument is, and if the first one is.
_OF_ANY: Final = COMPARISONS | ARITHMETIC | {"/", "%", "UPPER", "LOWER", "CHAR_LENGTH", "LIKE"}
_OF_FIRST: Final = frozenset({"BETWEEN", "IN"})


# The rows of a side that a join does not pad: the number of the join, and the side.
Unpadded = tuple[int, str]


@dataclass(slots=True)
class Padding:
    """Plans outer joins without the padded rows that are dropped above, except those that it
    `keeps`: a job may have started when nothing dropped them.
    """

    keeps: Collection[Unpadded] = ()
    dropped: list[Unpadded] = field(default_factory=list)
    _joins: int = 0

    def number(self) -> int:
        """That of the next join that is planned."""
        self._joins += 1
        return self._joins

    def narrowed(self, number: int, how: How, conditions: Iterable[Expression], width: int) -> How:
        """The join that emits the rows of a join which meet conditions over both sides, of which
        the left one has this width.
        """
        if how not in _UNMATCHED:
            return how
        left_stays, right_stays = _UNMATCHED[how]
        for condition in conditions:
            places = references(condition)
            left_stays &= not _fails(condition, {place for place in places if place >= width})
            right_stays &= not _fails(condition, {place for place in places if place < width})
        left_was, right_was = _UNMATCHED[how]
        left = left_was and (left_stays or (number, "left") in self.keeps)
        right = right_was and (right_stays or (number, "right") in self.keeps)
        self.dropped += [(number, "left")] if left_was > left else []
        self.dropped += [(number, "right")] if right_was > right else []
        return _HOW[left, right]

    def without(self, node: Node, conditions: Sequence[Expression]) -> Node:
        """The rows of a node, perhaps without some that do not meet the conditions: regular joins
        emit no unmatched rows that they drop.
        """
        match node:
            case Project(input=below, expressions=expressions):
                moved = [part for each in conditions for part in fused([each], expressions) or ()]
                return replace(node, input=self.without(below, moved))
            case Filter(input=below):
                return replace(node, input=self.without(below, conditions))
            case RegularJoin(how="inner" | "left" | "right" | "full"):
                return self._join_without(node, conditions)
        return node

    def _join_without(self, node: RegularJoin, conditions: Sequence[Expression]) -> RegularJoin:
        """Rows that a side's own joins pad are dropped with the pairs that they are in."""
        width = len(node.left.edge.columns)
        whole = [
            over(each, lambda ref: replace(ref, index=node.given[ref.index])) for each in conditions
        ]
        places = [references(each) for each in whole]
        of_left = [c for c, read in zip(whole, places, strict=True) if read and max(read) < width]
        of_right = [c for c, read in zip(whole, places, strict=True) if read and min(read) >= width]
        how = self.narrowed(node.number, node.how, whole, width)
        return replace(
            node,
            how=how,
            padded_as=node.padded_as if how == node.how else node.padded_as or node.how,
            left=self.without(node.left, of_left),
            right=self.without(node.right, [shifted(each, -width) for each in of_right]),
        )


def _fails(condition: Expression, missing: set[int]) -> bool:
    """Whether a condition is not true if all of the missing columns are NULL."""
    if _is_null(condition, missing):
        return True
    match condition:
        case Call(function=function, args=args) if function.name == "AND":
            return any(_fails(each, missing) for each in args)
        case Call(function=function, args=args) if function.name == "OR":
            return all(_fails(each, missing) for each in args)
        case Call(function=function, args=(Call(function=inner, args=(tested,)),)):
            return function.name == "NOT" and inner.name == "IS NULL" and _is_null(tested, missing)
    return False


def _is_null(value: Expression, missing: set[int]) -> bool:
    match value:
        case Ref(index=place):
            return place in missing
        case Literal(value=None):
            return True
        case Cast(operand=operand) | FieldAccess(operand=operand):
            return _is_null(operand, missing)
        case Call(function=function, args=args) if (
            function.name in _OF_ANY or function.name == "NOT"
        ):
            return any(_is_null(each, missing) for each in args)
        case Call(function=function, args=(first, *_)) if function.name in _OF_FIRST:
            return _is_null(first, missing)
    return False
