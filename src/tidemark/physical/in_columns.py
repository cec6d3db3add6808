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
    walk,
)
from tidemark.plan.expressions import Expression, Literal
from tidemark.plan.nodes import (
    Edge,
    Filter,
    FromChangelog,
    LookupJoin,
    Project,
    Scan,
    ToChangelog,
)

# Whether a table can be read so, as a stream or not.
Readable = Callable[[Scan, bool], bool]


def in_columns(
    plan: PhysicalPlan, zone: str, readable: Readable, *, sink_follows: bool = False
) -> PhysicalPlan:
    """The plan with its largest parts that workers can read and compute in columns, as such. If
    the sink waits for the watermark and no operator follows it, workers follow it for the sink.
    """
    follows = sink_follows and not plan.operators
    return replace(plan, root=_Marking(plan.streaming, zone, readable, follows).marked(plan.root))


@dataclass(frozen=True, slots=True)
class _Marking:
    streaming: bool
    zone: str
    readable: Readable
    sink_follows: bool

    def marked(self, stage: Stage) -> Stage:
        if not isinstance(stage, Operator) and self._can_be_columns(stage):
            return self._in_columns(stage)
        match stage:
            case Compute():
                inputs = tuple(map(self.marked, stage.inputs))
                return replace(stage, inputs=inputs, only_in_spark=self._blamed(stage))
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
            if not stays_packed(given):
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
        follows = self.sink_follows and any(isinstance(s, WatermarkStage) for s in walk(above))
        return ColumnStage(above, follows)

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
            case Compute(node=Filter(condition=Literal())):
                return False  # Spark does not run what a filter drops altogether
            case Compute(node=ToChangelog() | FromChangelog(), inputs=(below,)):
                return self._is_columnar(below)
            case Compute(node=Project() | Filter() | LookupJoin(), inputs=(below,)):
                return self._is_columnar(below) and self._only_in_spark(stage) is None
            case WatermarkStage(inputs=(below,), declared=False, stamps=False):
                return self._is_columnar(below)
        return False

    def _blamed(self, stage: Compute) -> str | None:
        """What keeps a projection or a filter of columns in Spark."""
        if not isinstance(stage.node, Project | Filter):
            return None
        if not all(map(self._is_columnar, stage.inputs)):
            return None
        takes = _spark_takes(stage.edge)
        return self._only_in_spark(stage) if takes else "columns of type TIME or INTERVAL YEAR"

    def _only_in_spark(self, stage: Compute) -> str | None:
        """What in the expressions of a projection or a filter only Spark computes."""
        match stage:
            case Compute(node=Project(expressions=expressions), inputs=(below,)):
                return _only_in_spark(expressions, below.edge, self.zone)
            case Compute(node=Filter(condition=condition), inputs=(below,)):
                return _only_in_spark([condition], below.edge, self.zone)
            case Compute(node=LookupJoin(condition=condition)) if condition is not None:
                return _only_in_spark([condition], stage.edge, self.zone)
        return None


def stays_packed(given: Input) -> bool:
    """Whether the operator takes the columns as they are, because workers can hash the keys."""
    from tidemark.functions.arrow_types import to_arrow
    from tidemark.kernels.hashing import can_hash

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


def _only_in_spark(expressions: Sequence[Expression], edge: Edge, zone: str) -> str | None:
    """What in the expressions workers cannot compute, or should not.

    Users' functions are Spark's to ship, with the modules that they import. The clock must show the
    same time in all of a query. What is drawn by chance must be the same if a task runs again.
    """
    from tidemark.columns import NotInColumns, Program

    try:
        program = Program.of(
            expressions, [f"c{i}" for i in range(len(edge.columns))], zone, dt.datetime.now(dt.UTC)
        )
    except NotInColumns as refusal:
        return refusal.what
    if program.surroundings.calls_user:
        return "a user-defined function"
    if program.surroundings.draws:
        return program.surroundings.draws[0].function
    return "the current time" if program.surroundings.reads_clock else None
