"""What filters ask of a table's rows: a connector may leave out others before it reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tidemark.physical.stages import (
    ColumnStage,
    Compute,
    Input,
    Operator,
    PhysicalPlan,
    Stage,
    WatermarkStage,
)
from tidemark.plan.conjunctions import conjuncts
from tidemark.plan.expressions import Expression, may_differ, over, walk
from tidemark.plan.nodes import Filter, Project, Scan, UnionAll

_Conditions = tuple[Expression, ...]
# Projections of projections may repeat an expression many times.
_MOST_PARTS: Final = 200


def with_conditions(plan: PhysicalPlan) -> PhysicalPlan:
    """The plan, in which each scan has the conditions that all filters above ask of its rows. Of a
    stream, those above its watermark are not among them: rows that a filter drops advance it.
    """
    return replace(plan, root=_asked(plan.root, (), plan.streaming))


def _asked(stage: Stage, conditions: _Conditions, streaming: bool) -> Stage:
    match stage:
        case Compute(node=Scan() as scan):
            return (
                replace(stage, node=replace(scan, conditions=conditions)) if conditions else stage
            )
        case Compute(node=Filter(condition=condition), inputs=(below,)):
            found = (*conditions, *filter(_can_be_asked, conjuncts(condition)))
            return replace(stage, inputs=(_asked(below, found, streaming),))
        case Compute(node=Project(expressions=columns), inputs=(below,)):
            moved = (over(each, lambda ref: columns[ref.index]) for each in conditions)
            found = tuple(filter(_can_be_asked, moved))
            return replace(stage, inputs=(_asked(below, found, streaming),))
        case Compute(node=UnionAll()):
            return replace(
                stage, inputs=tuple(_asked(each, conditions, streaming) for each in stage.inputs)
            )
        case WatermarkStage(inputs=(below,)):
            return replace(
                stage, inputs=(_asked(below, () if streaming else conditions, streaming),)
            )
        case ColumnStage(reading=None):
            inner = _asked(stage.stage, conditions, streaming)
            assert isinstance(inner, Compute | WatermarkStage)
            return replace(stage, stage=inner)
        case ColumnStage():
            return stage  # others read the same rows
        case Operator():
            return replace(stage, inputs=tuple(_inputs(stage, streaming)))
    return replace(stage, inputs=tuple(_asked(each, (), streaming) for each in stage.inputs))


def _inputs(operator: Operator, streaming: bool) -> Iterator[Input]:
    for place, given in enumerate(operator.inputs):
        if place in operator.read_once:
            yield given
        else:
            yield replace(given, stage=_asked(given.stage, (), streaming))


def _can_be_asked(condition: Expression) -> bool:
    """Whether it has the same result wherever it is computed."""
    return len([*walk(condition)]) <= _MOST_PARTS and not may_differ(condition)
