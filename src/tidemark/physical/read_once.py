"""Tables that are read once for several inputs of an operator, each with columns of its own.

Views over one table make such plans, as do joins of a table with itself. Decoding a file takes most
of the time of many queries, so the workers do it once and compute the rows of each input from that.
"""

from __future__ import annotations

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
from tidemark.plan.nodes import Scan

# Whether a table should be read once: its rows can be kept while another input is computed.
ReadsOnce = Callable[[Scan], bool]


def read_once(plan: PhysicalPlan, reads_once: ReadsOnce, *, only_columns: bool) -> PhysicalPlan:
    """The batch with its operators marked that get several inputs from one table; on Spark, those
    that workers compute in columns.
    """
    marking = _Marking(reads_once, only_columns)
    return replace(plan, root=marking.marked(plan.root))


@dataclass(frozen=True, slots=True)
class _Marking:
    reads_once: ReadsOnce
    only_columns: bool

    def marked(self, stage: Stage) -> Stage:
        match stage:
            case ColumnStage(stage=above):
                return replace(stage, stage=self._compute(above))
            case Compute():
                return replace(stage, inputs=tuple(map(self.marked, stage.inputs)))
            case WatermarkStage(inputs=(below,)):
                return replace(stage, inputs=(self.marked(below),))
            case Operator():
                given = (replace(i, stage=self.marked(i.stage)) for i in stage.inputs)
                return self._reading_once(replace(stage, inputs=tuple(given)))

    def _compute(self, stage: Compute | WatermarkStage) -> Compute | WatermarkStage:
        marked = self.marked(stage)
        assert isinstance(marked, Compute | WatermarkStage)
        return marked

    def _reading_once(self, operator: Operator) -> Operator:
        found = ((place, self._scan_of(each)) for place, each in enumerate(operator.inputs))
        scans = {place: scan for place, scan in found if scan is not None}
        for scan in scans.values():
            same = tuple(place for place in scans if _same(scans[place], scan))
            if len(same) > 1 and self.reads_once(scan):
                merged = _merged([scans[place] for place in same])
                inputs = (
                    replace(given, stage=_over(given.stage, merged)) if place in same else given
                    for place, given in enumerate(operator.inputs)
                )
                return replace(operator, inputs=tuple(inputs), read_once=same)
        return operator

    def _scan_of(self, given: Input) -> Scan | None:
        can_share = isinstance(given.stage, ColumnStage) or not self.only_columns
        return scan_below(given.stage) if can_share else None


def scan_below(stage: Stage) -> Scan | None:
    """The table from whose rows those of a stage are computed one by one."""
    match stage:
        case Compute(node=Scan() as scan):
            return scan
        case ColumnStage(stage=below) | WatermarkStage(inputs=(below,)) | Compute(inputs=(below,)):
            return scan_below(below)
    return None


def _same(one: Scan, other: Scan) -> bool:
    """Whether scans differ only in the columns that are read."""
    return replace(one, read=None, rows_read=()) == replace(other, read=None, rows_read=())


def _merged(scans: Sequence[Scan]) -> Scan:
    """The scan of all columns that one of the scans reads."""
    first = scans[0]
    everything = any(scan.read is None for scan in scans)
    read = sorted({place for scan in scans for place in scan.read or ()})
    narrow = []
    for place, column in enumerate(first.columns):
        reading = [s for s in scans if s.read is None or place in s.read]
        rows = [dict(s.rows_read).get(column.name) for s in reading]
        if isinstance(column.type, t.Row) and rows and None not in rows:
            row = _fields_of(column.type, [row for row in rows if row is not None])
            if row != column.type:
                narrow.append((column.name, row))
    return replace(first, read=None if everything else tuple(read), rows_read=tuple(narrow))


def _fields_of(whole: t.Row, rows: Sequence[t.Row]) -> t.Row:
    """A row with the fields that one of the rows has, each of them whole or with fewer fields."""
    fields = []
    for field in whole.fields:
        types = [each.type for row in rows for each in row.fields if each.name == field.name]
        if isinstance(field.type, t.Row) and types and field.type not in types:
            inner = [type_ for type_ in types if isinstance(type_, t.Row)]
            fields.append(replace(field, type=_fields_of(field.type, inner)))
        elif types:
            fields.append(field)
    return replace(whole, fields=tuple(fields))


def _over(stage: Stage, scan: Scan) -> Stage:
    """The stage over another scan of its table."""
    match stage:
        case ColumnStage(stage=above):
            below = _over(above, scan)
            assert isinstance(below, Compute | WatermarkStage)
            return replace(stage, stage=below)
        case WatermarkStage(inputs=(below,)):
            return replace(stage, inputs=(_over(below, scan),))
        case Compute(node=Scan()):
            return replace(stage, node=scan)
        case Compute(inputs=(below,)):
            return replace(stage, inputs=(_over(below, scan),))
    return stage
