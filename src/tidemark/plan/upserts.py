"""Where upserts get the rows that they replace: at every table that sends upserts, unless what
reads it replaces rows by the same key itself.
"""

from __future__ import annotations

from dataclasses import replace

from tidemark.plan.nodes import ChangelogNormalize, Node, Project


def normalized(rows: Node) -> ChangelogNormalize:
    """The rows of a table that sends upserts by its primary key, as a changelog of whole rows."""
    [key] = rows.edge.keys
    return ChangelogNormalize(rows, tuple(rows.edge.names.index(name) for name in key))


def as_upserts(rows: Node) -> Node:
    """The rows as the upserts that a table sends, for a reader that replaces rows by key.

    A filter needs whole changes: if an updated row does not pass it, the old one must go.
    """
    match rows:
        case ChangelogNormalize(input=upserts):
            return upserts
        case Project(input=below):
            upserts = as_upserts(below)
            return rows if upserts is below else replace(rows, input=upserts)
    return rows


def result_of(rows: Node) -> Node:
    """The rows as a result: whoever reads it replaces rows by the key, if that is part of it."""
    upserts = as_upserts(rows)
    return upserts if upserts.edge.keys else rows
