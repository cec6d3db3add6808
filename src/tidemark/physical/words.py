"""Physical plans in readable form, for EXPLAIN."""

from __future__ import annotations

from typing import Any

from tidemark.physical.stages import (
    ColumnStage,
    Compute,
    Input,
    InputWatermark,
    Operator,
    Stage,
    WatermarkStage,
    is_stamped,
    walk,
)
from tidemark.plan.nodes import Edge, GroupAggregate, WindowAggregate
from tidemark.plan.window_words import duration

# What is drawn: stages, and the exchanges before operators.
Part = Stage | Input


def below(part: Part) -> tuple[Part, ...]:
    """What is drawn below a stage: an exchange for each input of an operator, then its rows."""
    return (part.stage,) if isinstance(part, Input | ColumnStage) else part.inputs


def line(part: Part) -> str:
    """A stage or an exchange in one line."""
    match part:
        case Compute():
            description = part.node.description
            blamed = f"; only Spark computes {part.only_in_spark}" if part.only_in_spark else ""
            return f"{description.name}: {description.runs_as}{blamed}"
        case WatermarkStage():
            return _watermark(part)
        case ColumnStage():
            reads = any(isinstance(below, Operator) for below in walk(part))
            what = "compute this" if reads else "read and compute all of this"
            once = "" if part.reading is None else "; the table is read once for several inputs"
            return f"Columns: workers {what} in columns{once}"
        case Operator():
            return _operator(part)
        case Input():
            return _exchange(part)


def _watermark(stage: WatermarkStage) -> str:
    parts = ["fails on rows without a time"] if stage.node.checks else ["follows the watermark"]
    if stage.stamps:
        parts.append("each row carries the watermark before it")
    if stage.declared:
        parts.append("Spark follows the watermark from here")
    return f"{stage.node.description.name}: {'; '.join(parts)}"


def _operator(operator: Operator) -> str:
    parts = ["stateful operator, one kernel per key group"]
    if operator.combines and not any(is_stamped(given.stage) for given in operator.inputs):
        aggregates = isinstance(operator.node, GroupAggregate | WindowAggregate)
        does = "aggregates" if aggregates else "leaves out rows behind others"
        parts.append(f"{does} before the exchange {_PHASES[operator.phases]}")
    if operator.outlets:
        parts.append("hands out late rows")
    if operator.stamps:
        parts.append("each row carries the watermark before it")
    if operator.held_back_ms:
        parts.append(f"watermark held back by {duration(operator.held_back_ms)}")
    if operator.tick_ms is not None:
        parts.append(f"looks at the clock every {duration(operator.tick_ms)}")
    return f"{operator.id}: {'; '.join(parts)}"


_PHASES = {"two_phase": "where it can", "auto": "where that makes fewer rows"}


def _exchange(input_: Input) -> str:
    names = input_.stage.edge.names
    keys = ", ".join(names[key] for key in input_.keys)
    parts = [f"packed columns by hash of ({keys})" if keys else "packed columns, all of one key"]
    if input_.windows is not None:
        parts.append("rows without windows, which the operator assigns")
    if input_.time is not None:
        parts.append(f"event time {names[input_.time]}")
    if input_.chained:
        parts.append("from another operator")
    if input_.watermark is not None:
        parts.append(_known(input_.watermark, input_.stage.edge, input_.time))
    elif is_stamped(input_.stage):
        parts.append("with the watermark before each row")
    return f"exchange: {'; '.join(parts)}"


def _known(watermark: InputWatermark, edge: Edge, time: int | None) -> str:
    if watermark.followed:
        return "watermark known within a micro-batch"
    if watermark.marks is not None:
        idle = watermark.marks.idle_ms
        skipped = f" that have not been idle for {duration(idle)}" if idle else ""
        return f"the smallest watermark of the source's partitions{skipped}"
    of = "the rows" if time is None else edge.names[time]
    distance = f"{duration(watermark.behind_ms)} behind {of}" if watermark.behind_ms else f"at {of}"
    return f"watermark {distance}" + (
        "" if watermark.declared else ", declared here on packed rows"
    )


def operator_json(operator: Operator) -> dict[str, Any]:
    """An operator as JSON values."""
    return {
        "id": operator.id,
        "operator": operator.node.description.name,
        "columns": list(operator.edge.names),
        "phases": operator.phases if operator.combines else "one_phase",
        "hands_out_late_rows": bool(operator.outlets),
        "held_back_ms": operator.held_back_ms,
        "tick_ms": operator.tick_ms,
        "inputs": [
            {
                "keys": [input_.stage.edge.names[key] for key in input_.keys],
                "time": None if input_.time is None else input_.stage.edge.names[input_.time],
                "chained": input_.chained,
                "stamped": is_stamped(input_.stage),
                "assigns_windows": input_.windows is not None,
                "watermark_behind_ms": input_.watermark and input_.watermark.behind_ms,
                "columns": list(input_.stage.edge.names),
            }
            for input_ in operator.inputs
        ],
    }
