"""`L [LEFT] JOIN V FOR SYSTEM_TIME AS OF L.ts AS v ON ...`, and its older spellings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from tidemark.catalog.options import LOAD_PHASE
from tidemark.catalog.tables import Changelog, TemporalFunction
from tidemark.dialect import nodes, span_of
from tidemark.errors import NotSupported, PlanError
from tidemark.plan.context import Context
from tidemark.plan.expressions import Case, Cast, Expression, Ref
from tidemark.plan.joins.keys import key_pair, nullable_scope, with_keys
from tidemark.plan.nodes import Filter, KeepLast, Node, Project, Scan, TemporalJoin, project, walk
from tidemark.plan.relation import Relation
from tidemark.plan.scalars import literals
from tidemark.plan.scalars.conditions import flattened
from tidemark.plan.scope import Scope

JoinType = Literal["inner", "left"]

UNSUPPORTED = {
    "RIGHT": "a version without a left row has no time to join at",
    "FULL": "a version without a left row has no time to join at",
}


def is_temporal(relation: exp.Expression, context: Context) -> bool:
    """Whether a relation on the right of a join asks for a version of a table."""
    if relation.args.get("as_of") is not None:
        return True
    return _function_of(relation, context) is not None


def _function_of(relation: exp.Expression, context: Context) -> TemporalFunction | None:
    call = relation.this if isinstance(relation, exp.Lateral) else relation
    if not isinstance(call, nodes.TableFunction):
        return None
    return context.catalogs.temporal_functions.get(call.name.lower())


@dataclass(frozen=True, slots=True)
class _Versions:
    """The right side: its rows, the time to ask for, and what makes it versioned."""

    relation: Relation
    as_of: exp.Expression
    key: tuple[str, ...] | None
    time: int | None
    name: str


def bind_temporal_join(
    left: Relation, join: exp.Join, where: exp.Expression | None, context: Context
) -> Relation:
    """The rows of `left`, each with the version that is valid at its time."""
    side = join.args.get("side") or "INNER"
    if side in UNSUPPORTED:
        raise NotSupported(
            f"{side} temporal joins are not supported",
            at=span_of(join),
            notes={"why": UNSUPPORTED[side]},
            hint="swap the sides: put the versioned table on the right of a LEFT JOIN",
        )
    versions = _versions(join.this, context)
    left_time = _left_time(left, versions, context)
    load_idle_ms = None
    if left.node.edge.columns[left_time].time == "processing":
        load_idle_ms = _load_phase(join, versions, context)
        versions = replace(versions, time=None)
    else:
        _check_event_time(left, left_time, versions, join)
        _warn_of_repeated_keys(versions, context)
    condition = join.args.get("on")
    if condition is None and (join.args.get("kind") == "COMMA" or where is not None):
        condition = where
    if condition is None:
        raise PlanError("a temporal join requires a condition on the key", at=span_of(join))
    matched = _Condition.of(condition, left, versions, context, own=join.args.get("on") is not None)
    matched.check_key(versions, condition)
    how: JoinType = "left" if side == "LEFT" else "inner"
    return _joined(left, left_time, versions, matched, how, load_idle_ms)


# --- the right side ----------------------------------------------------------------------------


def _versions(node: exp.Expression, context: Context) -> _Versions:
    function = _function_of(node, context)
    if function is not None:
        return _function_versions(function, node, context)
    plain = node.copy()
    plain.set("as_of", None)
    relation = context.bind_relation(plain)
    edge = relation.node.edge
    times = [index for index, column in enumerate(edge.columns) if column.time == "event"]
    return _Versions(
        relation=relation,
        as_of=node.args["as_of"],
        key=edge.keys[0] if edge.keys else None,
        time=times[0] if times else None,
        name=_name(node),
    )


def _function_versions(
    function: TemporalFunction, node: exp.Expression, context: Context
) -> _Versions:
    call = node.this if isinstance(node, exp.Lateral) else node
    if len(call.expressions) != 1:
        raise PlanError(
            f"`{function.name}` takes exactly one argument, a time attribute", at=span_of(call)
        )
    table = exp.Table(this=exp.to_identifier(function.table, quoted=True))
    alias = node.args.get("alias") or call.args.get("alias")
    table.set("alias", alias.copy() if alias is not None else None)
    relation = context.bind_relation(table)
    names = relation.node.edge.names
    return _Versions(
        relation=relation,
        as_of=call.expressions[0],
        key=function.primary_key,
        time=names.index(function.time_attribute),
        name=function.name,
    )


def _name(node: exp.Expression) -> str:
    return node.name if isinstance(node, exp.Table) else node.alias or "the right side"


# --- times -------------------------------------------------------------------------------------


def _left_time(left: Relation, versions: _Versions, context: Context) -> int:
    bound = context.binder(left.scope).bind(versions.as_of)
    if isinstance(bound, Ref) and left.node.edge.columns[bound.index].time is not None:
        return bound.index
    times = [c.name for c in left.node.edge.columns if c.time is not None]
    raise PlanError(
        "FOR SYSTEM_TIME AS OF requires a time attribute of the left side",
        at=span_of(versions.as_of),
        notes={"time attributes": ", ".join(times) or "none"},
        hint=None if times else "declare a WATERMARK on the left table",
    )


def _check_event_time(left: Relation, left_time: int, versions: _Versions, join: exp.Join) -> None:
    missing = []
    if versions.key is None:
        missing.append("no primary key")
    if versions.time is None:
        missing.append("no event-time attribute (a WATERMARK)")
    if missing:
        raise PlanError(
            f"`{versions.name}` is not a versioned table: it has {' and '.join(missing)}",
            at=span_of(join.this),
            hint=(
                "declare PRIMARY KEY (...) NOT ENFORCED and WATERMARK FOR ts AS ... on the table, "
                "or create a view with ROW_NUMBER() OVER (PARTITION BY key ORDER BY ts DESC) = 1"
            ),
        )
    assert versions.time is not None
    mine = left.node.edge.columns[left_time].type
    other = versions.relation.node.edge.columns[versions.time].type
    if type(mine) is not type(other):
        raise PlanError(
            "both sides of a temporal join must have the same type of event time",
            at=span_of(versions.as_of),
            notes={"left": mine.text(), "right": other.text()},
        )


def _warn_of_repeated_keys(versions: _Versions, context: Context) -> None:
    """A primary key says that a key comes once, and an append-only source takes no row back."""
    for node in walk(versions.relation.node):
        if not isinstance(node, Scan) or node.edge.changelog is not Changelog.APPEND:
            continue
        if node.table.primary_key is not None:
            keys = ", ".join(node.table.primary_key.columns)
            context.warn(
                f"`{node.table.name}` is append-only, so each row of its primary key ({keys}) "
                "becomes a new version, although a primary key is unique. If that is intended, "
                "use a view that keeps the last row of each key"
            )


def _load_phase(join: exp.Join, versions: _Versions, context: Context) -> int | None:
    """How long a stream that is joined by processing time must be silent to have been loaded; None
    of a temporal table function, which gives what is there."""
    if _function_of(join.this, context) is not None:
        return None
    if context.load_idle_ms is None:
        raise NotSupported(
            "a processing-time temporal join with FOR SYSTEM_TIME AS OF is not supported without a "
            "load phase",
            at=span_of(versions.as_of),
            notes={
                "why": "left rows would not wait for the initial content of the right side, so the "
                "results would depend on timing (FLINK-19830)"
            },
            hint=f"join by event time; or SET '{LOAD_PHASE}' = '10 s': left rows then wait until "
            "the right side has been silent for this long; or use a temporal table function, "
            "LATERAL TABLE(f(o.proctime)), which does not wait",
        )
    if versions.key is None:
        raise PlanError(
            f"`{versions.name}` has no key to keep the latest row of",
            at=span_of(join.this),
            hint="declare PRIMARY KEY (...) NOT ENFORCED on the table, or make a view with "
            "ROW_NUMBER() OVER (PARTITION BY key ORDER BY ts DESC) = 1",
        )
    return context.load_idle_ms


# --- the condition -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Condition:
    """The ON clause: pairs of equal keys, and what remains to be tested on the joined row."""

    left: tuple[Expression, ...]
    right: tuple[Expression, ...]
    residual: Expression | None

    @classmethod
    def of(
        cls,
        condition: exp.Expression,
        left: Relation,
        versions: _Versions,
        context: Context,
        own: bool,
    ) -> _Condition:
        """`own` conditions belong to the join; a WHERE above it is tested there anyway."""
        binder = context.binder(left.scope + versions.relation.scope)
        width = len(left.node.edge.columns)
        pairs: list[tuple[Expression, Expression]] = []
        rest: list[Expression] = []
        for part in flattened(condition):
            if not own and not isinstance(part, exp.EQ):
                continue
            pair = None
            if isinstance(part, exp.EQ):
                pair = key_pair(binder.bind(part.this), binder.bind(part.expression), width, part)
            if pair is not None:
                pairs.append(pair)
            elif own:
                rest.append(binder.condition(part, "ON"))
        residual = None
        if rest:
            residual = rest[0]
            for further in rest[1:]:
                residual = binder.operator("AND", [residual, further], condition)
        return cls(tuple(p[0] for p in pairs), tuple(p[1] for p in pairs), residual)

    def check_key(self, versions: _Versions, condition: exp.Expression) -> None:
        assert versions.key is not None
        names = versions.relation.node.edge.names
        bare = [e.operand if isinstance(e, Cast) and e.implicit else e for e in self.right]
        compared = {names[e.index] for e in bare if isinstance(e, Ref)}
        missing = [name for name in versions.key if name not in compared]
        if missing:
            raise PlanError(
                f"a temporal join must use the whole primary key of `{versions.name}`",
                at=span_of(condition),
                notes={"primary key": f"({', '.join(versions.key)})"},
                hint="add " + " AND ".join(f"... = {versions.name}.{name}" for name in missing),
            )


# --- the join ----------------------------------------------------------------------------------


def _joined(
    left: Relation,
    left_time: int,
    versions: _Versions,
    matched: _Condition,
    how: JoinType,
    load_idle_ms: int | None,
) -> Relation:
    right = versions.relation
    left_node, left_keys = with_keys(left.node, matched.left)
    right_node, right_keys = with_keys(right.node, matched.right)
    kept = [*range(len(left.node.edge.columns))]
    offset = len(left_node.edge.columns)
    kept += [offset + index for index in range(len(right.node.edge.columns))]
    padded = how == "left"
    joined: Node = TemporalJoin(
        left=left_node,
        right=right_node,
        left_keys=left_keys,
        right_keys=right_keys,
        nulls_equal=(True,) * len(left_keys),  # as in Flink, though ON says `=`
        how=how,
        left_time=left_time,
        right_time=versions.time,
        retractions_overwrite=_retractions_overwrite(right.node),
        load_idle_ms=load_idle_ms,
    )
    edge = joined.edge
    scope = Scope.of(edge)
    names = [edge.names[index] for index in kept]
    joined = project(joined, [scope.ref(index) for index in kept], names)
    if matched.residual is not None:
        joined = _tested(joined, matched.residual, len(left.node.edge.columns), padded)
    return Relation(joined, left.scope + nullable_scope(right.scope, padded))


def _tested(joined: Node, residual: Expression, width: int, padded: bool) -> Node:
    """The rest of the condition. A left join keeps the row and forgets the version."""
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
    """Whether a `-U` takes the place of the version it takes back.

    Versions replace one another, so usually `-U` says nothing new. Flink keeps it above a filter,
    which may hold back the `+U` that belongs to it; there it ends its version.
    """
    filtered = False
    while True:
        match node:
            case KeepLast():
                return filtered
            case Filter(input=below):
                filtered, node = True, below
            case Project(input=below):
                node = below
            case _:
                return False
