"""Physical plans as DataFrames: a table of the function that lowers each kind of stage."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tidemark.physical import ColumnStage, Compute, Operator, Stage, WatermarkStage
from tidemark.plan.nodes import (
    AssignWindows,
    ChangelogNormalize,
    CoGroup,
    CurrentWatermark,
    Filter,
    FromChangelog,
    GroupAggregate,
    IntervalJoin,
    KeepFirst,
    KeepLast,
    LateRows,
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
from tidemark.spark import changelogs, compute
from tidemark.spark.assign_windows import assign_windows
from tidemark.spark.current_watermark import current_watermark
from tidemark.spark.operators.changelog_normalize import changelog_normalize
from tidemark.spark.operators.co_group import co_group
from tidemark.spark.operators.group_aggregate import group_aggregate
from tidemark.spark.operators.interval_join import interval_join
from tidemark.spark.operators.keep_first import keep_first
from tidemark.spark.operators.keep_last import keep_last
from tidemark.spark.operators.late_rows import late_rows
from tidemark.spark.operators.match_recognize import match_recognize
from tidemark.spark.operators.over import over
from tidemark.spark.operators.regular_join import regular_join
from tidemark.spark.operators.session_window import session_window
from tidemark.spark.operators.sink_upsert_materializer import sink_upsert_materializer
from tidemark.spark.operators.snapshot_join import snapshot_join
from tidemark.spark.operators.sort_by_time import sort_by_time
from tidemark.spark.operators.temporal_join import temporal_join
from tidemark.spark.operators.top_n import top_n
from tidemark.spark.operators.window_aggregate import window_aggregate
from tidemark.spark.operators.window_join import window_join
from tidemark.spark.operators.window_rank import window_rank
from tidemark.spark.unnest import unnest
from tidemark.spark.watermarks import watermark

if TYPE_CHECKING:
    from tidemark.spark.builder import Builder
    from tidemark.spark.frame import Frame


def lower(builder: Builder, stage: Stage) -> Frame:
    """The DataFrame of a stage."""
    match stage:
        case Compute():
            return _COMPUTES[type(stage.node)](builder, stage)
        case WatermarkStage():
            return watermark(builder, stage)
        case ColumnStage():
            return builder.read_columns(stage, builder)
        case Operator():
            return _OPERATORS[type(stage.node)](builder, stage)


def _look_up(builder: Builder, stage: Compute) -> Frame:
    return builder.look_up(stage, builder)


_COMPUTES: dict[type[Any], Callable[[Builder, Compute], Frame]] = {
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
    LookupJoin: _look_up,
    Sink: compute.sink,
}

_OPERATORS: dict[type[Any], Callable[[Builder, Operator], Frame]] = {
    KeepFirst: keep_first,
    KeepLast: keep_last,
    ChangelogNormalize: changelog_normalize,
    SinkUpsertMaterializer: sink_upsert_materializer,
    TemporalJoin: temporal_join,
    SnapshotJoin: snapshot_join,
    IntervalJoin: interval_join,
    RegularJoin: regular_join,
    WindowJoin: window_join,
    CoGroup: co_group,
    AssignWindows: session_window,
    WindowAggregate: window_aggregate,
    WindowRank: window_rank,
    TopN: top_n,
    SortByTime: sort_by_time,
    GroupAggregate: group_aggregate,
    Over: over,
    LateRows: late_rows,
    Match: match_recognize,
}
