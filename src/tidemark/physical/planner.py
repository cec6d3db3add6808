"""From what a query means to what runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Literal, cast

from tidemark.catalog.options import (
    AGGREGATE_PHASES,
    LOCAL_TIME_ZONE,
    STATE_TTL,
    SessionOptions,
)
from tidemark.physical.ports import Needs, Port, is_operator, needs
from tidemark.physical.stages import (
    Compute,
    Input,
    InputWatermark,
    Operator,
    Phases,
    PhysicalPlan,
    Stage,
    Watermark,
    is_followed,
)
from tidemark.physical.watermarks import behind_ms, sources
from tidemark.physical.windows import unplaced
from tidemark.plan.expressions import Ref
from tidemark.plan.nodes import (
    AssignWatermark,
    Edge,
    IntervalJoin,
    KeepLast,
    Node,
    Project,
    RegularJoin,
    TemporalJoin,
    WindowAggregate,
    WindowJoin,
    inputs,
    is_stateful,
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides how a plan runs, beside the plan."""

    zone: str = "UTC"
    ttl_ms: int = 0  # how long the state of idle keys is kept; 0 keeps it
    phases: Phases = "auto"

    @classmethod
    def of(cls, options: SessionOptions, zone: str | None = None) -> Settings:
        """What the options of a session say. `zone` is the one of a session that sets none."""
        return cls(
            options.get(LOCAL_TIME_ZONE) or zone or "UTC",
            options.milliseconds(STATE_TTL) or 0,
            cast("Phases", (options.get(AGGREGATE_PHASES) or "auto").lower()),
        )


def physical_plan(root: Node, settings: Settings, *, streaming: bool) -> PhysicalPlan:
    """How a root of a plan runs, as a stream or as one batch."""
    planner = _Planner(settings, streaming, is_stateful(root))
    stage = planner.stage(root)
    return PhysicalPlan(stage, streaming, planner.ends)


# Who tells Spark of the watermark: the source, or the operator above. If rows are stamped, that is
# done at the source too.
_Declared = Literal["by source", "by operator", "stamped"]
# How often operators that keep state for a time look at the clock.
_RETENTION_TICK_MS = 1000


class _Planner:
    """Plans one root; counts operators and ends on the way."""

    def __init__(self, settings: Settings, streaming: bool, remembers: bool) -> None:
        self._settings = settings
        self._streaming = streaming
        # Only where rows are remembered does a watermark do anything.
        self._remembers = remembers
        self._numbers: Counter[str] = Counter()
        self.ends = 0

    def stage(self, node: Node, declared: _Declared = "by source") -> Stage:
        if isinstance(node, AssignWatermark):
            return self._watermark(node, declared)
        if isinstance(node, Project) and (picks := _picks(node)) is not None:
            return self._operator(node.input, node.edge, picks)
        if is_operator(node):
            return self._operator(node, node.edge)
        return Compute(node, tuple(self.stage(below, declared) for below in inputs(node)))

    def _watermark(self, node: AssignWatermark, declared: _Declared) -> Watermark:
        below = self.stage(node.input)
        if not self._remembers:
            return Watermark(node, (below,))
        streaming = self._streaming
        end = self._end() if streaming and node.edge.bounded else None
        here = streaming and declared != "by operator"
        return Watermark(node, (below,), here, declared == "stamped", end)

    def _end(self) -> int:
        """The number of the next marker of an end."""
        self.ends += 1
        return self.ends - 1

    # --- operators -------------------------------------------------------------------------

    def _operator(self, node: Node, edge: Edge, picks: tuple[int, ...] | None = None) -> Operator:
        """The operator of a node, of whose columns only `picks` may be wanted. They may have other
        names on its edge."""
        output = _output(node)
        if output is not None and picks is not None:
            output = tuple(output[place] for place in picks)
        if isinstance(node, _Join):
            node = replace(node, output=output)
        asks = needs(node)
        given = tuple(self._input(port, place, asks) for place, port in enumerate(asks.ports))
        self._numbers[asks.kind] += 1
        retained = min(_RETENTION_TICK_MS, self._settings.ttl_ms) or None
        ticks = [tick for tick in (asks.tick_ms, retained) if tick is not None]
        return Operator(
            f"{asks.kind}-{self._numbers[asks.kind]}",
            node,
            given,
            edge,
            output,
            asks.held_back_ms,
            min(ticks, default=None),
            self._settings.phases if isinstance(node, WindowAggregate) else "one_phase",
        )

    def _input(self, port: Port, place: int, asks: Needs) -> Input:
        if port.window is not None:
            return self._in_windows(port)
        if port.stamps and port.input.can_be_stamped:
            given = self._following(port, "stamped")
        else:
            given = self._following(port, "by source")
        if port.time is None or asks.shown is None:
            return given
        shift = sum(len(other.input.edge.columns) for other in asks.ports[:place])
        return replace(given, shown=port.time + shift in asks.shown)

    def _following(self, port: Port, declared: _Declared) -> Input:
        """The input, with what is known of its watermark. Where nothing drops rows on the way from
        the source, the operator declares it."""
        node, streaming = port.input, self._streaming
        behind, chained = behind_ms(node), is_stateful(node)
        known = streaming and behind is not None
        if known and declared == "by source" and node.keeps_all_rows:
            declared = "by operator"
        first_end = self.ends
        stage = self.stage(node, declared)
        watermark = None
        if known and behind is not None:
            theirs = declared == "by operator"
            end = first_end if theirs and self.ends > first_end else None
            watermark = InputWatermark(behind, declared=not theirs, end=end)
        ends = port.by_clock and streaming and node.edge.bounded and not chained
        end = self._end() if ends and not sources(node) else None
        return Input(stage, port.keys, port.time, True, chained, watermark, end=end)

    def _in_windows(self, port: Port) -> Input:
        """The input of a join whose rows meet in windows: they are put there by the join, or are
        in them already. The time of a window is ahead of its rows', so the operator then follows
        the column of the watermark."""
        assert port.window is not None
        before = unplaced(port.input, port.keys, port.window, self._settings.zone)
        if before is not None:
            given = self._following(Port(before.node, port.keys, before.time), "by source")
            return replace(given, shown=before.shown, windows=before.windows)
        stage, chained = self.stage(port.input), is_stateful(port.input)
        one_source = not chained and len(sources(port.input)) == 1
        known = self._streaming and one_source and is_followed(stage)
        watermark = InputWatermark(followed=True) if known else None
        return Input(stage, port.keys, port.time, True, chained, watermark)


_Join = TemporalJoin | IntervalJoin | RegularJoin | WindowJoin


def _output(node: Node) -> tuple[int, ...] | None:
    """The columns that an operator gives, of those of all its inputs; None if it has others, of its
    own making."""
    if isinstance(node, KeepLast):
        return tuple(range(len(node.input.edge.columns)))
    if not isinstance(node, _Join):
        return None
    if node.output is not None:
        return node.output
    sides = (node.left,) if node.how in ("semi", "anti") else (node.left, node.right)
    return tuple(range(sum(len(side.edge.columns) for side in sides)))


def _picks(node: Project) -> tuple[int, ...] | None:
    """Which columns a projection picks that computes nothing, right above an operator that can
    give just these: Spark would copy each row once more for it."""
    places = [e.index for e in node.expressions if isinstance(e, Ref)]
    if not places or len({*places}) != len(node.expressions) or _output(node.input) is None:
        return None
    return tuple(places)
