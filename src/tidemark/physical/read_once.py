"""Tables that are read once for several inputs of operators, each with columns of its own.

Views over one table make such plans, as do joins of a table with itself. Decoding a file takes most
of the time of many queries, so the workers do it once and compute the rows of each input from that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from tidemark import types as t
from tidemark.physical.in_columns import stays_packed
from tidemark.physical.stages import (
    ColumnStage,
    Compute,
    Input,
    Operator,
    PhysicalPlan,
    Readings,
    Stage,
    WatermarkStage,
    inputs,
)
from tidemark.plan.nodes import Scan

# Whether a table should be read once, as a stream or not: its rows can be kept while another input
# is computed.
ReadsOnce = Callable[[Scan, bool], bool]


def read_once(plan: PhysicalPlan, reads_once: ReadsOnce, given: Readings | None) -> PhysicalPlan:
    """The plan for Spark, in which inputs of any operators that workers compute in columns from one
    table share a reading of it: those that share one already where a stream has started, if that is
    `given`.
    """
    found = [*_sharing(plan)]
    groups = _groups(found, reads_once, plan.streaming) if given is None else _those(found, given)
    if not groups:
        return plan
    merged = [_merged([each.scan for each in group]) for group in groups]
    ends = [_end_of([each.given for each in group]) for group in groups]
    number_of = {id(each.given): n for n, group in enumerate(groups) for each in group}

    def shared(operator: Operator) -> Operator:
        return replace(operator, inputs=tuple(map(reading, operator.inputs)))

    def reading(given: Input) -> Input:
        number = number_of.get(id(given))
        if number is None:
            return given
        stage = _over(given.stage, merged[number])
        assert isinstance(stage, ColumnStage)
        watermark = given.watermark and replace(given.watermark, end=ends[number])
        return replace(given, stage=replace(stage, reading=number), watermark=watermark)

    places = (tuple(each.place for each in group) for group in groups)
    return replace(plan, root=_changed(plan.root, shared), readings=tuple(places))


def read_once_here(plan: PhysicalPlan, reads_once: ReadsOnce) -> PhysicalPlan:
    """The plan for a run without Spark, with its operators marked that get several inputs from one
    table: only an operator can read them in turns.
    """
    return replace(plan, root=_changed(plan.root, lambda each: _in_turns(each, reads_once)))


# The part of a plan that is lowered before Spark makes any frame of it.
_Region = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Sharing:
    """An input that may share a reading: the place of its table among the scans of the plan, and
    the region that it is in."""

    place: int
    given: Input
    scan: Scan
    region: _Region


def _sharing(plan: PhysicalPlan) -> Iterator[_Sharing]:
    """The inputs that may share a reading."""
    for place, (given, region) in enumerate(_users(plan.root, (), plan.streaming)):
        scan = None if given is None else _scan_in_columns(given)
        if given is None or scan is None:
            continue
        if not plan.streaming or _can_share_a_stream(given):
            yield _Sharing(place, given, scan, region)


def _users(
    stage: Stage, region: _Region, streaming: bool, given: Input | None = None
) -> Iterator[tuple[Input | None, _Region]]:
    """For each scan below a stage the input that is computed of its rows alone, if there is one.

    What Spark computes of a stream needs the frame of what is below, which is then made before
    other parts of the plan are lowered. So that is a region of its own.
    """
    match stage:
        case Compute(node=Scan()):
            yield given, region
        case Operator():
            for each in stage.inputs:
                yield from _users(each.stage, region, streaming, each)
        case ColumnStage(stage=inner):
            yield from _users(_first(inner), region, streaming, given)
        case _:
            for place, below in enumerate(inputs(stage)):
                inside = (*region, id(stage), place) if streaming else region
                yield from _users(below, inside, streaming)


def _first(stage: Stage) -> Stage:
    """The first of the stages that workers compute in columns: a table or an operator."""
    while isinstance(stage, Compute | WatermarkStage) and stage.inputs:
        [stage] = stage.inputs
    return stage


def _can_share_a_stream(given: Input) -> bool:
    """Whether the operator takes the columns of the input as they are, and knows of no watermark
    that is not in them."""
    known = given.watermark
    is_theirs = known is None or not (known.declared or known.marks is not None)
    return is_theirs and given.end is None and stays_packed(given)


def _groups(
    sharing: Sequence[_Sharing], reads_once: ReadsOnce, streaming: bool
) -> list[list[_Sharing]]:
    """Those that should share a reading."""
    groups: list[list[_Sharing]] = []
    for each in sharing:
        for group in groups:
            if _same(group[0].scan, each.scan) and group[0].region == each.region:
                group.append(each)
                break
        else:
            groups.append([each])
    return [group for group in groups if len(group) > 1 and reads_once(group[0].scan, streaming)]


def _those(sharing: Sequence[_Sharing], readings: Readings) -> list[list[_Sharing]]:
    """Those that share these readings, as far as they can."""
    groups = [[each for each in sharing if each.place in places] for places in readings]
    return [
        group
        for group, places in zip(groups, readings, strict=True)
        if len(group) == len(places) and all(_same(group[0].scan, each.scan) for each in group)
    ]


def _end_of(group: Sequence[Input]) -> int | None:
    """The one marker of the end of a reading."""
    ends = (given.watermark.end for given in group if given.watermark is not None)
    return min((end for end in ends if end is not None), default=None)


def _in_turns(operator: Operator, reads_once: ReadsOnce) -> Operator:
    found = ((place, scan_below(each.stage)) for place, each in enumerate(operator.inputs))
    scans = {place: scan for place, scan in found if scan is not None}
    for scan in scans.values():
        same = tuple(place for place in scans if _same(scans[place], scan))
        if len(same) > 1 and reads_once(scan, False):
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
            operator = change(stage)
            given = (replace(each, stage=_changed(each.stage, change)) for each in operator.inputs)
            return replace(operator, inputs=tuple(given))


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
