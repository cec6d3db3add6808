"""USING and NATURAL: columns of both sides that must be equal, and become one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from tidemark import functions
from tidemark.dialect import span_of
from tidemark.errors import PlanError
from tidemark.plan.expressions import Expression, Ref, shifted
from tidemark.plan.nodes import How, project
from tidemark.plan.relation import Relation
from tidemark.plan.scalars.conversions import apply, common_type, convert
from tidemark.plan.scope import Scope, Visible


@dataclass(frozen=True, slots=True)
class Merged:
    """A column of each side under one name, both as columns of the join."""

    name: str
    left: Ref
    right: Ref
    written: exp.Expression

    def value(self, how: How) -> Expression:
        """The column that both become: that of a side that is not padded, NOT NULL if any is."""
        type_ = common_type([self.left, self.right], "the columns of USING", self.written)
        sides = [convert(side, type_) for side in (self.left, self.right)]
        if how == "full":
            return apply(functions.BUILT_IN["COALESCE"], sides, self.written)
        return sides[how == "right" or (how == "inner" and not self.right.type.nullable)]


def merged_columns(join: exp.Join, left: Relation, right: Relation) -> tuple[Merged, ...]:
    """The columns that USING names, or that both sides of NATURAL have."""
    width = len(left.scope.visible)
    found = []
    for name, written in _names(join, left.scope, right.scope):
        mine, theirs = (_column(side.scope, name, written) for side in (left, right))
        moved = shifted(theirs, width)
        assert isinstance(moved, Ref)
        found.append(Merged(name, mine, moved, written))
    return tuple(found)


def _names(join: exp.Join, left: Scope, right: Scope) -> list[tuple[str, exp.Expression]]:
    if join.args.get("method") == "NATURAL":
        names = (v.column.name for v in left.visible if v.is_called(v.column.name))
        return [(name, join.this) for name in dict.fromkeys(names) if right.has_column(name)]
    return [(column.name, column) for column in join.args.get("using") or ()]


def _column(scope: Scope, name: str, written: exp.Expression) -> Ref:
    found = scope.resolve((name,), span_of(written))
    if not isinstance(found, Ref):
        raise PlanError(f"`{name}` is not a column", at=span_of(written))
    return found


def with_merged(joined: Relation, columns: tuple[Merged, ...], how: How) -> Relation:
    """The rows of a join with the columns that were made of two in front. Those they were made of
    are still there for qualified names.
    """
    if not columns:
        return joined
    scope, edge = joined.scope, joined.node.edge
    refs = [scope.ref(place) for place in range(len(scope.visible))]
    padded = [
        replace(c, left=refs[c.left.index], right=refs[c.right.index]).value(how) for c in columns
    ]
    names = [column.name for column in columns]
    node = project(joined.node, [*padded, *refs], [*names, *edge.names])
    sources = {place for column in columns for place in (column.left.index, column.right.index)}
    own = (Visible((), column) for column in node.edge.columns[: len(columns)])
    others = (
        replace(visible, by="qualified name") if place in sources else visible
        for place, visible in enumerate(scope.visible)
    )
    return replace(joined, node=node, scope=Scope((*own, *others)))
