"""The right side of a lookup join, if it is a table: its rows, computed of those that are found."""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.plan.expressions import Expression, Ref, over
from tidemark.plan.nodes import AssignWatermark, Filter, Node, Project, Scan


@dataclass(frozen=True, slots=True)
class LookedUp:
    """A table under projections and filters: for each column above what it is of the table's, and
    the conditions that the table's rows meet.
    """

    scan: Scan
    columns: tuple[Expression, ...]
    conditions: tuple[Expression, ...] = ()

    @classmethod
    def of(cls, node: Node) -> LookedUp | None:
        """None if the rows are not those of a single table, one by one."""
        match node:
            case Scan():
                return cls(node, node.edge.refs)
            case Filter(input=input_, condition=condition):
                below = cls.of(input_)
                return below and below._with(below.columns, below._of_table(condition))
            case Project(input=input_, expressions=expressions):
                below = cls.of(input_)
                return below and below._with(tuple(map(below._of_table, expressions)))
            case AssignWatermark(input=input_):
                return cls.of(input_)
        return None

    def _of_table(self, expression: Expression) -> Expression:
        return over(expression, lambda ref: self.columns[ref.index])

    def _with(self, columns: tuple[Expression, ...], *conditions: Expression) -> LookedUp:
        return LookedUp(self.scan, columns, (*self.conditions, *conditions))

    def place(self, column: int) -> int | None:
        """The position in the table of a column above; None if it is computed."""
        value = self.columns[column]
        return value.index if isinstance(value, Ref) else None


def without_watermark(node: Node) -> Node:
    """The rows without the watermark of their table: those that are looked up have no order."""
    match node:
        case AssignWatermark(input=below):
            return without_watermark(below)
        case Filter(input=below) | Project(input=below):
            return node.with_inputs([without_watermark(below)])
    return node
