"""Filters above operators, moved below them as in Flink: an operator does not keep rows of which a
filter drops all that it makes of them.

Which filters the rows of an operator have passed is a part of what its state means. A job that
resumes moves the conditions that its checkpoint says, and no others.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tidemark.plan.conjunctions import conjunction, conjuncts
from tidemark.plan.expressions import Expression, may_differ, over, references, shifted
from tidemark.plan.kept_state import FILTERS, KeptState
from tidemark.plan.nodes import (
    Edge,
    Filter,
    GroupAggregate,
    IntervalJoin,
    Join,
    KeepFirst,
    KeepLast,
    LateColumns,
    LookupJoin,
    Node,
    Project,
    RegularJoin,
    SnapshotJoin,
    TemporalJoin,
    TopN,
    UnionAll,
    filtered,
)
from tidemark.plan.nodes import walk as nodes_of
from tidemark.plan.nodes.families import Stateful
from tidemark.plan.nodes.state import Passed, plain
from tidemark.plan.operator_ids import OperatorIds, kind_of
from tidemark.plan.scalars.fusion import fused
from tidemark.plan.words import words

# The right rows of other joins are versions: without some, others would be valid for longer.
_BOTH_SIDES: Final = (RegularJoin, IntervalJoin)
_LEFT_SIDE: Final = (*_BOTH_SIDES, TemporalJoin, SnapshotJoin)

# A condition that rows have passed: the id of an operator, the number of its input whose rows these
# are, and the condition as checkpoints have it.
Moved = tuple[str, int, str]

_Conditions = Sequence[Expression]
_Keyed = GroupAggregate | KeepFirst | KeepLast | TopN

_LEFT, _RIGHT = 0, 1
_INPUTS: Final = dict(zip(FILTERS, (0, _LEFT, _RIGHT), strict=True))
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


def with_early_filters(root: Node, only: Collection[Moved] | None = None) -> Node:
    """The plan with what its filters ask of the rows of an operator's input below that operator.
    `only` are the conditions that may be moved there, as `moved_before` returns them.
    """
    return _Moving(only, iter(_ids(root, OperatorIds()))).below(root)


def moved_before(kept: Iterable[KeptState]) -> frozenset[Moved]:
    """The conditions that the rows of a checkpoint's operators have passed."""
    return frozenset(
        (state.id, number, _as_json(passed["condition"]))
        for state in kept
        for name, number in _INPUTS.items()
        for passed in state.meaning.get(name, ())
    )


def _ids(node: Node, ids: OperatorIds) -> list[str]:
    """The ids of the operators, each before those below it: in the order in which they are met."""
    below = [each for rows in node.inputs for each in _ids(rows, ids)]
    kind = kind_of(node)
    return below if kind is None else [ids.next(kind), *below]


@dataclass(frozen=True, slots=True)
class _Moving:
    only: Collection[Moved] | None
    ids: Iterator[str]  # of the operators that have not been met yet

    def below(self, node: Node) -> Node:
        """The node over inputs whose filters have been moved."""
        return self.into(node, ())[0]

    def into(self, node: Node, asked: _Conditions) -> tuple[Node, list[bool]]:
        """A node, with those of the conditions above it that could be moved below operators, and
        which these are.
        """
        id_ = None if kind_of(node) is None else next(self.ids)
        match node:
            case Filter(not_null=()):
                return self._past_filter(node, asked)
            case Project():
                return self._past_projection(node, asked)
            case UnionAll():
                return self._past_union(node, asked)
            case LookupJoin():
                return self._past_lookup(node, asked)
            case Join() if isinstance(node, _LEFT_SIDE):
                return self._past_join(node, asked, _Taken(node, id_, self.only))
            case GroupAggregate() | KeepFirst() | KeepLast() | TopN():
                return self._past_keys(node, asked, _Taken(node, id_, self.only))
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

    def _past_union(self, node: UnionAll, asked: _Conditions) -> tuple[Node, list[bool]]:
        """If a condition moves in one branch, it filters the others where they begin."""
        of_branches = [[_of(each.edge, part) for part in asked] for each in node.branches]
        found = [self.into(*each) for each in zip(node.branches, of_branches, strict=True)]
        moved = [any(each) for each in zip(*(gone for _, gone in found), strict=True)]
        branches = [
            filtered(
                rows, [p for p, mine, any_ in zip(parts, gone, moved, strict=True) if any_ > mine]
            )
            for (rows, gone), parts in zip(found, of_branches, strict=True)
        ]
        return node.with_inputs(branches), moved

    def _past_lookup(self, node: LookupJoin, asked: _Conditions) -> tuple[Node, list[bool]]:
        width, late = len(node.left.edge.columns), _brings_late_rows(node.left)
        moved = [
            not late and not may_differ(part) and _side_of(part, width) == _LEFT for part in asked
        ]
        left = filtered(node.left, [part for part, goes in zip(asked, moved, strict=True) if goes])
        return replace(node, left=self.below(left)), moved

    def _past_join(self, node: Join, asked: _Conditions, taken: _Taken) -> tuple[Node, list[bool]]:
        width = len(node.left.edge.columns)
        both = Edge((*node.left.edge.columns, *node.right.edge.columns))

        def takes(condition: Expression, sides: Collection[int]) -> bool:
            side = _side_of(condition, width)
            if side is None or side not in sides:
                return False
            if side == _RIGHT and not isinstance(node, _BOTH_SIDES):
                return False
            return taken.takes(side, shifted(condition, -width) if side == _RIGHT else condition)

        above = [over(part, lambda ref: both.ref(node.given[ref.index])) for part in asked]
        moved = [takes(part, _AS_THEY_ARE[node.how]) for part in above]
        own = () if node.condition is None else tuple(conjuncts(node.condition))
        rest = [part for part in own if not takes(part, _MATCHED[node.how])]
        joined = taken.node_over([self.below(each) for each in taken.inputs])
        assert isinstance(joined, Join)
        return replace(joined, condition=conjunction(rest)), moved

    def _past_keys(
        self, node: _Keyed, asked: _Conditions, taken: _Taken
    ) -> tuple[Node, list[bool]]:
        """What is asked of the keys holds for all rows of a key, or for none."""
        keys, edge = _key_places(node), node.input.edge

        def takes(condition: Expression) -> bool:
            read = references(condition)
            if not read or not read <= keys.keys():
                return False
            return taken.takes(0, over(condition, lambda ref: edge.ref(keys[ref.index])))

        moved = [takes(part) for part in asked]
        return taken.node_over([self.below(each) for each in taken.inputs]), moved


def _of(edge: Edge, condition: Expression) -> Expression:
    """A condition over rows with the same columns."""
    return over(condition, lambda ref: edge.ref(ref.index))


def _key_places(node: _Keyed) -> dict[int, int]:
    """Where the keys are in the output, and where in the input."""
    match node:
        case GroupAggregate(keys=keys):
            return dict(enumerate(keys))
        case KeepLast(given=given, keys=keys):
            return {place: below for place, below in enumerate(given) if below in keys}
    return {key: key for key in node.keys}


@dataclass(slots=True)
class _Taken:
    """An operator, and the conditions that each of its inputs takes from above."""

    node: Node
    id_: str | None
    only: Collection[Moved] | None
    conditions: list[list[Expression]] = field(init=False)

    def __post_init__(self) -> None:
        self.conditions = [[] for _ in self.node.inputs]

    def takes(self, number: int, condition: Expression) -> bool:
        """Whether an input takes a condition. Not if late rows of it are reported: they are so
        whatever a filter above says.
        """
        if may_differ(condition) or _brings_late_rows(self.node.inputs[number]):
            return False
        if any(late.port == number for late in self.node.late_inputs):
            return False
        moved = (self.id_, number, self._passed(number, condition).condition)
        if self.only is not None and moved not in self.only:
            return False
        self.conditions[number].append(condition)
        return True

    @property
    def inputs(self) -> list[Node]:
        return [filtered(*each) for each in zip(self.node.inputs, self.conditions, strict=True)]

    def node_over(self, inputs: Sequence[Node]) -> Node:
        """The operator over the inputs, which knows what their rows have passed."""
        node = self.node.with_inputs(inputs)
        if not any(self.conditions):
            return node
        assert isinstance(node, Stateful)
        passed = tuple(
            tuple(self._passed(number, each) for each in conditions)
            for number, conditions in enumerate(self.conditions)
        )
        return replace(node, passed=passed)

    def _passed(self, number: int, condition: Expression) -> Passed:
        """A condition as checkpoints have it, by the origins of its columns."""
        by_origins = plain(condition, self.node.inputs[number].origin)
        return Passed(_as_json(by_origins), words(condition))


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
