"""What a physical plan is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tidemark.kernels.windows.spec import Cumulating, Sliding
from tidemark.plan.nodes import AssignWatermark, Edge, Node, UnionAll

# How an aggregation meets the exchange: all rows are moved, rows are aggregated on both sides of
# it, or on both sides as long as that makes fewer of them.
Phases = Literal["one_phase", "two_phase", "auto"]


@dataclass(frozen=True, slots=True)
class Compute:
    """Rows that Spark reads, or makes of other rows one by one. `node` says how; its own inputs
    are not looked at."""

    node: Node
    inputs: tuple[Stage, ...]

    @property
    def edge(self) -> Edge:
        return self.node.edge


@dataclass(frozen=True, slots=True)
class Watermark:
    """The rows of a source, none of which may lack an event time.

    If `declared`, Spark follows the watermark from here on, in a column that travels with the
    rows. With `stamps` each row carries the watermark that was before it. `end` is the number of
    the marker that announces the end of a bounded stream.
    """

    node: AssignWatermark
    inputs: tuple[Stage]
    declared: bool = False
    stamps: bool = False
    end: int | None = None

    @property
    def edge(self) -> Edge:
        return self.node.edge


@dataclass(frozen=True, slots=True)
class InputWatermark:
    """What an operator knows of the watermark of an input with one source, so that it can follow
    it within a micro-batch: it is `behind_ms` behind the rows' event time, or behind the column
    that travels with the rows, if it is to be `followed`.

    One that is not `declared` below is declared by the operator, on few packed rows instead of
    many; `end` is then the number of the marker that announces the end of the input.
    """

    behind_ms: int = 0
    declared: bool = True
    followed: bool = False
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Input:
    """One input of an operator, and the exchange in front of it.

    Rows are packed into columns and moved by the hash of `keys`; without keys all rows are of one
    key. `time` is the column of their event time, which nobody but the operator sees unless it is
    `shown`. Input from another operator is `chained`: its rows are in time although they may be
    behind the watermark.

    With `windows` the operator puts rows into these windows itself; the columns of window bounds
    then hold the rows' time. `end` is the number of a marker that announces nothing but the end of
    the input, for operators that wait for the clock.

    What another operator gives as packed columns stays in columns all the way: workers hash the
    keys and pack anew, and Spark sees no rows.
    """

    stage: Stage
    keys: tuple[int, ...]
    time: int | None = None
    shown: bool = True
    chained: bool = False
    watermark: InputWatermark | None = None
    windows: Sliding | Cumulating | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Operator:
    """A stateful operator: the kernel of `node` over packed rows.

    `id` names it in checkpoints, metrics and EXPLAIN, and stays the same as long as the operators
    of its kind are the same ones in the same order. It gives the columns of `edge`, and
    `output` says which ones of its inputs these are, if it gives on what it is given.
    It waits for watermarks `held_back_ms` longer, because that far its input may be behind them,
    and looks at the clock every `tick_ms`.
    """

    id: str
    node: Node
    inputs: tuple[Input, ...]
    edge: Edge
    output: tuple[int, ...] | None = None
    held_back_ms: int = 0
    tick_ms: int | None = None
    phases: Phases = "one_phase"


Stage = Compute | Watermark | Operator


@dataclass(frozen=True, slots=True)
class PhysicalPlan:
    """A root as it runs: as a stream or as one batch; with as many `ends` to be announced."""

    root: Stage
    streaming: bool
    ends: int = 0

    @property
    def operators(self) -> tuple[Operator, ...]:
        """The stateful operators, inputs before what reads them."""
        return tuple(stage for stage in walk(self.root) if isinstance(stage, Operator))


def inputs(stage: Stage) -> tuple[Stage, ...]:
    if isinstance(stage, Operator):
        return tuple(given.stage for given in stage.inputs)
    return stage.inputs


def walk(stage: Stage) -> Iterator[Stage]:
    """Everything below the stage, and then the stage itself."""
    for below in inputs(stage):
        yield from walk(below)
    yield stage


def is_followed(stage: Stage) -> bool:
    """Whether the column of a declared watermark travels with the rows."""
    match stage:
        case Watermark():
            return stage.declared
        case Compute(inputs=below) if below:
            return all(map(is_followed, below))
    return False


def is_stamped(stage: Stage) -> bool:
    """Whether the rows carry the watermarks that were before them."""
    match stage:
        case Watermark():
            return stage.stamps
        case Compute(node=UnionAll()):
            return False
        case Compute(inputs=(below,)):
            return is_stamped(below)
    return False
