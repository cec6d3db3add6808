"""Which parts of a plan workers read and compute in columns, without rows of Spark."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tidemark import types as t
from tidemark.physical.stages import (
    ColumnStage,
    Compute,
    Input,
    Operator,
    PhysicalPlan,
    Stage,
    WatermarkStage,
)
from tidemark.plan.expressions import Expression, Literal
from tidemark.plan.nodes import (
    Edge,
    Filter,
    Project,
    Scan,
)

# Whether a table can be read so, as a stream or not.
Readable = Callable[[Scan, bool], bool]


def in_columns(plan: PhysicalPlan, zone: str, readable: Readable) -> PhysicalPlan:
    """The plan with its largest parts that workers can read and compute in columns, as such."""
    return replace(plan, root=_Marking(plan.streaming, zone, readable).marked(plan.root))


@dataclass(frozen=True, slots=True)
class _Marking:
    streaming: bool
    zone: str
    readable: Readable

    def marked(self, stage: Stage) -> Stage:
        if not isinstance(stage, Operator) and self._can_be_columns(stage):
            return self._in_columns(stage)
        match stage:
            case Compute():
                return replace(stage, inputs=tuple(map(self.marked, stage.inputs)))
            case WatermarkStage():
                return replace(stage, inputs=(self.marked(stage.inputs[0]),))
            case Operator():
                return replace(stage, inputs=tuple(map(self._input, stage.inputs)))
        return stage

    def _input(self, given: Input) -> Input:
        """The input. If its watermark is declared below filters, because they drop rows that
        advance it, and workers make all of it in columns, they can follow it for the operator.
        """
        known, found = given.watermark, _undeclared(given.stage)
        if found is not None and known is not None and known.declared and not known.followed:
            stage, end = found
            if not _stays_packed(given):
                return replace(given, stage=self.marked(given.stage))
            if self._can_be_columns(stage):
                columns = replace(self._in_columns(stage), follows=True)
                return replace(
                    given, stage=columns, watermark=replace(known, declared=False, end=end)
                )
        return replace(given, stage=self.marked(given.stage))

    def _can_be_columns(self, stage: Stage) -> bool:
        return _spark_takes(stage.edge) and self._is_columnar(stage)

    def _in_columns(self, stage: Stage) -> ColumnStage:
        above = self._above(stage)
        assert isinstance(above, Compute | WatermarkStage)
        return ColumnStage(above)

    def _above(self, stage: Stage) -> Stage:
        """The stage, with what is below an operator under it marked too."""
        match stage:
            case Operator():
                return self.marked(stage)
            case Compute(inputs=(below,)):
                return replace(stage, inputs=(self._above(below),))
        return stage

    def _is_columnar(self, stage: Stage) -> bool:
        match stage:
            case Operator():
                return _spark_takes(stage.edge)
            case Compute(node=Scan() as node):
                return self.readable(node, self.streaming)
            case Compute(node=Project(expressions=expressions), inputs=(below,)):
                return self._computes(expressions, below)
            case Compute(node=Filter(condition=Literal())):
                return False  # Spark does not run what a filter drops altogether
            case Compute(node=Filter(condition=condition), inputs=(below,)):
                return self._computes([condition], below)
            case WatermarkStage(inputs=(below,), declared=False, stamps=False):
                return self._is_columnar(below)
        return False

    def _computes(self, expressions: Sequence[Expression], below: Stage) -> bool:
        return self._is_columnar(below) and _can_be_written(expressions, below.edge, self.zone)


def _stays_packed(given: Input) -> bool:
    """Whether the operator takes the columns as they are, because workers can hash the keys."""
    from tidemark.functions.arrow_types import to_arrow
    from tidemark.runtime.hashing import can_hash

    keys = [given.stage.edge.types[key] for key in given.keys]
    return all(can_hash(to_arrow(key)) for key in keys)


def _undeclared(stage: Stage) -> tuple[Stage, int | None] | None:
    """The stage without the declaration of its source's watermark, and the number of its end; None
    if there is none.
    """
    match stage:
        case WatermarkStage(declared=True, stamps=False, end=end):
            return replace(stage, declared=False, end=None), end
        case Compute(inputs=(below,)):
            found = _undeclared(below)
            return found and (replace(stage, inputs=(found[0],)), found[1])
    return None


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
