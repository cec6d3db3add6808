"""The logical plan: what a query means, as frozen values that answer for themselves.

There is a file for each operator. It contains what only the operator knows: its output, what it
needs of its inputs, its description, what it keeps, and when it considers a row late.
"""

from tidemark.plan.nodes.aggregate_call import AggregateCall
from tidemark.plan.nodes.assign_watermark import AssignWatermark
from tidemark.plan.nodes.assign_windows import AssignWindows
from tidemark.plan.nodes.base import (
    Description,
    LateInput,
    Narrowed,
    Node,
    Reason,
    delay_ms,
    inputs,
    is_stateful,
    walk,
    with_inputs,
)
from tidemark.plan.nodes.changelog_normalize import ChangelogNormalize
from tidemark.plan.nodes.co_group import CoGroup
from tidemark.plan.nodes.current_watermark import CURRENT, CurrentWatermark
from tidemark.plan.nodes.edge import Column, Edge, TimeAttribute, WindowColumn
from tidemark.plan.nodes.families import Picking
from tidemark.plan.nodes.filter import Filter, filtered
from tidemark.plan.nodes.from_changelog import FromChangelog
from tidemark.plan.nodes.group_aggregate import GroupAggregate
from tidemark.plan.nodes.interval_join import IntervalJoin
from tidemark.plan.nodes.join import How, Join, TwoSided
from tidemark.plan.nodes.keep_first import KeepFirst
from tidemark.plan.nodes.keep_last import KeepLast
from tidemark.plan.nodes.late_columns import LateColumns, LateOutlet
from tidemark.plan.nodes.late_output import LateOutput
from tidemark.plan.nodes.late_rows import LateRows
from tidemark.plan.nodes.lookup_join import LookupJoin, LookupRetry
from tidemark.plan.nodes.match_recognize import (
    AggregateValue,
    ClassifierValue,
    FinalValue,
    Match,
    MatchedValue,
    MatchNumberValue,
    MatchRowtime,
    MatchTest,
    MatchValue,
    MatchVariable,
    OwnValue,
    PreviousValue,
    RowTest,
    RowValue,
    RunningValue,
)
from tidemark.plan.nodes.narrowing import pruned
from tidemark.plan.nodes.needs import Needs, Port
from tidemark.plan.nodes.over import Over, OverFunction, without_unread_over
from tidemark.plan.nodes.project import Project, project
from tidemark.plan.nodes.regular_join import RegularJoin
from tidemark.plan.nodes.row_of_none import RowOfNone
from tidemark.plan.nodes.rows_read import with_rows_read
from tidemark.plan.nodes.scan import Emitted, Scan, Values
from tidemark.plan.nodes.sink import Sink
from tidemark.plan.nodes.sink_upsert_materializer import SinkUpsertMaterializer
from tidemark.plan.nodes.snapshot_join import PointInTime, SnapshotJoin
from tidemark.plan.nodes.sort_by_time import SortByTime
from tidemark.plan.nodes.temporal_join import TemporalJoin
from tidemark.plan.nodes.to_changelog import ToChangelog
from tidemark.plan.nodes.top_n import TopN
from tidemark.plan.nodes.union_all import UnionAll
from tidemark.plan.nodes.unnest import Unnest
from tidemark.plan.nodes.window_aggregate import WindowAggregate
from tidemark.plan.nodes.window_columns import Windowing
from tidemark.plan.nodes.window_join import WindowJoin
from tidemark.plan.nodes.window_rank import WindowOrder, WindowRank

__all__ = [
    "CURRENT",
    "AggregateCall",
    "AggregateValue",
    "AssignWatermark",
    "AssignWindows",
    "ChangelogNormalize",
    "ClassifierValue",
    "CoGroup",
    "Column",
    "CurrentWatermark",
    "Description",
    "Edge",
    "Emitted",
    "Filter",
    "FinalValue",
    "FromChangelog",
    "GroupAggregate",
    "How",
    "IntervalJoin",
    "Join",
    "KeepFirst",
    "KeepLast",
    "LateColumns",
    "LateInput",
    "LateOutlet",
    "LateOutput",
    "LateRows",
    "LookupJoin",
    "LookupRetry",
    "Match",
    "MatchNumberValue",
    "MatchRowtime",
    "MatchTest",
    "MatchValue",
    "MatchVariable",
    "MatchedValue",
    "Narrowed",
    "Needs",
    "Node",
    "Over",
    "OverFunction",
    "OwnValue",
    "PatternVariable",
    "Picking",
    "PointInTime",
    "Port",
    "PreviousValue",
    "Project",
    "Reason",
    "RegularJoin",
    "RowOfNone",
    "RowTest",
    "RowValue",
    "RunningValue",
    "Scan",
    "Sink",
    "SinkUpsertMaterializer",
    "SnapshotJoin",
    "SortByTime",
    "TemporalJoin",
    "TimeAttribute",
    "ToChangelog",
    "TopN",
    "TwoSided",
    "UnionAll",
    "Unnest",
    "Values",
    "WindowAggregate",
    "WindowColumn",
    "WindowJoin",
    "WindowOrder",
    "WindowRank",
    "Windowing",
    "delay_ms",
    "filtered",
    "inputs",
    "is_stateful",
    "project",
    "pruned",
    "walk",
    "with_inputs",
    "with_rows_read",
    "without_unread_over",
]
