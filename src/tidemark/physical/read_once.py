"""Tables that are read once for several inputs of operators, each with columns of its own.

Views over one table make such plans, as do joins of a table with itself. Decoding a file takes most
of the time of many queries, so the workers do it once and compute the rows of each input from that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

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


def read_once(plan: PhysicalPlan, reads_once: ReadsOnce) -> PhysicalPlan:
    """The batch for Spark, in which inputs of any operators that workers compute in columns from
    one table share a reading of it.
    """
    given = (given for operator in plan.operators for given in operator.inputs)
    scans = [scan for each in given if (scan := _scan_in_columns(each)) is not None]
    readings: list[Scan] = []
    for place, scan in enumerate(scans):
        same = [other for other in scans if _same(other, scan)]
        is_first = not any(_same(other, scan) for other in scans[:place])
        if is_first and len(same) > 1 and reads_once(scan):
            readings.append(_merged(same))

    def shared(operator: Operator) -> Operator:
        return replace(operator, inputs=tuple(map(reading, operator.inputs)))

    def reading(given: Input) -> Input:
        scan = _scan_in_columns(given)
        number = next((n for n, s in enumerate(readings) if scan and _same(s, scan)), None)
        if number is None:
            return given
        stage = _over(given.stage, readings[number])
        assert isinstance(stage, ColumnStage)
        return replace(given, stage=replace(stage, reading=number))

    return replace(plan, root=_changed(plan.root, shared)) if readings else plan


def read_once_here(plan: PhysicalPlan, reads_once: ReadsOnce) -> PhysicalPlan:
    """The plan for a run without Spark, with its operators marked that get several inputs from one
    table: only an operator can read them in turns.
    """
    return replace(plan, root=_changed(plan.root, lambda each: _in_turns(each, reads_once)))


def _in_turns(operator: Operator, reads_once: ReadsOnce) -> Operator:
    found = ((place, scan_below(each.stage)) for place, each in enumerate(operator.inputs))
    scans = {place: scan for place, scan in found if scan is not None}
    for scan in scans.values():
        same = tuple(place for place in scans if _same(scans[place], scan))
        if len(same) > 1 and reads_once(scan):
            merged = _merged([scans[place] for place in same])
            inputs = (
                replace(given, stage=_over(given.stage, merged)) if place in same else given
                for place, given in enumerate(operator.inputs)
            )
            return replace(operator, inputs=tuple(inputs), read_once=same)
    return operator


def _changed(stage: Stage, change: Callable[[Operator], Operator]) -> Stage:
    """The stage with each operator changed."""
    match stage:
        case ColumnStage(stage=above):
            below = _changed(above, change)
            assert isinstance(below, Compute | WatermarkStage)
            return replace(stage, stage=below)
        case Compute():
            return replace(stage, inputs=tuple(_changed(each, change) for each in stage.inputs))
        case WatermarkStage(inputs=(below,)):
            return replace(stage, inputs=(_changed(below, change),))
        case Operator():
            given = (replace(each, stage=_changed(each.stage, change)) for each in stage.inputs)
            return change(replace(stage, inputs=tuple(given)))


def _scan_in_columns(given: Input) -> Scan | None:
    return scan_below(given.stage) if isinstance(given.stage, ColumnStage) else None


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
