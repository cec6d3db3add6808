"""Physical plans as rows: a table of the function that lowers each kind of stage."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tidemark.local import changelogs, compute, joins, windowed
from tidemark.local.assign_windows import assign_windows
from tidemark.local.builder import needs_spark
from tidemark.local.lookups.join import lookup_join
from tidemark.local.match_recognize import match_recognize
from tidemark.local.read_once import reading_once
from tidemark.local.unnest import unnest
from tidemark.local.watermarks import current_watermark, watermark
from tidemark.physical import ColumnStage, Compute, Operator, Stage, WatermarkStage
from tidemark.physical.read_once import scan_below
from tidemark.plan.nodes import (
    AssignWindows,
    ChangelogNormalize,
    CurrentWatermark,
    Filter,
    FromChangelog,
    GroupAggregate,
    IntervalJoin,
    KeepFirst,
    KeepLast,
    LookupJoin,
    Match,
    Over,
    Project,
    RegularJoin,
    RowOfNone,
    Scan,
    Sink,
    SinkUpsertMaterializer,
    SnapshotJoin,
    SortByTime,
    TemporalJoin,
    ToChangelog,
    TopN,
    UnionAll,
    Unnest,
    Values,
    WindowAggregate,
    WindowJoin,
    WindowRank,
)

if TYPE_CHECKING:
    from tidemark.local.builder import LocalBuilder
    from tidemark.local.rows import LocalRows


def lower(builder: LocalBuilder, stage: Stage) -> LocalRows:
    """The rows of a stage."""
    match stage:
        case Compute():
            return _function(_COMPUTES, stage)(builder, stage)
        case WatermarkStage():
            return watermark(builder, stage)
        case ColumnStage():
            return lower(builder, stage.stage)
        case Operator():
            if stage.outlets:
                raise needs_spark("an output for late rows", stage.node)
            if stage.read_once:
                scan = scan_below(stage.inputs[stage.read_once[0]].stage)
                assert scan is not None
                builder = reading_once(builder, scan, len(stage.read_once))
            return _function(_OPERATORS, stage)(builder, stage)


def _function(
    table: dict[type[Any], Callable[..., LocalRows]], stage: Compute | Operator
) -> Callable[..., LocalRows]:
    found = table.get(type(stage.node))
    if found is None:
        raise needs_spark(stage.node.description.name, stage.node)
    return found


_COMPUTES: dict[type[Any], Callable[[LocalBuilder, Compute], LocalRows]] = {
    Scan: compute.scan,
    Project: compute.project,
    Filter: compute.filter_rows,
    RowOfNone: compute.row_of_none,
    ToChangelog: changelogs.to_changelog,
    FromChangelog: changelogs.from_changelog,
    UnionAll: compute.union,
    Values: compute.values,
    Unnest: unnest,
    CurrentWatermark: current_watermark,
    AssignWindows: assign_windows,
    LookupJoin: lookup_join,
    Sink: compute.sink,
}

_OPERATORS: dict[type[Any], Callable[[LocalBuilder, Operator], LocalRows]] = {
    KeepFirst: windowed.keep_first,
    KeepLast: windowed.keep_last,
    ChangelogNormalize: windowed.changelog_normalize,
    SinkUpsertMaterializer: windowed.sink_upsert_materializer,
    TemporalJoin: joins.temporal_join,
    SnapshotJoin: joins.snapshot_join,
    IntervalJoin: joins.interval_join,
    RegularJoin: joins.regular_join,
    WindowJoin: joins.window_join,
    AssignWindows: windowed.session_window,
    WindowAggregate: windowed.window_aggregate,
    WindowRank: windowed.window_rank,
    TopN: windowed.top_n,
    SortByTime: windowed.sort_by_time,
    Match: match_recognize,
    GroupAggregate: windowed.group_aggregate,
    Over: windowed.over,
}
