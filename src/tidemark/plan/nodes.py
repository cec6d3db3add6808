"""The logical plan: what a query means, as frozen values with their properties on every edge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from tidemark.catalog.tables import Changelog, Table, UserFunction
from tidemark.kernels.windows.spec import Assigner, CountSliding, Emit, Session
from tidemark.plan.expressions import Expression
from tidemark.types import DataType

TimeAttribute = Literal["event", "processing"]


@dataclass(frozen=True, slots=True)
class WindowColumn:
    """What a column says of the window that its row is in. Columns of one window have one
    `assigner` and one `time`, which is the type of the time that the window is by."""

    says: Literal["start", "end", "time"]
    assigner: Assigner
    time: DataType


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an edge; `time` marks the ones that watermarks or the clock speak about, and
    `window` those by which rows of one window are grouped, joined and ranked."""

    name: str
    type: DataType
    time: TimeAttribute | None = None
    window: WindowColumn | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """What flows out of a node."""

    columns: tuple[Column, ...]
    changelog: Changelog = Changelog.APPEND
    keys: tuple[tuple[str, ...], ...] = ()
    bounded: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def types(self) -> tuple[DataType, ...]:
        return tuple(column.type for column in self.columns)


@dataclass(frozen=True, slots=True)
class Scan:
    """A table's rows as its connector gives them: physical columns, then metadata by key."""

    table: Table
    metadata: tuple[str, ...]
    edge: Edge
    ordered: bool = False  # whether its rows come one after the other, from one place


@dataclass(frozen=True, slots=True)
class AssignWatermark:
    """Says how far event time has come: the largest `expression` seen so far.

    With `stamps` each row brings along what that was before it. One that is not `declared` here
    is declared by the operator above.
    """

    input: Node
    column: str
    expression: Expression
    edge: Edge
    stamps: bool = False
    declared: bool = True


@dataclass(frozen=True, slots=True)
class Project:
    input: Node
    expressions: tuple[Expression, ...]
    edge: Edge


@dataclass(frozen=True, slots=True)
class Filter:
    input: Node
    condition: Expression
    edge: Edge


@dataclass(frozen=True, slots=True)
class UnionAll:
    inputs: tuple[Node, ...]
    edge: Edge


@dataclass(frozen=True, slots=True)
class Values:
    rows: tuple[tuple[Expression, ...], ...]
    edge: Edge


@dataclass(frozen=True, slots=True)
class Unnest:
    """Each input row once per element of a collection; `outer` keeps rows without elements."""

    input: Node
    collection: Expression
    edge: Edge
    outer: bool = False
    ordinality: bool = False


@dataclass(frozen=True, slots=True)
class KeepLast:
    """Of each key the newest row by event time (`time` is its column), as a changelog."""

    input: Node
    keys: tuple[int, ...]
    time: int
    edge: Edge


@dataclass(frozen=True, slots=True)
class TemporalJoin:
    """Each left row with the right version valid at its time; left columns, then right ones,
    of all these only `output` if it is given.

    Without `right_time` the version that is there when the left row arrives; with `load_idle_ms`
    left rows wait until the right side has been silent for so long. If `retractions_overwrite`,
    a `-U` ends the version at its time.
    """

    left: Node
    right: Node
    left_keys: tuple[int, ...]
    right_keys: tuple[int, ...]
    left_time: int
    right_time: int | None
    how: Literal["inner", "left"]
    retractions_overwrite: bool
    edge: Edge
    output: tuple[int, ...] | None = None
    load_idle_ms: int | None = None


@dataclass(frozen=True, slots=True)
class IntervalJoin:
    """The pairs of rows with equal keys and `left_time + lower <= right_time <= left_time + upper`;
    left columns, then right ones, of all these only `output` if it is given.

    `nulls_equal` says for each key whether null equals null. A pair must also meet the
    `condition`, which is over the columns of both inputs. Semi and anti joins give left columns
    only. Rows are kept `slack_ms` longer than they have to be. `drops_late` is the rule of the
    stream API for rows behind the watermark.
    """

    left: Node
    right: Node
    left_keys: tuple[int, ...]
    right_keys: tuple[int, ...]
    nulls_equal: tuple[bool, ...]
    left_time: int
    right_time: int
    lower_ms: int
    upper_ms: int
    how: Literal["inner", "left", "right", "full", "semi", "anti"]
    condition: Expression | None
    slack_ms: int
    edge: Edge
    output: tuple[int, ...] | None = None
    drops_late: bool = False

    @property
    def by_clock(self) -> bool:
        """Whether the times are those of processing."""
        return self.left.edge.columns[self.left_time].time == "processing"

    @property
    def delay_ms(self) -> int:
        """How far rows may come out behind the watermark."""
        return 0 if self.by_clock else max(self.upper_ms, -self.lower_ms, 0) + self.slack_ms


@dataclass(frozen=True, slots=True)
class RegularJoin:
    """The pairs of rows with equal keys, as long as both are there, as a changelog; left columns,
    then right ones, of all these only `output` if it is given.

    `nulls_equal`, `condition` and what semi and anti joins give are as in `IntervalJoin`. `why`
    says why it is none, where its condition speaks of times. With `at_end` only the pairs that
    there are at the end of the input come out.
    """

    left: Node
    right: Node
    left_keys: tuple[int, ...]
    right_keys: tuple[int, ...]
    nulls_equal: tuple[bool, ...]
    how: Literal["inner", "left", "right", "full", "semi", "anti"]
    condition: Expression | None
    why: str
    edge: Edge
    output: tuple[int, ...] | None = None
    at_end: bool = False


@dataclass(frozen=True, slots=True)
class AssignWindows:
    """Each row once for every window it is in; the last three columns are the window's start,
    end and time. With `last_only` just the window that ends last.

    Sessions are those of the columns `keys`; their rows come out when they are over, because
    only then it is known where a session starts and ends.
    """

    input: Node
    assigner: Assigner
    time: int
    keys: tuple[int, ...]
    edge: Edge
    last_only: bool = False

    @property
    def keeps_rows(self) -> bool:
        return isinstance(self.assigner, Session)

    @property
    def by_clock(self) -> bool:
        """Whether the windows are those of processing time."""
        return self.edge.columns[-1].time == "processing"


@dataclass(frozen=True, slots=True)
class WindowJoin:
    """The pairs of rows with equal keys in the same window; left columns, then right ones, of
    all these only `output` if it is given.

    `left_window` and `right_window` are the columns of the window's start and end. `nulls_equal`,
    `condition` and what semi and anti joins give are as in `IntervalJoin`.
    """

    left: Node
    right: Node
    left_keys: tuple[int, ...]
    right_keys: tuple[int, ...]
    nulls_equal: tuple[bool, ...]
    left_window: tuple[int, int]
    right_window: tuple[int, int]
    how: Literal["inner", "left", "right", "full", "semi", "anti"]
    condition: Expression | None
    time_type: DataType  # of the time that the windows are by
    edge: Edge
    output: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class CoGroup:
    """What `function` makes of the rows of both sides with one key in one window; without one
    the pairs of them: both rows, and the window's start and end.

    The windows are those of the columns `left_window` and `right_window`, or the sessions that
    the times of both sides make together, of `gap_ms`. The function is given the keys and the
    window's bounds as a dict, and both sides' rows as pandas frames.
    """

    left: Node
    right: Node
    left_keys: tuple[int, ...]
    right_keys: tuple[int, ...]
    left_time: int
    right_time: int
    left_window: tuple[int, int] | None
    right_window: tuple[int, int] | None
    gap_ms: int | None
    time_type: DataType  # of the time that the windows are by
    function: Callable[[dict[str, Any], Any, Any], Any] | None
    edge: Edge


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """An aggregate function over columns of its node's input; COUNT without one counts rows.
    `user` is the function if it is one of the user's."""

    function: str
    arguments: tuple[int, ...]
    type: DataType
    distinct: bool = False
    filter: int | None = None
    separator: str | None = None
    user: UserFunction | None = None


@dataclass(frozen=True, slots=True)
class WindowAggregate:
    """For each key and window one row: the keys, the window's start, end and time, the results.

    `time` is the column that says when a row happened; in processing time rows are in the
    windows that they arrive in. Where rows say themselves which window they are in, `given` are
    the columns of its start and end.
    """

    input: Node
    keys: tuple[int, ...]
    assigner: Assigner
    time: int | None
    given: tuple[int, int] | None
    calls: tuple[AggregateCall, ...]
    emit: Emit
    lateness_ms: int
    edge: Edge

    @property
    def by_clock(self) -> bool:
        """Whether the windows are those of processing time."""
        counted = isinstance(self.assigner, CountSliding)
        return self.time is None and self.given is None and not counted


@dataclass(frozen=True, slots=True)
class GroupAggregate:
    """For each key a row, the keys and the results, that changes with every row of the key; or
    `at_end` of the input one that does not."""

    input: Node
    keys: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    edge: Edge
    at_end: bool = False


@dataclass(frozen=True, slots=True)
class WindowOrder:
    """A column that the rows of a window are ordered by."""

    column: int
    descending: bool
    nulls_last: bool


@dataclass(frozen=True, slots=True)
class WindowRank:
    """Of each key and window the rows `low` to `high` in an order, with their number behind.

    `bounds` are the columns of the window's start and end. Of rows in one place the first to
    arrive is the first, or the last, if `newest_first`.
    """

    input: Node
    keys: tuple[int, ...]
    bounds: tuple[int, int]
    order: tuple[WindowOrder, ...]
    low: int
    high: int
    newest_first: bool
    time_type: DataType  # of the time that the windows are by
    edge: Edge


@dataclass(frozen=True, slots=True)
class LateRows:
    """The rows that an operator drops because they come too late: their columns `kept`, and then
    which operator it is, the row's time, the watermark it met, by how many milliseconds it was
    late, and its kind if there are kinds.

    Rows are put into windows as in `WindowAggregate`, sessions of the columns `keys`. Without
    windows a row is late at or behind the watermark. The operator has other inputs where `beside`
    has nodes; of these only the watermarks count. What it goes by is `held_back_ms` behind them.
    If it `shares_sessions`, they are those that rows make together with those of the one node
    beside, which has their keys and then their time.
    """

    input: Node
    operator: str
    time: int
    given: tuple[int, int] | None
    assigner: Assigner | None
    keys: tuple[int, ...]
    lateness_ms: int
    kept: tuple[int, ...]
    edge: Edge
    beside: tuple[Node, ...] = ()
    held_back_ms: int = 0
    shares_sessions: bool = False


@dataclass(frozen=True, slots=True)
class Sink:
    """An INSERT INTO: rows in the order and types of the target's columns."""

    input: Node
    table: Table
    overwrite: bool
    edge: Edge


Node = (
    Scan
    | AssignWatermark
    | Project
    | Filter
    | UnionAll
    | Values
    | Unnest
    | KeepLast
    | TemporalJoin
    | IntervalJoin
    | RegularJoin
    | WindowJoin
    | CoGroup
    | AssignWindows
    | WindowAggregate
    | WindowRank
    | GroupAggregate
    | LateRows
    | Sink
)


def inputs(node: Node) -> tuple[Node, ...]:
    match node:
        case UnionAll(inputs=several):
            return several
        case TemporalJoin() | IntervalJoin() | RegularJoin() | WindowJoin() | CoGroup():
            return node.left, node.right
        case LateRows():
            return (node.input, *node.beside)
        case Scan() | Values():
            return ()
        case _:
            return (node.input,)


def with_inputs(node: Node, new: Sequence[Node]) -> Node:
    """The same node over other inputs."""
    match node:
        case UnionAll():
            return replace(node, inputs=tuple(new))
        case TemporalJoin() | IntervalJoin() | RegularJoin() | WindowJoin() | CoGroup():
            left, right = new
            return replace(node, left=left, right=right)
        case LateRows():
            return replace(node, input=new[0], beside=tuple(new[1:]))
        case Scan() | Values():
            return node
        case _:
            return replace(node, input=new[0])


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, from the top."""
    yield node
    for child in inputs(node):
        yield from walk(child)


def is_stateful(node: Node) -> bool:
    """Whether the plan remembers anything between rows."""
    return any(
        part.keeps_rows if isinstance(part, AssignWindows) else isinstance(part, _STATEFUL)
        for part in walk(node)
    )


_STATEFUL = (
    KeepLast
    | TemporalJoin
    | IntervalJoin
    | RegularJoin
    | WindowJoin
    | CoGroup
    | WindowAggregate
    | WindowRank
    | GroupAggregate
    | LateRows
)


def delay_ms(node: Node) -> int:
    """How far the rows of a node may lie behind the watermark although they are in time."""
    own = node.delay_ms if isinstance(node, IntervalJoin) else 0
    return own + max((delay_ms(below) for below in inputs(node)), default=0)
