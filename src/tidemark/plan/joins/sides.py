"""The two sides of a join with their keys and its condition, and its output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from tidemark.plan.expressions import Expression, over
from tidemark.plan.joins.keys import with_keys
from tidemark.plan.joins.pair_conditions import evaluates, prepared
from tidemark.plan.nodes import How, Node, filtered, project
from tidemark.plan.scope import Scope

# A part of a condition, and its SQL.
Part = tuple[Expression, exp.Expression]


@dataclass(frozen=True, slots=True)
class JoinSides:
    """Both inputs of a join, which may have more columns than the query sees: its keys and what
    its condition needs come after their own. An inner join's condition is evaluated above it;
    in other joins it decides which rows match, so it goes into the operator. An inner join without
    keys would emit each row with all rows of the other side: what the operator can evaluate, it
    tests before.
    """

    left: Node
    right: Node
    left_keys: tuple[int, ...]
    right_keys: tuple[int, ...]
    condition: Expression | None
    how: How
    widths: tuple[int, int]
    above: tuple[Part, ...]

    @classmethod
    def of(
        cls,
        left: Node,
        right: Node,
        keys: tuple[Sequence[Expression], Sequence[Expression]],
        rest: tuple[Part, ...],
        how: How,
        known: tuple[Part, ...] = (),
    ) -> JoinSides:
        """`known` is tested above this join too."""
        widths = len(left.edge.columns), len(right.edge.columns)
        condition = None
        inside, above = rest, tuple[Part, ...]()
        if how == "inner":
            can = () if keys[0] else tuple(part for part in rest if evaluates(part, widths[0]))
            above = tuple(part for part in rest if part not in can)
            inside = () if keys[0] else (*can, *(p for p in known if evaluates(p, widths[0])))
        if inside:
            tested = prepared(left, right, inside)
            left, right, condition = tested.left, tested.right, tested.condition
        before = len(left.edge.columns)
        left, left_keys = with_keys(left, keys[0])
        right, right_keys = with_keys(right, keys[1])
        grown = len(left.edge.columns) - before
        if condition is not None:
            condition = over(
                condition,
                lambda r: replace(r, index=r.index + grown if r.index >= before else r.index),
            )
        return cls(left, right, left_keys, right_keys, condition, how, widths, above)

    def finished(self, joined: Node) -> Node:
        """The rows of the operator with the columns that the query sees."""
        offset = len(self.left.edge.columns)
        kept = [*range(self.widths[0])]
        if self.how not in ("semi", "anti"):
            kept += range(offset, offset + self.widths[1])
        scope, names = Scope.of(joined.edge), joined.edge.names
        rows: Node = project(joined, [scope.ref(i) for i in kept], [names[i] for i in kept])
        return filtered(rows, [test for test, _ in self.above])
