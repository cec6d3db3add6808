"""`L [LEFT] JOIN V FOR SYSTEM_TIME AS OF L.ts AS v ON ...`, and its older spellings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Literal

from sqlglot import exp

from tidemark.catalog.tables import Changelog
from tidemark.dialect import span_of
from tidemark.errors import PlanError, Span
from tidemark.functions import BUILT_IN
from tidemark.plan import unsupported
from tidemark.plan.context import Context
from tidemark.plan.expressions import Case, Cast, Expression, Ref
from tidemark.plan.joins.as_of import AsOf
from tidemark.plan.joins.bound import BoundJoin, Conjunct, pairs_of
from tidemark.plan.joins.keys import nullable_scope
from tidemark.plan.joins.sides import JoinSides
from tidemark.plan.nodes import (
    ChangelogNormalize,
    Filter,
    KeepLast,
    Node,
    Project,
    Scan,
    TemporalJoin,
    walk,
)
from tidemark.plan.relation import Relation
from tidemark.plan.scalars import literals
from tidemark.plan.scalars.conversions import apply
from tidemark.plan.scope import Scope
from tidemark.plan.upserts import as_upserts, timed, with_conditions

# --- by event time -----------------------------------------------------------------------------


def applies_by_event_time(join: BoundJoin) -> bool:
    return join.as_of is not None and join.as_of.kind == "event"


def plan_by_event_time(join: BoundJoin, context: Context) -> Relation:
    """The left rows, each with the version that is valid at its event time."""
    assert join.as_of is not None
    how = _how(join)
    _check_versions(join, join.as_of)
    _warn_of_repeated_keys(join.right.node, context)
    right_time, drops_late = join.as_of.versions.time, context.temporal_drops_late
    return _planned(join, join.as_of, how, right_time=right_time, drops_late=drops_late)


def _check_versions(join: BoundJoin, as_of: AsOf) -> None:
    versions, missing = as_of.versions, []
    if versions.key is None:
        missing.append("no primary key")
    if versions.time is None:
        missing.append("no event-time attribute (a WATERMARK)")
    if missing:
        raise PlanError(
            f"`{versions.name}` is not a versioned table: it has {' and '.join(missing)}",
            at=span_of(versions.at),
            hint=(
                "declare PRIMARY KEY (...) NOT ENFORCED and WATERMARK FOR ts AS ... on the table, "
                "or create a view with ROW_NUMBER() OVER (PARTITION BY key ORDER BY ts DESC) = 1"
            ),
        )
    assert versions.time is not None
    mine = join.left.node.edge.columns[as_of.left_time].type
    other = join.right.node.edge.columns[versions.time].type
    if type(mine) is not type(other):
        raise PlanError(
            "both sides of a temporal join must have the same type of event time",
            at=span_of(as_of.time),
            notes={"left": mine.text(), "right": other.text()},
        )


def _warn_of_repeated_keys(right: Node, context: Context) -> None:
    """A primary key should occur only once, but an append-only source does not retract rows."""
    for node in walk(right):
        if not isinstance(node, Scan) or node.edge.changelog is not Changelog.APPEND:
            continue
        if node.table.primary_key is not None:
            keys = ", ".join(node.table.primary_key.columns)
            context.warn(
                f"`{node.table.name}` is append-only, so each row of its primary key ({keys}) "
                "becomes a new version, although a primary key is unique. If that is intended, "
                "use a view that keeps the last row of each key"
            )


# --- by processing time ------------------------------------------------------------------------


def applies_by_processing_time(join: BoundJoin) -> bool:
    return join.as_of is not None and join.as_of.kind == "processing"


def plan_by_processing_time(join: BoundJoin, context: Context) -> Relation:
    """The left rows, each with the version that is current when it arrives. If the right side is a
    table, not a temporal table function, left rows wait until it has been loaded.
    """
    assert join.as_of is not None
    how, versions = _how(join), join.as_of.versions
    if versions.key is None:
        raise PlanError(
            f"`{versions.name}` has no key to keep the latest row of",
            at=span_of(versions.at),
            hint="declare PRIMARY KEY (...) NOT ENFORCED on the table, or make a view with "
            "ROW_NUMBER() OVER (PARTITION BY key ORDER BY ts DESC) = 1",
        )
    waits = None if versions.of_function else join.as_of.load_idle_ms
    return _planned(join, join.as_of, how, load_idle_ms=waits)


# --- both --------------------------------------------------------------------------------------

JoinType = Literal["inner", "left"]


def _how(join: BoundJoin) -> JoinType:
    if join.how == "inner" or join.how == "left":
        return join.how
    raise unsupported.OUTER_TEMPORAL_JOIN.error(span_of(join.at), join.how.upper())


@dataclass(frozen=True, slots=True)
class _Condition:
    """The key columns, in which NULLs are equal; the rest of the condition, which is tested on
    joined rows; and the conditions of WHERE that are met this way. Without ON, the condition is
    that of WHERE.
    """

    left: tuple[Expression, ...]
    right: tuple[Expression, ...]
    residual: Expression | None
    met: tuple[exp.Expression, ...]

    @classmethod
    def of(cls, join: BoundJoin) -> _Condition:
        pairs = pairs_of(join.on or join.where)
        rest = [one for one in join.on if one.pair is None]
        return cls(
            tuple(mine for mine, _, _ in pairs),
            tuple(theirs for _, theirs, _ in pairs),
            reduce(partial(_both, join.at), [one.bound for one in rest]) if rest else None,
            () if join.on else tuple(one.written for one in join.where if one.pair is not None),
        )


def _both(at: exp.Expression, one: Expression, other: Expression) -> Expression:
    return apply(BUILT_IN["AND"], [one, other], at)


def _matched(join: BoundJoin, as_of: AsOf) -> _Condition:
    """The condition, which must use the whole primary key."""
    conjuncts = join.on or join.where
    if not conjuncts:
        raise PlanError("a temporal join requires a condition on the key", at=span_of(join.at))
    matched, versions = _Condition.of(join), as_of.versions
    names = join.right.node.edge.names
    bare = [e.operand if isinstance(e, Cast) and e.implicit else e for e in matched.right]
    compared = {names[e.index] for e in bare if isinstance(e, Ref)}
    missing = [name for name in versions.key or () if name not in compared]
    if missing:
        raise PlanError(
            f"a temporal join must use the whole primary key of `{versions.name}`",
            at=_together(conjuncts),
            notes={"primary key": f"({', '.join(versions.key or ())})"},
            hint="add " + " AND ".join(f"... = {versions.name}.{name}" for name in missing),
        )
    return matched


def _together(conjuncts: tuple[Conjunct, ...]) -> Span | None:
    """The span from the first to the last."""
    first, last = span_of(conjuncts[0].written), span_of(conjuncts[-1].written)
    return first | last if first is not None and last is not None else first


def _planned(
    join: BoundJoin,
    as_of: AsOf,
    how: JoinType,
    *,
    right_time: int | None = None,
    load_idle_ms: int | None = None,
    drops_late: bool = False,
) -> Relation:
    matched = _matched(join, as_of)
    left, right = join.left, join.right
    # By the same key, which the condition compares.
    versions = as_upserts(with_conditions(_changing(right.node)))
    if right_time is not None:
        versions = timed(versions)
    sides = JoinSides.of(left.node, versions, (matched.left, matched.right), (), how)
    joined = TemporalJoin(
        left=sides.left,
        right=sides.right,
        left_keys=sides.left_keys,
        right_keys=sides.right_keys,
        nulls_equal=(True,) * len(sides.left_keys),  # as in Flink, although ON has `=`
        how=how,
        left_time=as_of.left_time,
        right_time=right_time,
        retractions_overwrite=_retractions_overwrite(versions),
        load_idle_ms=load_idle_ms,
        drops_late=drops_late,
    )
    padded, rows = how == "left", sides.finished(joined)
    if matched.residual is not None:
        rows = _tested(rows, matched.residual, len(left.node.edge.columns), padded)
    return Relation(rows, left.scope + nullable_scope(right.scope, padded), matched.met)


def _changing(node: Node) -> Node:
    """The same rows with all changes that lead to them, each of which is a version."""
    if isinstance(node, KeepLast):
        return replace(node, at_end=False)
    if isinstance(node, Filter | Project):
        return replace(node, input=_changing(node.input))
    return node


def _tested(joined: Node, residual: Expression, width: int, padded: bool) -> Node:
    """Test the rest of the condition. A left join keeps the row, but with NULLs for the version."""
    if not padded:
        return Filter(joined, residual)
    scope = Scope.of(joined.edge)
    columns: list[Expression] = []
    for index, column in enumerate(joined.edge.columns):
        ref = scope.ref(index)
        if index < width:
            columns.append(ref)
        else:
            nothing = literals.null(column.type)
            columns.append(Case(((residual, ref),), nothing, column.type, pads=True))
    return Project(joined, tuple(columns), joined.edge.names)


def _retractions_overwrite(node: Node) -> bool:
    """Whether a `-U` replaces the version that it retracts.

    Versions replace one another, so usually a `-U` is redundant. Flink keeps it after a filter,
    which may drop the `+U` that belongs to it; there it ends its version.
    """
    filtered = False
    while True:
        match node:
            case KeepLast() | ChangelogNormalize():
                return filtered
            case Filter(input=below):
                filtered, node = True, below
            case Project(input=below):
                node = below
            case _:
                return False
