"""Processing times of rows that change, which operators cannot keep: a retraction has the time of
its own arrival, so that it equals no row that was there before.
"""

from __future__ import annotations

from sqlglot import exp

from tidemark import functions
from tidemark.plan.expressions import Expression
from tidemark.plan.nodes import Node, project
from tidemark.plan.scalars import literals
from tidemark.plan.scalars.conversions import apply


def changing_times(rows: Node) -> frozenset[int]:
    """The positions of the processing times, if the rows change."""
    columns = enumerate(rows.edge.columns) if rows.edge.changes else ()
    return frozenset(place for place, column in columns if column.time == "processing")


def without_times(rows: Node) -> Node:
    """The rows with NULL for their processing times if they change, so that retractions equal the
    rows that they retract.
    """
    times = changing_times(rows)
    if not times:
        return rows
    columns = enumerate(rows.edge.refs)
    expressions = [literals.null(ref.type) if place in times else ref for place, ref in columns]
    return project(rows, expressions, rows.edge.names)


def with_times(rows: Node, times: frozenset[int]) -> Node:
    """The rows with their processing times again: as in Flink, those at which they get here."""
    if not times:
        return rows
    now = apply(functions.BUILT_IN["PROCTIME"], [], exp.Null())
    columns = enumerate(rows.edge.refs)
    expressions: list[Expression] = [now if place in times else ref for place, ref in columns]
    return project(rows, expressions, rows.edge.names)
