"""Which parts of a plan workers read and compute in columns, without rows of Spark."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tidemark import types as t
from tidemark.physical.stages import (
    ColumnStage,
    Compute,
    Operator,
    PhysicalPlan,
    Stage,
    WatermarkStage,
)
from tidemark.plan.expressions import Expression
from tidemark.plan.nodes import Edge, Filter, Project, Scan

# Whether a table can be read so.
Readable = Callable[[Scan], bool]


def in_columns(plan: PhysicalPlan, zone: str, readable: Readable) -> PhysicalPlan:
    """The plan with its largest parts that workers can read and compute in columns, as such."""
    return replace(plan, root=_Marking(zone, readable).marked(plan.root))


@dataclass(frozen=True, slots=True)
class _Marking:
    zone: str
    readable: Readable

    def marked(self, stage: Stage) -> Stage:
        if _spark_takes(stage.edge) and self._is_columnar(stage):
            assert isinstance(stage, Compute | WatermarkStage)
            return ColumnStage(stage)
        match stage:
            case Compute():
                return replace(stage, inputs=tuple(map(self.marked, stage.inputs)))
            case WatermarkStage():
                return replace(stage, inputs=(self.marked(stage.inputs[0]),))
            case Operator():
                inputs = (replace(given, stage=self.marked(given.stage)) for given in stage.inputs)
                return replace(stage, inputs=tuple(inputs))
        return stage

    def _is_columnar(self, stage: Stage) -> bool:
        match stage:
            case Compute(node=Scan() as node):
                return self.readable(node)
            case Compute(node=Project(expressions=expressions), inputs=(below,)):
                return self._computes(expressions, below)
            case Compute(node=Filter(condition=condition), inputs=(below,)):
                return self._computes([condition], below)
            case WatermarkStage(inputs=(below,), declared=False, stamps=False):
                return self._is_columnar(below)
        return False

    def _computes(self, expressions: Sequence[Expression], below: Stage) -> bool:
        return self._is_columnar(below) and _can_be_written(expressions, below.edge, self.zone)


def _spark_takes(edge: Edge) -> bool:
    """Whether Spark can read the columns as rows, if what follows needs rows."""
    return not any(_has_times(type_) for type_ in edge.types)


def _has_times(type_: t.DataType) -> bool:
    """Whether there is a TIME or a number of months in it, which Spark cannot read from Arrow."""
    match type_:
        case t.Time() | t.YearMonthInterval():
            return True
        case t.Array(element=element) | t.Multiset(element=element):
            return _has_times(element)
        case t.Map(key=key, value=value):
            return _has_times(key) or _has_times(value)
        case t.Row(fields=fields):
            return any(_has_times(field.type) for field in fields)
    return False


def _can_be_written(expressions: Sequence[Expression], edge: Edge, zone: str) -> bool:
    """Whether workers can compute the expressions, and should.

    Users' functions are Spark's to ship, with the modules that they import. The clock must show the
    same time in all of a query.
    """
    from tidemark.columns import NotInColumns, Program

    try:
        program = Program.of(
            expressions, [f"c{i}" for i in range(len(edge.columns))], zone, dt.datetime.now(dt.UTC)
        )
    except NotInColumns:
        return False
    return not (program.surroundings.calls_user or program.surroundings.reads_clock)
