"""Which columns of a table are read by what workers compute of its rows."""

from __future__ import annotations

from collections.abc import Iterable

from tidemark.physical.stages import Compute, Stage, WatermarkStage
from tidemark.plan.expressions import Expression, references
from tidemark.plan.nodes import Filter, Project, Scan


def columns_read(stage: Stage) -> frozenset[int]:
    """The positions of the columns of the one table below a stage that are read for its rows."""
    return _of_table(stage, frozenset(range(len(stage.edge.columns))))


def _of_table(stage: Stage, wanted: frozenset[int]) -> frozenset[int]:
    """Those that are read for some columns of the stage."""
    match stage:
        case Compute(node=Scan()):
            return wanted
        case Compute(node=Project(expressions=expressions), inputs=(below,)):
            return _of_table(below, _read_by(expressions))
        case Compute(node=Filter(condition=condition), inputs=(below,)):
            return _of_table(below, wanted | _read_by([condition]))
        case WatermarkStage(node=node, inputs=(below,)):
            time = node.edge.names.index(node.column)
            return _of_table(below, wanted | {time} | _read_by([node.expression]))
    raise AssertionError(f"not in columns: {stage}")


def _read_by(expressions: Iterable[Expression]) -> frozenset[int]:
    return frozenset(place for each in expressions for place in references(each))
