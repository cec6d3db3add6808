"""Groups of one row each, because the query groups by a unique key. As in Flink they need no state,
and a change of the row is a change of the group: not its end and a new beginning.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.plan.expressions import Cast, Expression
from tidemark.plan.nodes import AggregateCall, Node, project

_OF_ONE_VALUE = ("SUM", "MIN", "MAX")  # those that are the value itself


def ungrouped(rows: Node, keys: Sequence[int], calls: Sequence[AggregateCall]) -> Node | None:
    """The rows of such a grouping, with the columns that its groups would have."""
    if not has_one_row(rows, keys) or not all(_is_value(call, rows) for call in calls):
        return None
    of_keys: list[Expression] = [rows.edge.ref(key) for key in keys]
    results = [_value(call, rows) for call in calls]
    names = [rows.edge.names[key] for key in keys]
    return project(
        rows, [*of_keys, *results], [*names, *(f"$result{n}" for n in range(len(calls)))]
    )


def has_one_row(rows: Node, keys: Sequence[int]) -> bool:
    """Whether no two rows have the same values in these columns."""
    names = {rows.edge.names[key] for key in keys}
    return any(names.issuperset(unique) for unique in rows.edge.keys)


def _is_value(call: AggregateCall, rows: Node) -> bool:
    if call.user is not None or call.filter is not None or call.function not in _OF_ONE_VALUE:
        return False
    # The newest time of a group is a time attribute, and makes it a versioned table.
    return rows.edge.columns[call.arguments[0]].time is None


def _value(call: AggregateCall, rows: Node) -> Expression:
    value = rows.edge.ref(call.arguments[0])
    return value if value.type == call.type else Cast(value, call.type)
