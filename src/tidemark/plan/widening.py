"""Plans whose joins keep columns that the query no longer needs, because their state has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tidemark.plan.early_filters import moved_before, with_early_filters
from tidemark.plan.kept_state import KeptState, Rows
from tidemark.plan.nodes.base import Node
from tidemark.plan.nodes.edge import Edge
from tidemark.plan.nodes.join import Join
from tidemark.plan.nodes.narrowing import pruned
from tidemark.plan.operator_ids import OperatorIds, kind_of
from tidemark.plan.upserts import with_conditions


def widened(whole: Node, kept: Sequence[KeptState]) -> Node:
    """The plan `whole` without columns that neither the query nor the state has."""
    known = {state.id: state for state in kept}
    filtered = with_conditions(with_early_filters(whole, moved_before(kept)))
    return pruned(_keeping(filtered, OperatorIds(), known))


def _keeping(node: Node, ids: OperatorIds, kept: Mapping[str, KeptState]) -> Node:
    node = node.with_inputs([_keeping(below, ids, kept) for below in node.inputs])
    kind = kind_of(node)
    state = None if kind is None else kept.get(ids.next(kind))
    if state is None or not isinstance(node, Join):
        return node
    return replace(node, also=_places(node, state.rows))


def _places(node: Join, rows: tuple[Rows, ...]) -> tuple[int, ...]:
    """The positions of the kept columns among those that the join can emit."""
    of_left = _of_side(node.left.edge, rows[0])
    width = len(node.left.edge.columns)
    of_right = tuple(width + place for place in _of_side(node.right.edge, rows[1]))
    both = of_left if node.how in ("semi", "anti") else (*of_left, *of_right)
    if node.output is None:
        return both
    return tuple(node.output.index(place) for place in both if place in node.output)


def _of_side(edge: Edge, rows: Rows) -> tuple[int, ...]:
    wanted = {column.name for column in rows}
    return tuple(place for place, name in enumerate(edge.names) if name in wanted)
