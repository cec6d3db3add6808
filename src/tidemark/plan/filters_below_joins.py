"""Filters above joins, moved below them as in Flink: a join does not keep rows that a filter of one
side drops anyway.

What a side's rows have passed is a part of what the join's state means. A job that resumes moves
the conditions that its checkpoint says, and no others.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tidemark.plan.conjunctions import conjunction, conjuncts
from tidemark.plan.expressions import Expression, may_differ, over, references, shifted
from tidemark.plan.kept_state import KeptState
from tidemark.plan.nodes import (
    Edge,
    Filter,
    IntervalJoin,
    Join,
    LateColumns,
    LookupJoin,
    Node,
    Project,
    RegularJoin,
    SnapshotJoin,
    TemporalJoin,
    filtered,
)
from tidemark.plan.nodes import walk as nodes_of
from tidemark.plan.nodes.join import PASSED, Passed
from tidemark.plan.nodes.state import plain
from tidemark.plan.scalars.fusion import fused
from tidemark.plan.words import words

# The right rows of other joins are versions: without some, others would be valid for longer.
_BOTH_SIDES: Final = (RegularJoin, IntervalJoin)
_LEFT_SIDE: Final = (*_BOTH_SIDES, TemporalJoin, SnapshotJoin)

_Conditions = Sequence[Expression]

_LEFT, _RIGHT = 0, 1
# The sides whose rows appear as they are in the output, so a filter above can drop them before.
_AS_THEY_ARE: Final = {
    "inner": (_LEFT, _RIGHT),
    "left": (_LEFT,),
    "right": (_RIGHT,),
    "full": (),
    "semi": (_LEFT,),
    "anti": (_LEFT,),
}
# The sides whose rows only matter if they meet the join's own condition.
_MATCHED: Final = {
    "inner": (_LEFT, _RIGHT),
    "left": (_RIGHT,),
    "right": (_LEFT,),
    "full": (),
    "semi": (_LEFT, _RIGHT),
    "anti": (_RIGHT,),
}


def with_filters_below_joins(root: Node, only: Collection[str] | None = None) -> Node:
    """The plan with what its filters ask of one side of a join below that join. `only` are the
    conditions that may be moved there, as `moved_before` returns them.
    """
    return _Moving(only).below(root)


def moved_before(kept: Iterable[KeptState]) -> frozenset[str]:
    """The conditions that the rows of a checkpoint's joins have passed."""
    return frozenset(
        _as_json(passed["condition"])
        for state in kept
        for name in PASSED
        for passed in state.meaning.get(name, ())
    )


@dataclass(frozen=True, slots=True)
class _Moving:
    only: Collection[str] | None

    def below(self, node: Node) -> Node:
        """The node over inputs whose filters have been moved."""
        return self.into(node, ())[0]

    def into(self, node: Node, asked: _Conditions) -> tuple[Node, list[bool]]:
        """A node, with those of the conditions above it that could be moved below joins, and
        which these are.
        """
        match node:
            case Filter(not_null=()):
                return self._past_filter(node, asked)
            case Project():
                return self._past_projection(node, asked)
            case LookupJoin():
                return self._past_lookup(node, asked)
            case Join() if isinstance(node, _LEFT_SIDE):
                return self._past_join(node, asked)
        inputs = [self.below(below) for below in node.inputs]
        return node.with_inputs(inputs) if inputs else node, [False] * len(asked)

    def _past_filter(self, node: Filter, asked: _Conditions) -> tuple[Node, list[bool]]:
        """Its own conditions come first: the others may rely on them."""
        own = tuple(conjuncts(node.condition))
        below, moved = self.into(node.input, (*own, *asked))
        rest = [part for part, gone in zip(own, moved, strict=False) if not gone]
        return filtered(below, rest), moved[len(own) :]

    def _past_projection(self, node: Project, asked: _Conditions) -> tuple[Node, list[bool]]:
        known = [fused([part], node.expressions) for part in asked]
        below, moved = self.into(node.input, [part for found in known for part in found or ()])
        gone = iter(moved)
        return replace(node, input=below), [bool(found) and next(gone) for found in known]

    def _past_lookup(self, node: LookupJoin, asked: _Conditions) -> tuple[Node, list[bool]]:
        width, late = len(node.left.edge.columns), _brings_late_rows(node.left)
        moved = [
            not late and not may_differ(part) and _side_of(part, width) == _LEFT for part in asked
        ]
        left = filtered(node.left, [part for part, goes in zip(asked, moved, strict=True) if goes])
        return replace(node, left=self.below(left)), moved

    def _past_join(self, node: Join, asked: _Conditions) -> tuple[Node, list[bool]]:
        both = Edge((*node.left.edge.columns, *node.right.edge.columns))
        sides = _Sides(node, self.only)
        above = [over(part, lambda ref: both.ref(node.given[ref.index])) for part in asked]
        moved = [sides.takes(part, _AS_THEY_ARE[node.how]) for part in above]
        own = () if node.condition is None else tuple(conjuncts(node.condition))
        rest = [part for part in own if not sides.takes(part, _MATCHED[node.how])]
        joined = replace(
            node,
            left=self.below(filtered(node.left, sides.taken[_LEFT])),
            right=self.below(filtered(node.right, sides.taken[_RIGHT])),
            condition=conjunction(rest),
            passed=sides.passed,
        )
        return joined, moved


@dataclass(slots=True)
class _Sides:
    """The sides of a join, and the conditions that each of them takes."""

    join: Join
    only: Collection[str] | None
    taken: tuple[list[Expression], list[Expression]] = field(default_factory=lambda: ([], []))

    def takes(self, condition: Expression, sides: Collection[int]) -> bool:
        """Whether one of the `sides` takes a condition over both: it has all the columns."""
        width = len(self.join.left.edge.columns)
        side = _side_of(condition, width)
        if side not in sides or side not in self._open or may_differ(condition):
            return False
        own = shifted(condition, -width) if side == _RIGHT else condition
        if self.only is not None and self._as_kept(side, own) not in self.only:
            return False
        self.taken[side].append(own)
        return True

    @property
    def _open(self) -> tuple[int, ...]:
        """Not the sides whose late rows are reported: they are so whatever a filter above says."""
        reports = {late.port for late in self.join.late_inputs}
        sides = (_LEFT, _RIGHT) if isinstance(self.join, _BOTH_SIDES) else (_LEFT,)
        return tuple(
            side
            for side in sides
            if side not in reports and not _brings_late_rows(self.join.inputs[side])
        )

    @property
    def passed(self) -> tuple[tuple[Passed, ...], tuple[Passed, ...]]:
        left, right = (
            tuple(Passed(self._as_kept(side, each), words(each)) for each in self.taken[side])
            for side in (_LEFT, _RIGHT)
        )
        return left, right

    def _as_kept(self, side: int, condition: Expression) -> str:
        """A condition as checkpoints have it, by the origins of its columns."""
        origin = self.join.inputs[side].origin
        return _as_json(plain(condition, origin))


def _brings_late_rows(node: Node) -> bool:
    """Whether late rows of operators below come along, of which nothing is asked before they have
    left the query.
    """
    return any(isinstance(each, LateColumns) for each in nodes_of(node))


def _as_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _side_of(condition: Expression, width: int) -> int | None:
    """The side of which a condition reads columns, if it is one; the left one has this width."""
    read = references(condition)
    if not read:
        return None
    if max(read) < width:
        return _LEFT
    return _RIGHT if min(read) >= width else None
