"""The right side of a join, with `FOR SYSTEM_TIME AS OF` or a call of a temporal table function."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from tidemark.catalog.tables import TemporalFunction
from tidemark.dialect import nodes, span_of
from tidemark.errors import PlanError
from tidemark.plan.context import Context
from tidemark.plan.expressions import Ref
from tidemark.plan.features import is_time_travel
from tidemark.plan.nodes import Scan, TimeAttribute, walk
from tidemark.plan.relation import Relation


@dataclass(frozen=True, slots=True)
class AsOf:
    """`FOR SYSTEM_TIME AS OF`: each left row is joined with the version at its own time."""

    time: exp.Expression  # as it is written
    left_time: int  # the column of the left side that it means
    kind: TimeAttribute
    versions: Versions
    load_idle_ms: int | None  # how long the right side must be silent to have been loaded

    @classmethod
    def of(cls, left: Relation, time: exp.Expression, versions: Versions, context: Context) -> AsOf:
        place, kind = _time_attribute(left, time, context)
        return cls(time, place, kind, versions, context.load_idle_ms)


@dataclass(frozen=True, slots=True)
class Versions:
    """What the rows of the right side are versions of: which columns say which version of what a
    row is. A table that lacks one of them is not versioned."""

    name: str
    at: exp.Expression
    key: tuple[str, ...] | None
    time: int | None
    readable: bool = True  # whether there is another way than to look rows up
    of_function: bool = False  # a function returns the current rows without waiting


def right_side(
    left: Relation, node: exp.Expression, context: Context
) -> tuple[Relation, AsOf | None]:
    """The rows on the right of a join, and the AS OF clause if there is one."""
    function = _function_of(node, context)
    if function is not None:
        return _call(left, function, node, context)
    time = node.args.get("as_of")
    if time is None or is_time_travel(node):
        return context.bind_relation(node), None
    plain = node.copy()
    plain.set("as_of", None)
    _, kind = _time_attribute(left, time, context)
    relation = replace(context, looks_up=kind == "processing").bind_relation(plain)
    edge = relation.node.edge
    scans = [part for part in walk(relation.node) if isinstance(part, Scan)]
    readable = all(context.traits(scan.table, "read").readable for scan in scans)
    times = [index for index, column in enumerate(edge.columns) if column.time == "event"]
    name = node.name if isinstance(node, exp.Table) else node.alias or "the right side"
    key = edge.keys[0] if edge.keys else None
    versions = Versions(name, node, key, times[0] if times else None, readable)
    return relation, AsOf.of(left, time, versions, context)


# --- temporal table functions ------------------------------------------------------------------


def _function_of(node: exp.Expression, context: Context) -> TemporalFunction | None:
    call = node.this if isinstance(node, exp.Lateral) else node
    if not isinstance(call, nodes.TableFunction):
        return None
    return context.catalogs.temporal_functions.get(call.name.lower())


def _call(
    left: Relation, function: TemporalFunction, node: exp.Expression, context: Context
) -> tuple[Relation, AsOf]:
    call = node.this if isinstance(node, exp.Lateral) else node
    if len(call.expressions) != 1:
        raise PlanError(
            f"`{function.name}` takes exactly one argument, a time attribute", at=span_of(call)
        )
    table = exp.Table(this=exp.to_identifier(function.table, quoted=True))
    declared = context.bind_relation(table.copy()).node.edge.names
    alias = node.args.get("alias") or call.args.get("alias")
    table.set("alias", alias.copy() if alias is not None else None)
    relation = context.bind_relation(table)
    # The function knows its columns by their own names, which `AS x (a, b)` replaces.
    called = dict(zip(declared, relation.node.edge.names, strict=True))
    key = tuple(called[name] for name in function.primary_key)
    time = declared.index(function.time_attribute)
    versions = Versions(function.name, node, key, time, of_function=True)
    as_of = AsOf.of(left, call.expressions[0], versions, context)
    if as_of.kind == "event" and relation.node.edge.columns[time].time == "processing":
        raise PlanError(
            f"`{function.name}` requires a processing time",
            at=span_of(call.expressions[0]),
            notes={"why": f"its time attribute, `{function.time_attribute}`, is one"},
        )
    return relation, as_of


def _time_attribute(
    left: Relation, time: exp.Expression, context: Context
) -> tuple[int, TimeAttribute]:
    """The left side's column that an expression means, and which time it is."""
    bound, columns = context.binder(left.scope).bind(time), left.node.edge.columns
    kind = columns[bound.index].time if isinstance(bound, Ref) else None
    if not isinstance(bound, Ref) or kind is None:
        raise _not_a_time_attribute(left, time)
    return bound.index, kind


def _not_a_time_attribute(left: Relation, time: exp.Expression) -> PlanError:
    times = [column.name for column in left.node.edge.columns if column.time is not None]
    return PlanError(
        "FOR SYSTEM_TIME AS OF requires a time attribute of the left side",
        at=span_of(time),
        notes={"time attributes": ", ".join(times) or "none"},
        hint=None if times else "declare a WATERMARK on the left table",
    )
