"""The parts of a physical plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from tidemark.kernels.windows.spec import Cumulating, Sliding
from tidemark.plan.nodes import (
    AssignWatermark,
    CurrentWatermark,
    Edge,
    Node,
    Scan,
    Sink,
    UnionAll,
)

# How an aggregation relates to its exchange: all rows are exchanged, rows are aggregated on both
# sides of it, or on both sides as long as that reduces their number.
Phases = Literal["one_phase", "two_phase", "auto"]

# Ticks come from a source that a stream has to look at in time.
_LOOKS_IN_A_TICK: Final = 4
# Rows of an unbounded stream may wait for the end of a bounded table.
_LOOKS_FOR_ENDS_MS: Final = 1000


@dataclass(frozen=True, slots=True)
class Compute:
    """Rows that Spark reads, or computes from other rows one by one. `node` says how; its own
    inputs are ignored. `only_in_spark` is what keeps workers from computing it in columns.
    """

    node: Node
    inputs: tuple[Stage, ...]
    only_in_spark: str | None = None

    @property
    def edge(self) -> Edge:
        return self.node.edge


@dataclass(frozen=True, slots=True)
class PartitionMarks:
    """The watermark of a source whose partitions have watermarks of their own: it does not follow
    from the rows of a micro-batch, but from what workers note of all partitions. `number` is that
    of the source in its plan. With `idle_ms`, partitions without rows for so long do not count."""

    number: int
    idle_ms: int = 0


@dataclass(frozen=True, slots=True)
class WatermarkStage:
    """The rows of a source, all of which must have an event time.

    If `declared`, Spark follows the watermark from here on, in a column that travels with the rows.
    With `stamps`, each row has the watermark before it. `end` is the number of the marker that
    announces the end of a bounded stream. If `checked_above`, an operator that gets all the rows
    rejects those without an event time, which it reads anyway.
    """

    node: AssignWatermark
    inputs: tuple[Stage]
    declared: bool = False
    stamps: bool = False
    end: int | None = None
    checked_above: bool = False
    marks: PartitionMarks | None = None

    @property
    def edge(self) -> Edge:
        return self.node.edge


@dataclass(frozen=True, slots=True)
class ColumnStage:
    """Rows that workers compute in columns, of tables that they read themselves, or of what an
    operator emits; `stage` says how. Spark only says who reads what. If it `follows` the watermark
    of its source, workers report it, also for rows that are dropped there. Stages with the same
    number of a `reading` are computed from one table, which is read once for all of them.
    """

    stage: Compute | WatermarkStage
    follows: bool = False
    reading: int | None = None

    @property
    def edge(self) -> Edge:
        return self.stage.edge


@dataclass(frozen=True, slots=True)
class InputWatermark:
    """What an operator knows about the watermark of an input with one source, so that it can follow
    it within a micro-batch: it is `behind_ms` behind the rows' event time, which is the column
    `time` if the operator itself does not go by it; or behind the column that travels with the
    rows, if that is `followed`.

    If it is not `declared` below, the operator declares it, on few packed rows instead of many;
    `end` is then the number of the marker that announces the end of the input.
    """

    behind_ms: int = 0
    declared: bool = True
    followed: bool = False
    end: int | None = None
    # Spark's watermark comes from the partitions of the source; then none is known of the rows.
    marks: PartitionMarks | None = None
    time: int | None = None


@dataclass(frozen=True, slots=True)
class Outlet:
    """Where an operator hands out late rows of an input, each with columns of the input which its
    kernel does not see: those at `places` of a table. If they are `marked`, another column says
    which rows these are. Their event time is at the place `time` of the table, unless the kernel
    uses it. Readers know it by its number."""

    number: int
    places: tuple[int, ...]
    marked: bool = False
    time: int | None = None


@dataclass(frozen=True, slots=True)
class Input:
    """One input of an operator, and the exchange before it.

    Rows are packed into columns and exchanged by the hash of `keys`; without keys, all rows have
    the same key. `time` is their event-time column, which only the operator sees unless it is
    `shown`. Input from another operator is `chained`: its rows arrive before the watermark of the
    micro-batch. They may be late only if they have the watermarks before them.

    With `windows`, the operator assigns rows to these windows itself; the columns of window bounds
    then contain the rows' time. `end` is the number of a marker that only announces the end of the
    input, for operators that wait for the clock.

    Packed columns from another operator stay in columns all the way: workers hash the keys and pack
    them again, and Spark sees no rows.
    """

    stage: Stage
    keys: tuple[int, ...]
    time: int | None = None
    shown: bool = True
    chained: bool = False
    watermark: InputWatermark | None = None
    windows: Sliding | Cumulating | None = None
    end: int | None = None
    # What they need are the last columns of the rows.
    outlets: tuple[Outlet, ...] = ()

    @property
    def width(self) -> int:
        """How many columns the kernel sees: all but those for outlets."""
        beside = sum(len(outlet.places) + outlet.marked for outlet in self.outlets)
        return len(self.stage.edge.columns) - beside


@dataclass(frozen=True, slots=True)
class Operator:
    """A stateful operator: the kernel of `node` over packed rows.

    `id` identifies it in checkpoints, metrics and EXPLAIN, and stays the same as long as the
    operators of its kind are the same, in the same order. It emits the columns of `edge`; `output`
    says which columns of its inputs these are, if it passes input columns on. It holds back
    watermarks by `held_back_ms`, because its input may be that far behind them, and checks the
    clock every `tick_ms`. If it `follows` an input, that one's watermark is its own, as far as it
    is known from the rows. Unless it `waits`, it emits everything at once. With `stamps`, each
    row that it emits has the watermark before it. Without Spark, the rows of the inputs at the
    places `read_once` are computed from one table that is read once.
    """

    id: str
    node: Node
    inputs: tuple[Input, ...]
    edge: Edge
    output: tuple[int, ...] | None = None
    held_back_ms: int = 0
    tick_ms: int | None = None
    phases: Phases = "one_phase"
    follows: int | None = None
    waits: bool = True
    stamps: bool = False
    read_once: tuple[int, ...] = ()

    @property
    def outlets(self) -> dict[int, int]:
        """Where the operator hands out late rows: for the number of each outlet, that of the input
        that the rows are from.
        """
        return {
            outlet.number: place
            for place, input_ in enumerate(self.inputs)
            for outlet in input_.outlets
        }

    @property
    def combines(self) -> bool:
        """Whether rows may be combined before the exchange. Those that are handed out may not."""
        return self.phases != "one_phase" and not self.outlets


Stage = Compute | WatermarkStage | ColumnStage | Operator


# The readings of a plan: for each one, which of the plan's scans share it, by their places.
Readings = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class PhysicalPlan:
    """A root as it runs: as a stream or as one batch; `ends` is the number of end markers, and
    `readings` are those of scans that are read together."""

    root: Stage
    streaming: bool
    ends: int = 0
    readings: Readings = ()

    @property
    def operators(self) -> tuple[Operator, ...]:
        """The stateful operators, inputs before the operators that read them."""
        return tuple(stage for stage in walk(self.root) if isinstance(stage, Operator))

    @property
    def in_columns(self) -> bool:
        """Whether Spark sees no rows before they leave the plan, but only packed columns."""
        root = self.root
        sink = isinstance(root, Compute) and isinstance(root.node, Sink)
        return all(map(_in_columns, inputs(root) if sink else [root]))

    @property
    def marked(self) -> tuple[PartitionMarks, ...]:
        """Of the sources whose partitions have watermarks of their own."""
        stages = (stage for stage in walk(self.root) if isinstance(stage, WatermarkStage))
        return tuple(stage.marks for stage in stages if stage.marks is not None)

    @property
    def known_by_partitions(self) -> dict[int, bool]:
        """By the number of a bounded source's end: whether its partitions say when it comes."""
        found: dict[int | None, bool] = {}
        for stage in walk(self.root):
            if isinstance(stage, WatermarkStage):
                found[stage.end] = stage.marks is not None
            for given in stage.inputs if isinstance(stage, Operator) else ():
                found[given.end] = False
                if given.watermark is not None:
                    found[given.watermark.end] = given.watermark.marks is not None
        return {end: known for end, known in found.items() if end is not None}

    @property
    def waits(self) -> bool:
        """Whether rows wait in an operator, for the end of a bounded stream if for nothing else."""
        return any(operator.waits for operator in self.operators)

    @property
    def reads_at_once(self) -> bool:
        """Whether the first micro-batch of a bounded stream reads all rows that there are. So it
        may read the markers of the ends, too, unless an operator waits for the clock in between.
        """
        if self.marked or any(operator.tick_ms is not None for operator in self.operators):
            return False
        return all(scan.at_once for scan in self.scans)

    @property
    def grows(self) -> bool:
        """Whether there may be other rows when the job starts again."""
        return any(scan.grows for scan in self.scans)

    @property
    def looks_every_ms(self) -> int | None:
        """How long a stream may wait until it looks again for what is new, if that is known."""
        asked = [scan.looks_every_ms for scan in self.scans if not scan.bounded]
        ticks = [operator.tick_ms for operator in self.operators]
        known = [
            *(every for every in asked if every is not None),
            *(tick // _LOOKS_IN_A_TICK for tick in ticks if tick is not None),
            *[_LOOKS_FOR_ENDS_MS] * (self.ends > 0),
        ]
        return None if None in asked else min(known, default=None)

    @property
    def scans(self) -> tuple[Scan, ...]:
        """The tables that are read, in order."""
        nodes = (stage.node for stage in walk(self.root) if isinstance(stage, Compute))
        return tuple(node for node in nodes if isinstance(node, Scan))

    @property
    def keeps_notes(self) -> bool:
        """Whether a stream of it needs a folder of its own."""
        return bool(self.operators) or any(
            isinstance(stage, Compute) and _keeps_notes(stage.node) for stage in walk(self.root)
        )


def _in_columns(stage: Stage) -> bool:
    match stage:
        case Operator():
            return all(map(_in_columns, inputs(stage)))
        case ColumnStage():
            return all(_in_columns(below) for below in walk(stage) if isinstance(below, Operator))
    return False


def _keeps_notes(node: Node) -> bool:
    return isinstance(node, CurrentWatermark) or (isinstance(node, Scan) and node.keeps_notes)


def inputs(stage: Stage) -> tuple[Stage, ...]:
    if isinstance(stage, Operator):
        return tuple(given.stage for given in stage.inputs)
    if isinstance(stage, ColumnStage):
        return (stage.stage,)
    return stage.inputs


def walk(stage: Stage) -> Iterator[Stage]:
    """Everything below the stage, and then the stage itself."""
    for below in inputs(stage):
        yield from walk(below)
    yield stage


def tables_below(stage: Stage) -> Iterator[str]:
    """The names of the tables that are read below a stage."""
    for below in walk(stage):
        if isinstance(below, Compute) and isinstance(below.node, Scan):
            yield below.node.table.name


def is_followed(stage: Stage) -> bool:
    """Whether the column of a declared watermark travels with the rows."""
    match stage:
        case WatermarkStage():
            return stage.declared
        case Compute(inputs=below) if below:
            return all(map(is_followed, below))
    return False


def is_stamped(stage: Stage) -> bool:
    """Whether the rows have the watermarks before them."""
    match stage:
        case WatermarkStage() | Operator():
            return stage.stamps
        case Compute(node=UnionAll()):
            return False
        case Compute(inputs=(below,)) | ColumnStage(stage=below):
            return is_stamped(below)
    return False
