"""Updates without the rows that they replace, as in Flink: for a sink that replaces rows by the
same key, or ignores those that are replaced. Operators have half as much to emit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tidemark.catalog.tables import Changelog, Table
from tidemark.plan.context import Context
from tidemark.plan.expressions import Expression
from tidemark.plan.nodes import GroupAggregate, KeepLast, Node, Project, TopN
from tidemark.plan.upsert_keys import same_value

# Places of columns; None if any rows will do.
Key = frozenset[int] | None


def for_sink(rows: Node, table: Table, context: Context) -> Node:
    """The rows of a query as its sink needs them."""
    if not context.writes or not context.traits(table, "write").updates_alone:
        return rows
    if table.primary_key is None:
        return _upserts(rows, None)
    return _upserts(rows, frozenset(map(rows.edge.names.index, table.primary_key.columns)))


def _upserts(rows: Node, key: Key) -> Node:
    """The rows as upserts by exactly this key, if the operator that updates them does so by it.

    Filters need the rows that are replaced: if an update does not pass, the old row must go.
    """
    match rows:
        case Project(input=below, expressions=expressions):
            found, under = _below(key, expressions)
            upserts = _upserts(below, under) if found else below
            return rows if upserts is below else replace(rows, input=upserts)
        case GroupAggregate(distinct=False) | KeepLast() | TopN(by="ROW_NUMBER"):
            if rows.edge.changelog is Changelog.RETRACT and _is_updated_by(rows, key):
                return replace(rows, upserts=True)
    return rows


def _below(key: Key, expressions: Sequence[Expression]) -> tuple[bool, Key]:
    """Whether a projection passes on the columns of the key, and which ones they are."""
    if key is None:
        return True, None
    columns = [same_value(expressions[place]) for place in key]
    return all(columns), frozenset(column.index for column in columns if column is not None)


def _is_updated_by(node: GroupAggregate | KeepLast | TopN, key: Key) -> bool:
    if key is None:
        return True
    return node.updated_by is not None and {node.edge.names[place] for place in key} == {
        *node.updated_by
    }
