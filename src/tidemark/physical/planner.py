"""From logical plans to physical plans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, cast

from tidemark.catalog.options import (
    AGGREGATE_PHASES,
    BROADCAST_THRESHOLD,
    IDLE_TIMEOUT,
    LOCAL_TIME_ZONE,
    REUSE_SOURCES,
    STATE_TTL,
    SessionOptions,
)
from tidemark.physical.broadcast import IsSmall, broadcast
from tidemark.physical.in_columns import Readable, in_columns
from tidemark.physical.read_once import ReadsOnce, read_once, read_once_here
from tidemark.physical.scan_conditions import with_conditions
from tidemark.physical.stages import (
    Compute,
    Input,
    InputWatermark,
    Operator,
    Outlet,
    PartitionMarks,
    Phases,
    PhysicalPlan,
    Readings,
    Stage,
    WatermarkStage,
    is_followed,
)
from tidemark.physical.watermarks import (
    behind_ms,
    followed_by_partition,
    has_partitions,
    scan_of,
    sources,
)
from tidemark.physical.windows import unplaced
from tidemark.physical.writing import Writes
from tidemark.plan.current_watermarks import with_current_watermarks
from tidemark.plan.expressions import Ref
from tidemark.plan.nodes import (
    AssignWatermark,
    CurrentWatermark,
    Edge,
    GroupAggregate,
    KeepFirst,
    KeepLast,
    LateColumns,
    Node,
    Picking,
    Port,
    Project,
    RegularJoin,
    Scan,
    Sink,
    TopN,
    WindowAggregate,
    WindowRank,
    is_stateful,
)
from tidemark.plan.operator_ids import OperatorIds


@dataclass(frozen=True, slots=True)
class TableFacts:
    """What planning asks of tables: which ones workers can read in columns, if any; about how many
    bytes the rows are, if that is known; and which are read once for several inputs.
    """

    readable: Readable | None = None
    size: Callable[[Scan], int | None] | None = None
    reads_once: ReadsOnce | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides how a plan runs besides the plan itself."""

    zone: str = "UTC"
    ttl_ms: int = 0  # how long the state of idle keys is kept; 0 means forever
    phases: Phases = "auto"
    # Which tables workers can read in columns, if any, and which of them are small.
    readable: Readable | None = None
    is_small: IsSmall | None = None
    # Which tables are read once for several inputs of operators; where a stream resumes, these.
    reads_once: ReadsOnce | None = None
    readings: Readings | None = None
    # Who writes the rows of tables, for those that say so.
    writes: Callable[[Sink], Writes | None] | None = None
    # Whether the sink waits for the watermark of a stream.
    sink_follows: bool = False
    # After how much silence a partition of a source holds back no watermark; 0 means never.
    idle_ms: int = 0
    # Whether a stream looks at the clock to forget idle keys, as jobs of earlier versions did.
    # Others forget them when rows arrive, and are idle until then.
    retention_clock: bool = False

    @classmethod
    def of(
        cls,
        options: SessionOptions,
        zone: str | None = None,
        tables: TableFacts = TableFacts(),
        writes: Callable[[Sink], Writes | None] | None = None,
    ) -> Settings:
        """The settings in the options of a session. `zone` is used if the session does not set
        one.
        """
        most, size = int(options.get(BROADCAST_THRESHOLD) or -1), tables.size
        reuses = (options.get(REUSE_SOURCES) or "").lower() == "true"

        def is_small(scan: Scan) -> bool:
            assert size is not None
            found = size(scan)
            return found is not None and found <= most

        return cls(
            options.get(LOCAL_TIME_ZONE) or zone or "UTC",
            options.milliseconds(STATE_TTL) or 0,
            cast("Phases", (options.get(AGGREGATE_PHASES) or "auto").lower()),
            tables.readable,
            None if size is None or most < 0 else is_small,
            tables.reads_once if reuses else None,
            writes=writes,
            idle_ms=options.milliseconds(IDLE_TIMEOUT) or 0,
        )


def physical_plan(root: Node, settings: Settings, *, streaming: bool) -> PhysicalPlan:
    """How a root of a plan runs, as a stream or as one batch."""
    root = with_current_watermarks(root)
    planner = _Planner(settings, streaming, is_stateful(root))
    stage = planner.stage(root)
    plan = PhysicalPlan(stage, streaming, planner.ends)
    reads_once = settings.reads_once or _nothing
    if settings.readable is None:
        return with_conditions(plan if streaming else read_once_here(plan, reads_once))
    readable = _readable(plan, settings.readable, settings.readings)
    plan = in_columns(plan, settings.zone, readable, sink_follows=settings.sink_follows)
    return with_conditions(read_once(plan, reads_once, settings.readings))


def _nothing(_: Scan, __: bool) -> bool:
    return False


def _readable(plan: PhysicalPlan, readable: Readable, readings: Readings | None) -> Readable:
    """The same, and those that a stream has read together at an earlier start."""
    scans = dict(enumerate(plan.scans))
    together = {id(scans.get(place)) for group in readings or () for place in group}
    return lambda scan, streaming: id(scan) in together or readable(scan, streaming)


# Who declares the watermark to Spark: the source, or the operator above. If rows are stamped, that
# is done at the source too.
_Declared = Literal["by source", "by operator", "not at all", "stamped"]
# How often that clock is looked at.
_RETENTION_TICK_MS = 1000


class _Planner:
    """Plans one root; numbers operators and ends on the way."""

    def __init__(self, settings: Settings, streaming: bool, remembers: bool) -> None:
        self._settings = settings
        self._streaming = streaming
        # A watermark only has an effect where rows are kept.
        self._remembers = remembers
        self._ids = OperatorIds()
        self.ends = 0
        self.sources = 0
        self.asked = 0  # sources that rows ask for their watermark

    def stage(self, node: Node, declared: _Declared = "by source") -> Stage:
        if isinstance(node, AssignWatermark):
            return self._watermark(node, declared)
        picked = _picked(node) if isinstance(node, Project) else None
        if (small := self._broadcast(picked or node, node.edge)) is not None:
            return self.stage(small, declared)
        if picked is not None:
            return self._operator(picked, node.edge, stamps=declared == "stamped")
        if node.is_stateful:
            return self._operator(node, node.edge, stamps=declared == "stamped")
        if isinstance(node, Scan) and node.keeps_notes:
            node = replace(node, number=self.sources)
            self.sources += 1
        if isinstance(node, CurrentWatermark):
            node = replace(node, number=self.asked)
            self.asked += 1
        return Compute(node, tuple(self.stage(below, declared) for below in node.inputs))

    def _watermark(self, node: AssignWatermark, declared: _Declared) -> WatermarkStage:
        watched = declared != "not at all"
        marks = self._marks(node) if self._remembers and watched else None
        below = self.stage(node.input if marks is None else followed_by_partition(node))
        if not self._remembers:
            return WatermarkStage(node, (below,))
        streaming = self._streaming
        end = self._end() if streaming and watched and node.edge.bounded else None
        here = streaming and watched and declared != "by operator"
        stage = WatermarkStage(node, (below,), here, declared == "stamped", end)
        return replace(stage, marks=marks) if streaming else stage

    def _marks(self, node: AssignWatermark) -> PartitionMarks | None:
        """Of a source whose partitions have watermarks of their own, which is the next one."""
        scan = scan_of(node)
        if scan is None or not scan.partitioned:
            return None
        idle_ms = self._settings.idle_ms if scan.idle_ms is None else scan.idle_ms
        return PartitionMarks(self.sources, idle_ms)

    def _end(self) -> int:
        """The number of the next end marker."""
        self.ends += 1
        return self.ends - 1

    def _broadcast(self, node: Node, edge: Edge) -> Node | None:
        """How a join runs without an exchange, if it can."""
        is_small = self._settings.is_small
        if self._streaming or is_small is None or not isinstance(node, RegularJoin):
            return None
        return broadcast(node, edge.names, is_small)

    # --- operators -------------------------------------------------------------------------

    def _operator(self, node: Node, edge: Edge, *, stamps: bool) -> Operator:
        """The operator of a node; its edge may have other column names. To emit `stamps`, it needs
        those of its input."""
        asks = node.needs
        assert asks is not None
        given, width = [], 0  # of the inputs so far
        for below, port in zip(node.inputs, asks.ports, strict=True):
            time = None if port.time is None else port.time + width
            wanted = replace(port, stamps=port.stamps or stamps)
            shown = asks.shown is None or time in asks.shown
            given.append(self._input(below, wanted, shown, _event_time(node.edge) is not None))
            width += len(below.edge.columns)
        forgets = self._settings.retention_clock and any(node.ttls_ms(self._settings.ttl_ms))
        asked = (asks.tick_ms, _RETENTION_TICK_MS if forgets else None)
        ticks = [tick for tick in asked if tick is not None]
        return Operator(
            self._ids.next(asks.kind),
            node,
            tuple(given),
            edge,
            node.given if isinstance(node, Picking) else None,
            asks.held_back_ms,
            min(ticks, default=None),
            self._settings.phases if self._combines(node) else "one_phase",
            asks.follows,
            asks.waits,
            stamps,
        )

    def _combines(self, node: Node) -> bool:
        """Whether rows may be combined before the exchange, or left out. A stream emits a group,
        or who is first, at each row.
        """
        match node:
            case WindowAggregate():
                return True
            case GroupAggregate(at_end=True) | KeepLast(at_end=True):
                return not self._streaming
            case TopN(at_end=True, rows="inserts", high=int()) | KeepFirst() | WindowRank():
                return not self._streaming
        return False

    def _input(self, node: Node, port: Port, shown: bool, emits_time: bool) -> Input:
        """An input of an operator, which may emit an event time: of this input, or of another."""
        if isinstance(node, LateColumns):
            given = self._input(node.input, port, shown, emits_time)
            outlets = (Outlet(o.number, o.places, o.marked, o.time) for o in node.outlets)
            return replace(given, outlets=tuple(outlets))
        if port.window is not None:
            return self._in_windows(node, port, port.window)
        if port.unwatched:
            stage = self.stage(node, "not at all")
            return Input(stage, port.keys, port.time, True, is_stateful(node))
        stamped = port.stamps and node.can_be_stamped
        given = self._following(node, port, "stamped" if stamped else "by source", emits_time)
        return replace(given, shown=shown or port.time is None)

    def _following(
        self, node: Node, port: Port, declared: _Declared, emits_time: bool = False
    ) -> Input:
        """The input with what is known about its watermark. If nothing drops rows between the
        source and the operator, the operator declares it, unless it needs a watermark of rows
        that have no time any more.
        """
        streaming = self._streaming
        if streaming and has_partitions(node):
            return self._following_partitions(node, port)
        behind, chained = behind_ms(node), is_stateful(node)
        known = streaming and behind is not None
        timeless = emits_time and port.time is None and _event_time(node.edge) is None
        if known and declared == "by source" and node.keeps_all_rows and not timeless:
            declared = "by operator"
        first_end = self.ends
        stage = self.stage(node, declared)
        if port.time is not None:
            stage = _checked_above(stage, port.time)
        watermark = None
        if known and behind is not None:
            theirs = declared == "by operator"
            end = first_end if theirs and self.ends > first_end else None
            time = _event_time(node.edge) if port.time is None else None
            watermark = InputWatermark(behind, declared=not theirs, end=end, time=time)
        ends = port.processing_time and streaming and node.edge.bounded and not chained
        end = self._end() if ends and not sources(node) else None
        return Input(stage, port.keys, port.time, True, chained, watermark, end=end)

    def _following_partitions(self, node: Node, port: Port) -> Input:
        """The input from a source whose partitions have watermarks of their own. The operator
        declares it whatever drops rows in between."""
        [source] = sources(node)
        first_end, marks = self.ends, self._marks(source)
        stage = self.stage(node, "by operator")
        if port.time is not None:
            stage = _checked_above(stage, port.time)
        end = first_end if self.ends > first_end else None
        watermark = InputWatermark(declared=False, end=end, marks=marks)
        return Input(stage, port.keys, port.time, True, watermark=watermark)

    def _in_windows(self, node: Node, port: Port, window: tuple[int, int]) -> Input:
        """The input of a window join: the join assigns its rows to windows, or they are assigned
        already. Window times are later than row times, so the operator then follows the
        column of the watermark.
        """
        before = unplaced(node, port.keys, window, self._settings.zone)
        if before is not None:
            given = self._following(before.node, Port(port.keys, before.time), "by source")
            return replace(given, shown=before.shown, windows=before.windows)
        if self._streaming and has_partitions(node):
            return self._following_partitions(node, port)
        stage, chained = self.stage(node), is_stateful(node)
        one_source = not chained and len(sources(node)) == 1
        known = self._streaming and one_source and is_followed(stage)
        watermark = InputWatermark(followed=True) if known else None
        return Input(stage, port.keys, port.time, True, chained, watermark)


def _event_time(edge: Edge) -> int | None:
    """The place of an event time; there is none if nothing above the operator needs one."""
    places = (place for place, column in enumerate(edge.columns) if column.time == "event")
    return next(places, None)


def _checked_above(stage: Stage, time: int) -> Stage:
    """The stage, whose source need not check event times if all of them are in the column that an
    operator checks.
    """
    match stage:
        case WatermarkStage(node=node) if node.edge.names[time] == node.column:
            return replace(stage, checked_above=True)
        case Compute(node=Project(expressions=computed), inputs=(below,)):
            column = computed[time]
            if isinstance(column, Ref):
                return replace(stage, inputs=(_checked_above(below, column.index),))
    return stage


def _picked(node: Project) -> Picking | None:
    """The operator below a projection without computations, with only these columns as output:
    otherwise Spark would copy each row once more.
    """
    places = [e.index for e in node.expressions if isinstance(e, Ref)]
    only_picks = len({*places}) == len(node.expressions) > 0
    if not only_picks or not isinstance(node.input, Picking):
        return None
    return node.input.picking(places)
