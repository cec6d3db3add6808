"""Where upserts get the rows that they replace: at every table that sends upserts, unless what
reads it replaces rows by the same key itself. The same operator drops changes that a table sends
more than once.
"""

from __future__ import annotations

from dataclasses import replace

from tidemark.catalog.tables import Changelog
from tidemark.plan.expressions import Expression, UserCall, walk
from tidemark.plan.nodes import AssignWatermark, ChangelogNormalize, Filter, Node, Project, project
from tidemark.plan.scalars.fusion import fused


def normalized(rows: Node) -> ChangelogNormalize:
    """The rows of a table by its primary key, each with the one that it replaces."""
    [key] = rows.edge.keys
    return ChangelogNormalize(rows, tuple(rows.edge.names.index(name) for name in key))


def as_upserts(rows: Node) -> Node:
    """The rows as the upserts that a table sends, for a reader that replaces rows by key.

    Not those that are filtered: if an updated row does not pass, the old one must go.
    """
    match rows:
        case ChangelogNormalize(input=upserts, tests=False):
            return upserts
        case Project(input=below):
            upserts = as_upserts(below)
            return rows if upserts is below else replace(rows, input=upserts)
    return rows


def timed(rows: Node) -> Node:
    """Upserts for a reader that needs the time of each: without deletes that have none, such as a
    record of Kafka without a value, if event time is in the value.
    """
    match rows:
        case AssignWatermark() if rows.edge.changelog is Changelog.UPSERT:
            return replace(rows, drops_untimed=True)
        case Project(input=below):
            return replace(rows, input=timed(below))
    return rows


def result_of(rows: Node) -> Node:
    """The rows as a result: whoever reads it replaces rows by the key, if that is part of it."""
    upserts = as_upserts(rows)
    sends_upserts = upserts.edge.changelog is Changelog.UPSERT
    return upserts if sends_upserts and upserts.edge.keys else rows


def with_conditions(node: Node) -> Node:
    """The plan in which filters of normalized rows are conditions of their operator, as in Flink.
    It emits a delete for an update that does not pass any more, and an insert for one that passes
    for the first time.
    """
    inputs = tuple(map(with_conditions, node.inputs))
    if any(new is not old for new, old in zip(inputs, node.inputs, strict=True)):
        node = node.with_inputs(inputs)
    if not isinstance(node, Filter) or node.not_null or _calls_users(node.condition):
        return node
    return _filtered(node.input, node.condition) or node


def _calls_users(condition: Expression) -> bool:
    """Whether it calls a user's function, which must not get the NULLs of deletes."""
    return any(isinstance(part, UserCall) for part in walk(condition))


def _filtered(rows: Node, condition: Expression) -> Node | None:
    """The rows that pass a condition, if the operator below can test it."""
    match rows:
        case ChangelogNormalize(tests=False):
            below = rows.input
            tested = project(below, [*below.edge.refs, condition], [*below.edge.names, "$passes"])
            return replace(rows, input=tested, tests=True)
        case Project(input=below):
            moved = fused([condition], rows.expressions)
            passing = None if moved is None else _filtered(below, moved[0])
            return None if passing is None else replace(rows, input=passing)
    return None
