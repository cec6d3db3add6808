"""Window table functions: `TABLE(TUMBLE|HOP|CUMULATE|SESSION(TABLE t, DESCRIPTOR(ts), ...))`.

They return each row of the table once per window.
"""

from __future__ import annotations

from sqlglot import exp

from tidemark.dialect import nodes, span_of
from tidemark.errors import PlanError, did_you_mean
from tidemark.kernels.windows.spec import Assigner, Cumulating, Session, Sliding
from tidemark.plan.context import Context
from tidemark.plan.expressions import Ref
from tidemark.plan.features import WINDOW_TABLE_FUNCTIONS
from tidemark.plan.nodes import AssignWindows, Edge
from tidemark.plan.relation import Relation, aliased
from tidemark.plan.scalars.binder import Binder
from tidemark.plan.scope import Scope
from tidemark.plan.windows.group_windows import length_ms

# The arguments by name, in order; those in brackets are optional.
_ARGUMENTS = {
    "TUMBLE": ("DATA", "TIMECOL", "SIZE", "[OFFSET]"),
    "HOP": ("DATA", "TIMECOL", "SLIDE", "SIZE", "[OFFSET]"),
    "CUMULATE": ("DATA", "TIMECOL", "STEP", "SIZE", "[OFFSET]"),
    "SESSION": ("DATA", "TIMECOL", "GAP"),
}


def is_window_function(relation: exp.Expression) -> bool:
    return (
        isinstance(relation, nodes.TableFunction)
        and relation.name.upper() in WINDOW_TABLE_FUNCTIONS
    )


def bind_window_function(call: nodes.TableFunction, context: Context) -> Relation:
    """The rows of the table, each once per window it is in, with the window's columns."""
    name = call.name.upper()
    arguments = _named(name, call)
    relation, partition = _table(arguments["DATA"], name, context)
    node = relation.node
    time = _time(arguments["TIMECOL"], node.edge)
    assigner = _assigner(name, arguments, context.binder(Scope()))
    keys = tuple(_column(key, relation, context) for key in partition)
    return aliased(AssignWindows(node, assigner, time, keys), call, ())


# --- arguments ---------------------------------------------------------------------------------


def _named(name: str, call: nodes.TableFunction) -> dict[str, exp.Expression]:
    """The arguments by name, whether named or positional."""
    known = [argument.strip("[]") for argument in _ARGUMENTS[name]]
    required = [argument for argument in _ARGUMENTS[name] if not argument.startswith("[")]
    spelling = f"{name}({', '.join(_ARGUMENTS[name])})"
    found: dict[str, exp.Expression] = {}
    for place, argument in enumerate(call.expressions):
        if isinstance(argument, nodes.NamedArgument):
            key, value = argument.this.name.upper(), argument.expression
            if key not in known:
                raise PlanError(
                    f"unknown argument {key} of {name}",
                    at=span_of(argument),
                    notes={"expected": spelling},
                    hint=did_you_mean(key, known),
                )
            found[key] = value
        elif place < len(known):
            found[known[place]] = argument
    missing = [key for key in required if key not in found]
    if missing or len(call.expressions) > len(known):
        raise PlanError(
            f"{name} does not accept {len(call.expressions)} arguments",
            at=span_of(call),
            notes={"expected": spelling},
        )
    return found


def _table(
    argument: exp.Expression, name: str, context: Context
) -> tuple[Relation, list[exp.Expression]]:
    if not isinstance(argument, nodes.TableArgument):
        raise PlanError(
            f"the first argument of {name} must be a table",
            at=span_of(argument),
            hint="write TABLE before the table name",
        )
    partition: list[exp.Expression] = argument.args.get("partition_by") or []
    if partition and name != "SESSION":
        raise PlanError(
            f"PARTITION BY is only allowed in SESSION, not in {name}",
            at=span_of(partition[0]),
            hint="group by the column as well as by window_start and window_end",
        )
    return context.bind_relation(argument.this), partition


def _time(argument: exp.Expression, edge: Edge) -> int:
    if not isinstance(argument, nodes.Descriptor) or not argument.expressions:
        raise PlanError(
            "the time column of a window function must be a DESCRIPTOR",
            at=span_of(argument),
            hint="write DESCRIPTOR(ts)",
        )
    column = argument.expressions[0]
    if column.name not in edge.names:
        raise PlanError(
            f"column `{column.name}` not found in the table",
            at=span_of(column),
            notes={"columns": ", ".join(edge.names)},
            hint=did_you_mean(column.name, edge.names),
        )
    index = edge.names.index(column.name)
    if edge.columns[index].time is None:
        raise PlanError(
            f"`{column.name}` is not a time attribute "
            f"(it is a plain {edge.columns[index].type.text()})",
            at=span_of(column),
            notes={
                "time attributes": ", ".join(c.name for c in edge.columns if c.time) or "none",
            },
            hint="declare a WATERMARK for the column; the result of an expression is a plain value",
        )
    return index


def _column(key: exp.Expression, relation: Relation, context: Context) -> int:
    bound = context.binder(relation.scope).bind(key)
    if not isinstance(bound, Ref):
        raise PlanError("PARTITION BY takes columns only", at=span_of(key))
    return bound.index


def _assigner(name: str, arguments: dict[str, exp.Expression], binder: Binder) -> Assigner:
    if name == "SESSION":
        return Session(length_ms(arguments["GAP"], binder))
    size = length_ms(arguments["SIZE"], binder)
    offset = 0
    if "OFFSET" in arguments:
        offset = length_ms(arguments["OFFSET"], binder, positive=False)
        if abs(offset) >= size:
            raise PlanError(
                f"the offset of {name} must be shorter than its windows",
                at=span_of(arguments["OFFSET"]),
            )
    if name == "TUMBLE":
        return Sliding(size, size, offset)
    if name == "HOP":
        return Sliding(size, length_ms(arguments["SLIDE"], binder), offset)
    step = length_ms(arguments["STEP"], binder)
    if size % step:
        raise PlanError(
            "the size of CUMULATE must be a multiple of its step",
            at=span_of(arguments["SIZE"]),
            notes={"size": f"{size} ms", "step": f"{step} ms"},
        )
    return Cumulating(size, step, offset)
